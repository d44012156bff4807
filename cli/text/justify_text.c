#include "text/justify_text.h"

#include "text/source_lines.h"

#include <ntrace/decision.h>
#include <inttypes.h>
#include <string.h>

struct justify_writer {
    struct cli_output *out;
    struct cli_justify *justify;
    struct cli_justified result;
};

static void take(struct justify_writer *w, const char *file, uint32_t line, const char *function, const char *text,
                 bool covered) {
    const char *reason = ntr_justifications_find(w->justify->entries, function, text, covered);

    if (covered) return;
    w->result.justified += reason != NULL;
    w->result.unjustified += reason == NULL;
    if (!w->out) return;
    cli_output_text(w->out, reason ? "justified: " : "unjustified: ");
    cli_output_source(w->out, file, line);
    cli_output_text(w->out, ": ");
    cli_output_text(w->out, text);
    if (reason) cli_output_print(w->out, "\n    %s", reason);
    cli_output_text(w->out, "\n");
}

/* ---- lines */

/* The functions of a coverage, in the order of its lines. */
struct function_cursor {
    const ntr_cover_function *next, *end;
    const ntr_cover_function *last; /* the last one that begins at or before the line */
};

/* Returns the name of the last function of the file that begins at or before the line; NULL: none. Lines are asked for
 * in their order. */
static const char *function_at(struct function_cursor *functions, const char *file, uint32_t line) {
    for (; functions->next < functions->end; functions->next++) {
        const int order = strcmp(functions->next->file, file);
        if (order > 0 || (order == 0 && functions->next->line > line)) break;
        functions->last = functions->next;
    }
    return functions->last && strcmp(functions->last->file, file) == 0 ? functions->last->name : NULL;
}

static void take_lines(struct justify_writer *w, ntr_coverage *coverage, struct cli_source_text *source) {
    size_t count, function_count;
    const ntr_cover_line *lines = ntr_coverage_lines(coverage, &count);
    const ntr_cover_function *first = ntr_coverage_functions(coverage, &function_count);
    struct function_cursor functions = {.next = first, .end = first ? first + function_count : first};
    struct cli_source_lines *source_lines = cli_source_lines_open(cli_source_text_read, source);
    char text[512];

    for (size_t i = 0; i < count; i++) {
        const ntr_cover_line *line = &lines[i];
        cli_source_line_copy(source_lines, line->file, line->line, text, sizeof text);
        take(w, line->file, line->line, function_at(&functions, line->file, line->line), text, line->count != 0);
    }
    cli_source_lines_close(source_lines);
}

/* ---- decisions */

static void take_decisions(struct justify_writer *w, const ntr_decisions *decisions, ntr_decision_level level) {
    size_t count;
    const ntr_decision *list = ntr_decisions_list(decisions, &count);

    for (size_t i = 0; i < count; i++) {
        const ntr_decision *d = &list[i];
        uint8_t state = level == NTR_LEVEL_DECISION ? d->decision_state
                        : level == NTR_LEVEL_MCDC   ? d->state
                                                    : d->masking_state;
        if (level != NTR_LEVEL_DECISION && d->condition_count < 2) continue;
        take(w, d->file, d->line, d->function, d->text, state == NTR_COVER_COVERED);
    }
}

void cli_justify_entries(struct cli_output *out, const struct cli_justify *justify) {
    static const char *const words[] = {"stale: there is no such text", "stale: it is covered", NULL};

    size_t count;
    const ntr_justification *entries = ntr_justifications_all(justify->entries, &count);

    for (size_t i = 0; i < count; i++) {
        const ntr_justification *entry = &entries[i];
        if (words[entry->state])
            cli_output_print(out, "%s:%u: %s: %s: %s\n", justify->path, entry->line, words[entry->state],
                             entry->function, entry->text);
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
        cli_output_print(out, "%" PRIu64 " justified, %" PRIu64 " unjustified\n", w.result.justified,
                         w.result.unjustified);
    return w.result;
}
