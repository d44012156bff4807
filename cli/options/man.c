/* Man pages in roff, made from the option tables. */
#include "options/help.h"

#include <ntrace/version.h>

#include <string.h>

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
    for (const struct cli_group *g = cli_group_first(c->groups); g; g = cli_group_next(g)) {
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
    fputs(
        ".SH LIMITS\n\\fB\\-\\-limit\\fR \\fINAME\\fR=\\fIVALUE\\fR, an option of all commands, sets what is read from one input at most; "
        "\\fBntrace help limits\\fR lists the names.\n.SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf set, output to a terminal has no colour.\n",
        out);
}
