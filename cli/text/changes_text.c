#include "text/changes.h"

#include <inttypes.h>
#include <string.h>

struct table_writer {
    struct cli_output *out;
    const struct cli_changes *c;
    bool markdown;
};

/* ---- cells */

/* A name in a table: in Markdown as code, without what would end the cell. */
static void name(const struct table_writer *w, const char *text) {
    if (!w->markdown) {
        cli_output_line(w->out, text);
        return;
    }
    for (; *text; text++) {
        const char plain[2] = {*text == '`' ? '\'' : *text, '\0'};
        cli_output_print(w->out, *text == '|' ? "\\|" : "%s", (unsigned char)*text < ' ' ? " " : plain);
    }
}

static void begin_row(const struct table_writer *w, const uint64_t count[2], bool is_new) {
    const int64_t change = cli_change(count);

    if (w->markdown)
        cli_output_print(w->out, "| %" PRIu64 " | %" PRIu64 " | %+" PRId64 " | ", count[0], count[1], change);
    else
        cli_output_print(w->out, "%15" PRIu64 " %15" PRIu64 " %+15" PRId64 " ", count[0], count[1], change);
    if (count[0])
        cli_output_print(w->out, w->markdown ? "%+.2f %%" : "%+9.2f %%", cli_change_percent(count));
    else
        cli_output_print(w->out, w->markdown ? "%s" : "%11s", is_new ? "new" : "");
    cli_output_text(w->out, w->markdown ? " | " : "  ");
}

static void end_row(const struct table_writer *w) {
    cli_output_text(w->out, w->markdown ? " |\n" : "\n");
}

static void head(const struct table_writer *w, const char *title, const char *what) {
    if (w->markdown)
        cli_output_print(w->out, "\n| A | B | change | | %s |\n|--:|--:|--:|--:|:--|\n", title);
    else
        cli_output_print(w->out, "#\n# %s%s\n#%14s %15s %15s %11s\n", title, what, "A", "B", "change", "");
}

/* The sum of the rows that are not shown: each table adds up. */
static void rest(const struct table_writer *w, size_t rows, const char *what, const uint64_t sum[2]) {
    if (!rows) return;
    begin_row(w, sum, false);
    cli_output_print(w->out, "[%zu more %s]", rows, what);
    end_row(w);
}

static const char *note_of(uint8_t match, uint8_t present) {
    switch ((ntr_cost_match)match) {
    case NTR_COST_BOTH:
    case NTR_COST_UNNAMED: break;
    case NTR_COST_ONLY: return present == 1 ? "only in A" : "only in B";
    case NTR_COST_FILE:
        return present == 1 ? "only in A; B has the name elsewhere" : "only in B; A has the name elsewhere";
    case NTR_COST_UNCLEAR:
        return present == 1 ? "in A; several functions of B could be it" : "in B; several functions of A could be it";
    case NTR_COST_UNPAIRED: return present == 1 ? "in A; lines not paired" : "in B; lines not paired";
    }
    return NULL;
}

static void add_note(const struct table_writer *w, const char *note) {
    if (!note) return;
    cli_output_text(w->out, w->markdown ? " (" : "  (");
    cli_output_text(w->out, note);
    cli_output_text(w->out, ")");
}

static void code(const struct table_writer *w, const char *text) {
    if (w->markdown) cli_output_text(w->out, "`");
    name(w, text);
    if (w->markdown) cli_output_text(w->out, "`");
}

/* ---- functions */

static const char *base_of(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

static void write_place(const struct table_writer *w, const ntr_cost_function *f) {
    const unsigned s = f->present & 2 ? 1 : 0;

    if (f->file[s]) {
        cli_output_text(w->out, "  ");
        name(w, f->file[s]);
        if (f->line[s]) cli_output_print(w->out, ":%" PRIu32, f->line[s]);
    } else if (f->image[s]) {
        cli_output_text(w->out, "  (");
        name(w, base_of(f->image[s]));
        cli_output_text(w->out, ")");
    }
}

/* Returns in which of both the function has no code of its own, but was inlined. */
static const char *inlining_of(const ntr_cost_function *f, bool by_self) {
    const bool inlined[2] = {by_self && !f->self[0] && f->written[0], by_self && !f->self[1] && f->written[1]};

    return inlined[0] && inlined[1] ? "inlined" : inlined[0] ? "inlined in A" : inlined[1] ? "inlined in B" : NULL;
}

static void write_function(const struct table_writer *w, const ntr_cost_function *f, bool by_self) {
    const unsigned holds = w->c->changes->holds;

    begin_row(w, by_self ? f->self : f->written, f->present == 2);
    code(w, f->name);
    write_place(w, f);
    add_note(w, note_of(f->match, f->present));
    if (f->present == 3) add_note(w, inlining_of(f, by_self));
    if (by_self && holds & NTR_COSTS_LINES && cli_change(f->written) != cli_change(f->self))
        cli_output_print(w->out, "%s[its source, also inlined: %" PRIu64 " to %" PRIu64 "]", w->markdown ? " " : "  ",
                         f->written[0], f->written[1]);
    end_row(w);
}

static bool changed(const ntr_cost_function *f) {
    return cli_change(f->self) || cli_change(f->written);
}

static void write_functions(const struct table_writer *w) {
    const ntr_cost_changes *x = w->c->changes;
    const bool by_self = x->holds & NTR_COSTS_SELF;
    uint64_t sum[2] = {0};
    size_t shown = 0;

    if (!(x->holds & (NTR_COSTS_SELF | NTR_COSTS_LINES))) return;
    head(w, "functions", by_self ? ": instructions in their own code" : ": instructions of their source");
    while (shown < x->function_count && shown < w->c->top && changed(&x->functions[shown]))
        write_function(w, &x->functions[shown++], by_self);
    for (size_t i = shown; i < x->function_count; i++)
        for (unsigned s = 0; s < 2; s++) sum[s] += by_self ? x->functions[i].self[s] : x->functions[i].written[s];
    rest(w, x->function_count - shown, "functions", sum);
}

/* ---- lines */

static void write_line(const struct table_writer *w, const ntr_cost_line *l) {
    const unsigned s = l->present & 2 ? 1 : 0;

    begin_row(w, l->self, l->present == 2);
    if (l->file[s]) {
        name(w, l->file[s]);
        if (l->present == 3 && l->line[0] != l->line[1])
            cli_output_print(w->out, ":%" PRIu32 " (A: %" PRIu32 ")", l->line[1], l->line[0]);
        else
            cli_output_print(w->out, ":%" PRIu32, l->line[s]);
    } else {
        cli_output_text(w->out, "[no line]");
    }
    cli_output_text(w->out, "  ");
    code(w, w->c->changes->functions[l->function].name);
    add_note(w, note_of(l->match, l->present));
    end_row(w);
}

static void write_lines(const struct table_writer *w) {
    const ntr_cost_changes *x = w->c->changes;
    uint64_t sum[2] = {0};
    size_t shown = 0;

    if (!(x->holds & NTR_COSTS_LINES)) return;
    head(w, "lines", x->lines_by_number ? ", compared by their numbers" : "");
    while (shown < x->line_count && shown < w->c->top && cli_change(x->lines[shown].self))
        write_line(w, &x->lines[shown++]);
    for (size_t i = shown; i < x->line_count; i++)
        for (unsigned s = 0; s < 2; s++) sum[s] += x->lines[i].self[s];
    rest(w, x->line_count - shown, "lines", sum);
}

/* ---- call paths */

static void write_path(const struct table_writer *w, uint32_t number) {
    enum { FRAMES = 8 }; /* the innermost ones */
    const ntr_cost_changes *x = w->c->changes;
    uint32_t stack[FRAMES];
    size_t depth = 0;
    uint32_t at = number;

    begin_row(w, x->paths[number].self, !x->paths[number].calls[0]);
    for (; at && depth < FRAMES; at = x->paths[at].parent) stack[depth++] = at;
    if (w->markdown) cli_output_text(w->out, "`");
    if (at) cli_output_text(w->out, "... > ");
    while (depth-- > 0) {
        const ntr_cost_path *p = &x->paths[stack[depth]];
        name(w, x->functions[p->function].name);
        if (p->kind >= NTR_FRAME_EXCEPTION)
            cli_output_text(w->out, p->kind == NTR_FRAME_INTERRUPT ? " [interrupt]" : " [exception]");
        if (depth) cli_output_text(w->out, " > ");
    }
    if (w->markdown) cli_output_text(w->out, "`");
    end_row(w);
}

static void write_paths(const struct table_writer *w) {
    const ntr_cost_changes *x = w->c->changes;
    uint64_t sum[2] = {0};
    size_t shown = 0;

    if (!(x->holds & NTR_COSTS_CALLS)) return;
    head(w, "call paths", ": instructions at their ends");
    while (shown < w->c->path_count && shown < w->c->top && cli_change(x->paths[w->c->order[shown]].self))
        write_path(w, w->c->order[shown++]);
    for (size_t i = shown; i < w->c->path_count; i++)
        for (unsigned s = 0; s < 2; s++) sum[s] += x->paths[w->c->order[i]].self[s];
    rest(w, w->c->path_count - shown, "call paths", sum);
}

/* ---- what is doubtful or not compared */

static void remark(const struct table_writer *w, const char *text) {
    cli_output_print(w->out, "%s%s\n", w->markdown ? "\n" : "# ", text);
}

static void write_side(const struct table_writer *w, unsigned s) {
    const struct cli_compared *side = &w->c->side[s];

    cli_output_text(w->out, w->markdown ? "* " : "# ");
    cli_output_print(w->out, "%c: ", 'A' + s);
    code(w, side->path);
    cli_output_print(w->out, ", %s, %" PRIu64 " instructions", side->kind, w->c->changes->instructions[s]);
    if (!side->complete) cli_output_text(w->out, w->markdown ? ", **not complete**" : ", NOT COMPLETE");
    cli_output_text(w->out, "\n");
}

static void write_unpaired(const struct table_writer *w) {
    const ntr_cost_changes *x = w->c->changes;
    uint64_t count[2] = {0}, sum[2] = {0}, unnamed[2] = {0};

    for (size_t i = 0; i < x->function_count; i++) {
        const ntr_cost_function *f = &x->functions[i];
        for (unsigned s = 0; s < 2; s++) {
            const uint64_t own = x->holds & NTR_COSTS_SELF ? f->self[s] : f->written[s];
            if (f->match == NTR_COST_UNNAMED)
                unnamed[s] += own;
            else if (f->match != NTR_COST_BOTH && f->present >> s & 1) {
                count[s]++;
                sum[s] += own;
            }
        }
    }
    if (count[0] || count[1])
        cli_output_print(w->out,
                         "%snot paired: %" PRIu64 " functions of A (%" PRIu64 " instructions), %" PRIu64
                         " of B (%" PRIu64 ")\n",
                         w->markdown ? "\n" : "#\n# ", count[0], sum[0], count[1], sum[1]);
    if (unnamed[0] || unnamed[1])
        cli_output_print(w->out, "%scode without a symbol: %" PRIu64 " instructions in A, %" PRIu64 " in B\n",
                         w->markdown ? "\n" : "# ", unnamed[0], unnamed[1]);
}

void cli_changes_text(struct cli_output *out, const struct cli_changes *c, bool markdown) {
    const struct table_writer w = {out, c, markdown};
    const uint64_t *all = c->changes->instructions;
    const unsigned holds = c->changes->holds;

    cli_output_print(out, "%s%" PRIu64 " to %" PRIu64 " instructions: %+" PRId64, markdown ? "**" : "# ", all[0],
                     all[1], cli_change(all));
    if (all[0]) cli_output_print(out, ", %+.2f %%", cli_change_percent(all));
    cli_output_text(out, markdown ? "**\n\n" : "\n");
    write_side(&w, 0);
    write_side(&w, 1);
    if (!c->side[0].complete || !c->side[1].complete)
        remark(&w, markdown ? "**Doubtful:** a trace is not complete, and what is missing is not counted."
                            : "DOUBTFUL: a trace is not complete, and what is missing is not counted");
    if (c->relation == CLI_OTHER_PROGRAM)
        remark(&w,
               markdown ? "**Doubtful:** A and B are different programs." : "DOUBTFUL: A and B are different programs");
    if (c->fail_over >= 0)
        cli_output_print(out, "%sgate: at most %+g %%: %s\n", markdown ? "\n" : "# ", c->fail_over,
                         c->passed ? "passed" : "FAILED");
    write_functions(&w);
    write_lines(&w);
    write_paths(&w);
    write_unpaired(&w);
    if (!(holds & NTR_COSTS_SELF)) remark(&w, "not compared: code of functions, which A or B does not have");
    if (!(holds & NTR_COSTS_LINES)) remark(&w, "not compared: lines, which A or B does not have");
    if (!(holds & NTR_COSTS_CALLS)) remark(&w, "not compared: call paths, which A or B does not have");
}
