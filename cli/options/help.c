#include "options/help.h"
#include "options/limits.h"
#include "options/options.h"

#include <ntrace/dialect.h>

#include <string.h>

#define HELP_WIDTH  96
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

/* Copies a help text without what is in parentheses or after a semicolon. What is too long for a line ends at a comma
 * or colon. Returns the length. */
static size_t shorten(const char *text, char *brief, size_t room) {
    size_t used = 0;

    while (*text && used + 1 < room && strncmp(text, "; ", 2) != 0 && strncmp(text, ". ", 2) != 0) {
        const char *end = strncmp(text, " (", 2) == 0 ? strchr(text, ')') : NULL;
        if (end)
            text = end + 1;
        else
            brief[used++] = *text++;
    }
    const size_t whole = used;
    while (used > HELP_WIDTH - HELP_COLUMN || (used < whole && brief[used] != ',' && brief[used] != ':'))
        if (--used < HELP_COLUMN / 2) return whole;
    return used;
}

/* Writes an option with its value, which is never cut, and its help: `brief`, only the first clause. */
static void option_line(const struct cli_option *o, bool brief, FILE *out) {
    int size = o->letter ? fprintf(out, "  -%c, --%s", o->letter, o->name)
                         : fprintf(out, "      --%s%s", o->argument == CLI_ARGUMENT_SWITCH ? "[no-]" : "", o->name);

    if (o->value) size += fprintf(out, o->argument == CLI_ARGUMENT_OPTIONAL ? "[=%s]" : " %s", o->value);
    if (size >= HELP_COLUMN - 1) {
        fputc('\n', out);
        size = 0;
    }
    char text[1024];
    const size_t length = shorten(o->help, text, sizeof text);
    fprintf(out, "%*s", HELP_COLUMN - size, "");
    wrap(brief ? text : o->help, brief ? length : strlen(o->help), HELP_COLUMN, out);
}

static void option_lines(const struct cli_group *g, bool brief, FILE *out) {
    fprintf(out, "\n%s:\n", g->title);
    for (const struct cli_option *o = cli_group_rows(g); o->kind != CLI_END; o++) option_line(o, brief, out);
}

/* ---- blocks of options that many commands share */

static const struct {
    const char *title, *summary, *about;
} topics[] = {
    {"program", "the code that was executed: -e FILE, --raw, --symbols, --map, ...",
     "The code that was executed. A bundle has the files of its program; a raw stream needs -e."},
    {"stream", "how the trace is read: --dialect, --src-bits, --timestamps, --auto, ...",
     "How a trace is read. A bundle carries these parameters itself; for a raw stream, those that are not given\n"
     "are inferred (--auto -v prints the reasons)."},
    {"window", "a part of the trace: --src, --from, --until",
     "The part of the trace that is read: sources, and points by message, byte offset or time."},
    {"encoder", "the encoder: --mode, --best, --timestamps, --src-bits, --sync-mode, --fifo, ...",
     "The encoder that makes the trace. --best makes the smallest one."},
    {"limits", "what is read from one input at most: --limit NAME=VALUE",
     "What is read from one input at most, so that a small file cannot exhaust memory. An input beyond a limit is an\n"
     "error, or it is left out and named. VALUE is a number that may end in K, M, G or T: --limit debug-output=4G."},
};
enum { TOPICS = sizeof topics / sizeof topics[0] };

/* Returns the number of the block that the group is, or TOPICS. */
static size_t topic_of(const struct cli_group *g) {
    size_t i = 0;

    while (i < TOPICS && strcmp(topics[i].title, g->title) != 0) i++;
    return i;
}

const char *cli_help_topic_name(size_t i) {
    return i < TOPICS ? topics[i].title : NULL;
}

static size_t rows_in(const struct cli_group *g) {
    const struct cli_option *rows = cli_group_rows(g);
    size_t count = 0;

    while (rows[count].kind != CLI_END) count++;
    return count;
}

bool cli_help_topic(const char *name, FILE *out) {
    const struct cli_group *widest = NULL; /* some commands have only a part of the block */
    size_t topic = 0;

    while (topic < TOPICS && strcmp(topics[topic].title, name) != 0) topic++;
    if (topic == TOPICS) return false;
    paragraphs(topics[topic].about, out);
    fputs("\ncommands:", out);
    for (const struct cli_entry *e = cli_commands; e->name; e++)
        for (const struct cli_group *g = cli_group_first(e->command->groups); g; g = cli_group_next(g)) {
            if (topic_of(g) != topic) continue;
            fprintf(out, " %s", e->name);
            if (!widest || rows_in(g) > rows_in(widest)) widest = g;
        }
    fputc('\n', out);
    if (widest) option_lines(widest, false, out);
    if (strcmp(name, "limits") == 0) {
        fputs("\nlimits:\n", out);
        cli_limits_list(out);
    }
    return true;
}

/* `brief`: the block of all commands is left out. */
static void shared_lines(const struct cli_command *c, bool brief, FILE *out) {
    bool any = false;

    for (const struct cli_group *g = cli_group_first(c->groups); g; g = cli_group_next(g)) {
        const size_t topic = topic_of(g);
        if (topic == TOPICS || (brief && !cli_group_next(g))) continue;
        fprintf(out, "%s  ntrace help %-10s%s\n", any ? "" : "\nmore options:\n", topics[topic].title,
                topics[topic].summary);
        any = true;
    }
}

/* ---- */

void cli_help_overview(FILE *out) {
    const struct cli_task *task = cli_tasks;

    fputs("usage: ntrace COMMAND [OPTION]... [OPERAND]...\n"
          "       ntrace help COMMAND | program|stream|window|encoder|limits|dialects\n"
          "       ntrace --version | --help\n\n"
          "RISC-V N-Trace: capture, dump, decode, encode and analyse instruction trace.\n",
          out);
    for (const struct cli_entry *e = cli_commands; e->name; e++) {
        if (task->first && strcmp(task->first, e->name) == 0) fprintf(out, "\n%s\n", task++->title);
        fprintf(out, "  %-12s%s\n", e->name, e->summary);
    }
    fputs("\n'ntrace COMMAND -h' shows examples and options of a command.\n"
          "Exit status: 0 success; 1 the trace has errors, gaps or a mismatch;\n"
          "2 wrong usage, or an input cannot be read or an output written.\n",
          out);
}

static void help_of(const struct cli_entry *entry, bool brief, FILE *out) {
    const struct cli_command *c = entry->command;

    fprintf(out, "usage: ntrace %s%s%s%s\n\n%s\n", entry->name, c->groups->title ? " [OPTION]..." : "",
            c->operands[0] ? " " : "", c->operands, entry->summary);
    if (c->about && !brief) {
        fputc('\n', out);
        paragraphs(c->about, out);
    }
    if (c->examples) fprintf(out, "\nexamples:\n%s\n", c->examples);
    for (const struct cli_group *g = cli_group_first(c->groups); g; g = cli_group_next(g))
        if (topic_of(g) == TOPICS) option_lines(g, brief, out);
    shared_lines(c, brief, out);
    if (brief) fprintf(out, "\n'ntrace help %s' explains the command and its options.\n", entry->name);
}

void cli_help_screen(const struct cli_entry *entry, FILE *out) {
    help_of(entry, true, out);
}

void cli_help_command(const struct cli_entry *entry, FILE *out) {
    help_of(entry, false, out);
}

void cli_help_dialects(FILE *out) {
    const ntr_dialect *dialect;

    for (size_t i = 0; (dialect = ntr_dialect_at(i)); i++) fprintf(out, "%-16s %s\n", dialect->name, dialect->summary);
}
