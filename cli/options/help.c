#include "options/help.h"

#include <ntrace/ntrace.h>
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
