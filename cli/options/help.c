#include "options/help.h"
#include "options/options.h"

#include <ntrace/dialect.h>
#include <ntrace/ntrace.h>
#include <ntrace/version.h>

#include <string.h>

#define HELP_WIDTH  90
#define HELP_COLUMN 32

/* Prints the words of `text`, wrapped to HELP_WIDTH, in lines that start at `column`. The cursor is already there. */
static void wrap(const char *text, size_t length, int column, FILE *out) {
    const char *end = text + length;
    int at = column;

    for (;;) {
        while (text < end && (*text == ' ' || *text == '\n')) text++;
        if (text == end) break;
        int size = 0;
        while (text + size < end && text[size] != ' ' && text[size] != '\n') size++;
        if (at > column && at + 1 + size > HELP_WIDTH) {
            fprintf(out, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", size, text);
        at += size;
        text += size;
    }
    fputc('\n', out);
}

/* Returns the length of the paragraph at `text`. It ends at a blank line, at a line that starts with a blank, or at the
 * end of the text. */
static size_t paragraph_length(const char *text) {
    size_t length = strcspn(text, "\n");

    while (text[length] && text[length + 1] && text[length + 1] != '\n' && text[length + 1] != ' ')
        length += 1 + strcspn(text + length + 1, "\n");
    return length;
}

static void paragraphs(const char *text, FILE *out) {
    while (*text) {
        bool verbatim = *text == ' ' || *text == '\n';
        size_t length = verbatim ? strcspn(text, "\n") : paragraph_length(text);
        if (verbatim)
            fprintf(out, "%.*s\n", (int)length, text);
        else
            wrap(text, length, 0, out);
        text += length;
        if (*text) text++;
    }
}

static void option_line(const struct cli_option *o, FILE *out) {
    char left[80];
    int size = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                         : snprintf(left, sizeof left, "      --%s%s",
                                    o->argument == CLI_ARGUMENT_SWITCH ? "[no-]" : "", o->name);

    if (o->value)
        size += snprintf(left + size, sizeof left - (size_t)size,
                         o->argument == CLI_ARGUMENT_OPTIONAL ? "[=%s]" : " %s", o->value);
    fputs(left, out);
    if (size >= HELP_COLUMN - 1) {
        fputc('\n', out);
        size = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - size, "");
    wrap(o->help, strlen(o->help), HELP_COLUMN, out);
}

void cli_help_overview(FILE *out) {
    fputs("usage: ntrace COMMAND [OPTION]... [OPERAND]...\n"
          "       ntrace help COMMAND | help dialects | --version | --help\n\n"
          "RISC-V N-Trace: capture, dump, decode, encode and analyse instruction trace.\n\n"
          "commands:\n",
          out);
    for (const struct cli_entry *e = cli_commands; e->name; e++) fprintf(out, "  %-12s%s\n", e->name, e->summary);
    fputs("\nExit status: 0 success; 1 the trace has errors, gaps or a mismatch;\n"
          "2 wrong usage, or an input cannot be read or an output written.\n",
          out);
}

void cli_help_command(const struct cli_entry *entry, FILE *out) {
    const struct cli_command *c = entry->command;

    fprintf(out, "usage: ntrace %s%s%s%s\n\n%s\n", entry->name, c->groups->title ? " [OPTION]..." : "",
            c->operands[0] ? " " : "", c->operands, entry->summary);
    if (c->about) {
        fputc('\n', out);
        paragraphs(c->about, out);
    }
    for (const struct cli_group *g = c->groups; g->title; g++) {
        fprintf(out, "\n%s:\n", g->title);
        for (const struct cli_option *o = cli_group_rows(g); o->kind != CLI_END; o++) option_line(o, out);
    }
    if (c->examples) fprintf(out, "\nexamples:\n%s\n", c->examples);
}

void cli_help_dialects(FILE *out) {
    const ntr_dialect *dialect;

    for (size_t i = 0; (dialect = ntr_dialect_at(i)); i++) fprintf(out, "%-16s %s\n", dialect->name, dialect->summary);
}

/* Writes text with the special characters of roff put_escaped. */
static void put_escaped(const char *text, size_t length, FILE *out) {
    for (size_t i = 0; i < length; i++) {
        if (i == 0 && (text[i] == '.' || text[i] == '\'')) fputs("\\&", out);
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            fputc(text[i], out);
    }
}

static void put_text(const char *text, FILE *out) {
    put_escaped(text, strlen(text), out);
}

static void put_verbatim(const char *text, FILE *out) {
    fputs(".PP\n.nf\n", out);
    while (*text) {
        size_t length = strcspn(text, "\n");
        put_escaped(text, length, out);
        fputc('\n', out);
        text += length;
        if (*text) text++;
    }
    fputs(".fi\n", out);
}

/* Writes put_paragraphs. As in the help text, a line that starts with a blank is not wrapped. */
static void put_paragraphs(const char *text, FILE *out) {
    bool verbatim = false;

    while (*text) {
        size_t length = strcspn(text, "\n");
        bool is = *text == ' ';
        if (is != verbatim) fputs(is ? ".PP\n.nf\n" : ".fi\n", out);
        verbatim = is;
        if (length == 0)
            fputs(".PP\n", out);
        else {
            put_escaped(text, length, out);
            fputc('\n', out);
        }
        text += length;
        if (*text) text++;
    }
    if (verbatim) fputs(".fi\n", out);
}

static void put_option(const struct cli_option *o, FILE *out) {
    fputs(".TP\n", out);
    if (o->letter) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs(o->argument == CLI_ARGUMENT_SWITCH ? "\\fB\\-\\-[no\\-]" : "\\fB\\-\\-", out);
    put_text(o->name, out);
    fputs("\\fR", out);
    if (o->value) {
        bool optional = o->argument == CLI_ARGUMENT_OPTIONAL;
        fputs(optional ? "[=\\fI" : " \\fI", out);
        put_text(o->value, out);
        fputs(optional ? "\\fR]" : "\\fR", out);
    }
    fputc('\n', out);
    put_text(o->help, out);
    fputs(".\n", out);
}

static void put_exit_status(FILE *out) {
    fputs(".SH EXIT STATUS\n0: success. 1: the trace has errors, gaps or a mismatch; the output is as complete as "
          "possible.\n2: wrong usage, or an input cannot be read or an output written.\n",
          out);
}

void cli_man_command(const struct cli_entry *entry, FILE *out) {
    const struct cli_command *c = entry->command;

    fprintf(out, ".TH \"NTRACE\\-%s\" 1 \"\" \"ntrace " NTR_VERSION_TEXT "\" \"ntrace\"\n.SH NAME\nntrace\\-%s \\- ",
            entry->name, entry->name);
    put_text(entry->summary, out);
    fprintf(out, "\n.SH SYNOPSIS\n\\fBntrace %s\\fR%s ", entry->name, c->groups->title ? " [\\fIOPTION\\fR]..." : "");
    put_text(c->operands, out);
    fputs("\n.SH DESCRIPTION\n", out);
    put_paragraphs(c->about ? c->about : entry->summary, out);
    if (c->groups->title) fputs(".SH OPTIONS\n", out);
    for (const struct cli_group *g = c->groups; g->title; g++) {
        fprintf(out, ".SS %s\n", g->title);
        for (const struct cli_option *o = cli_group_rows(g); o->kind != CLI_END; o++) put_option(o, out);
    }
    if (c->examples) {
        fputs(".SH EXAMPLES\n", out);
        put_verbatim(c->examples, out);
    }
    put_exit_status(out);
    fputs(".SH SEE ALSO\n\\fBntrace\\fR(1)\n", out);
}

void cli_man_overview(FILE *out) {
    fputs(".TH NTRACE 1 \"\" \"ntrace " NTR_VERSION_TEXT "\" \"ntrace\"\n.SH NAME\n"
          "ntrace \\- capture, dump, decode, encode and analyse RISC\\-V instruction trace (N\\-Trace)\n"
          ".SH SYNOPSIS\n\\fBntrace\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n.br\n"
          "\\fBntrace help\\fR [\\fICOMMAND\\fR | \\fBdialects\\fR]\n.br\n"
          "\\fBntrace\\fR \\fB\\-\\-version\\fR | \\fB\\-\\-help\\fR\n"
          ".SH DESCRIPTION\nEach command is described in a separate page.\n"
          "A TRACE is a raw N\\-Trace byte stream, in a file or on standard input (\\fB\\-\\fR), optionally compressed "
          "with zstd, or a capture bundle made by \\fBntrace run\\fR.\n.SH COMMANDS\n",
          out);
    for (const struct cli_entry *e = cli_commands; e->name; e++) {
        fprintf(out, ".TP\n\\fBntrace\\-%s\\fR(1)\n", e->name);
        put_text(e->summary, out);
        fputc('\n', out);
    }
    put_exit_status(out);
    fputs(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf set, output to a terminal has no colour.\n", out);
}

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
