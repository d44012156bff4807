#include "options/completion.h"
#include "options/command.h"

#include <ntrace/dialect.h>
#include <string.h>

static void dialect_names(FILE *out) {
    const ntr_dialect *dialect;

    for (size_t i = 0; (dialect = ntr_dialect_at(i)); i++) fprintf(out, "%s%s", i ? " " : "", dialect->name);
}

/* Writes the case that completes the value of an option, if its values are known, for example
 * "        dump:--format) words='text jsonl' ;;". */
static void write_values(const char *command, const struct cli_option *o, FILE *out) {
    bool dialect = strcmp(o->name, "dialect") == 0;

    if (o->kind != CLI_KIND_CHOICE && !dialect) return;
    fprintf(out, "        %s:--%s) words='", command, o->name);
    if (dialect)
        dialect_names(out);
    else
        for (const char *c = o->value; *c; c++) fputc(*c == '|' ? ' ' : *c, out);
    fputs("' ;;\n", out);
}

typedef void (*visit_option)(const char *command, const struct cli_option *o, FILE *out);

static void for_each_option(const struct cli_entry *entry, visit_option visit, FILE *out) {
    for (const struct cli_group *g = entry->command->groups; g->title; g++) {
        for (const struct cli_option *o = cli_group_rows(g); o->kind != CLI_END; o++) visit(entry->name, o, out);
    }
}

static void write_name(const char *command, const struct cli_option *o, FILE *out) {
    (void)command;
    fprintf(out, "--%s ", o->name);
}

void cli_bash_completion(FILE *out) {
    fputs("# bash completion for ntrace\n\n"
          "_ntrace() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=\n"
          "    local commands='",
          out);
    for (const struct cli_entry *e = cli_commands; e->name; e++)
        fprintf(out, "%s%s", e == cli_commands ? "" : " ", e->name);
    fputs("'\n"
          "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\"))\n"
          "        return\n"
          "    fi\n"
          "    case $command:$prev in\n"
          "        help:*) words=\"$commands dialects\" ;;\n",
          out);
    for (const struct cli_entry *e = cli_commands; e->name; e++) for_each_option(e, write_values, out);
    fputs("    esac\n"
          "    if [[ -z $words && $cur == -* ]]; then\n"
          "        case $command in\n",
          out);
    for (const struct cli_entry *e = cli_commands; e->name; e++) {
        fprintf(out, "            %s) words='", e->name);
        for_each_option(e, write_name, out);
        fputs("--help' ;;\n", out);
    }
    fputs("        esac\n"
          "    fi\n"
          "    if [[ -n $words ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
          "    fi\n"
          "}\n\n"
          "complete -o filenames -F _ntrace ntrace\n",
          out);
}
