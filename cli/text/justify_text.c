#include "text/justify_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct justify_writer {
    struct cli_output *out;
    struct cli_justify *justify;
    struct cli_justified result;
};

static void take(struct justify_writer *w, const char *file, uint32_t line, const char *function, const char *text,
                 bool covered) {
    const char *reason = cli_justify_find(w->justify, function, text, covered);

    if (covered) return;
    w->result.justified += reason != NULL;
    w->result.unjustified += reason == NULL;
    if (!w->out) return;
    cli_output_print(w->out, "%s: %s:%u: ", reason ? "justified" : "unjustified", file, line);
    cli_output_text(w->out, text);
    if (reason) cli_output_print(w->out, "\n    %s", reason);
    cli_output_text(w->out, "\n");
}

/* ---- lines */

/* The lines of one file, in a copy of its text. */
struct file_lines {
    char *text;
    const char *next; /* the line `number` */
    uint32_t number;
};

static const char *line_text(struct file_lines *lines, uint32_t number, char *line, size_t size) {
    const char *at = lines->next;

    while (at && lines->number < number) {
        at = strchr(at, '\n');
        if (at) at++;
        lines->number++;
    }
    lines->next = at;
    size_t length = at ? strcspn(at, "\n") : 0;
    while (length && (*at == ' ' || *at == '\t')) at++, length--;
    if (length >= size) length = size - 1;
    if (length) memcpy(line, at, length);
    line[length] = '\0';
    return line;
}

/* Returns the name of the last function of the file that begins at or before the line. */
static const char *function_at(const ntr_cover_function *functions, size_t count, const char *file, uint32_t line) {
    const char *name = NULL;

    for (size_t i = 0; i < count; i++)
        if (strcmp(functions[i].file, file) == 0 && functions[i].line <= line) name = functions[i].name;
    return name;
}

static void take_lines(struct justify_writer *w, ntr_coverage *coverage, struct cli_source_text *source) {
    size_t count, function_count;
    const ntr_cover_line *lines = ntr_coverage_lines(coverage, &count);
    const ntr_cover_function *functions = ntr_coverage_functions(coverage, &function_count);

    for (size_t i = 0, next; i < count; i = next) {
        const char *file = lines[i].file;
        struct file_lines text = {.number = 1};
        ntr_bytes bytes;
        char line[512];
        if (cli_source_text_read(source, file, &bytes)) text.text = strndup((const char *)bytes.data, bytes.size);
        text.next = text.text;
        for (next = i; next < count && strcmp(lines[next].file, file) == 0; next++)
            take(w, file, lines[next].line, function_at(functions, function_count, file, lines[next].line),
                 line_text(&text, lines[next].line, line, sizeof line), lines[next].count != 0);
        free(text.text);
    }
}

/* ---- decisions */

static void take_decisions(struct justify_writer *w, const ntr_decisions *decisions, ntr_decision_level level) {
    size_t count;
    const ntr_decision *list = ntr_decisions_list(decisions, &count);

    for (size_t i = 0; i < count; i++) {
        const ntr_decision *d = &list[i];
        uint8_t state = level == NTR_LEVEL_DECISION ? d->decision_state : level == NTR_LEVEL_MCDC ? d->state : d->masking_state;
        if (level != NTR_LEVEL_DECISION && d->condition_count < 2) continue;
        take(w, d->file, d->line, d->function, d->text, state == NTR_COVER_COVERED);
    }
}

void cli_justify_entries(struct cli_output *out, const struct cli_justify *justify) {
    static const char *const words[] = {"stale: there is no such text", "stale: it is covered", NULL};

    for (size_t i = 0; i < justify->count; i++) {
        const struct cli_justification *entry = &justify->items[i];
        if (words[entry->state])
            cli_output_print(out, "%s:%u: %s: %s: %s\n", justify->path, entry->line, words[entry->state], entry->function,
                             entry->text);
    }
}

struct cli_justified cli_justify_text(struct cli_output *out, struct cli_justify *justify, ntr_coverage *coverage,
                                      const ntr_decisions *decisions, ntr_decision_level level,
                                      struct cli_source_text *source) {
    struct justify_writer w = {.out = out, .justify = justify};

    if (decisions)
        take_decisions(&w, decisions, level);
    else
        take_lines(&w, coverage, source);
    if (out)
        cli_output_print(out, "%" PRIu64 " justified, %" PRIu64 " unjustified\n", w.result.justified, w.result.unjustified);
    return w.result;
}
