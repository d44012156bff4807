#include "text/changes.h"

#include <inttypes.h>

static const char *const matches[] = {
    [NTR_COST_BOTH] = "both",       [NTR_COST_ONLY] = "only",         [NTR_COST_FILE] = "other-file",
    [NTR_COST_UNCLEAR] = "unclear", [NTR_COST_UNPAIRED] = "unpaired", [NTR_COST_UNNAMED] = "no-symbol",
};

static void text(struct cli_output *out, const char *key, const char *value) {
    cli_output_print(out, "\"%s\":", key);
    if (value)
        cli_output_json(out, value);
    else
        cli_output_text(out, "null");
}

/* Writes a pair of counts. */
static void pair(struct cli_output *out, const char *key, const uint64_t count[2]) {
    cli_output_print(out, "\"%s\":{\"a\":%" PRIu64 ",\"b\":%" PRIu64 ",\"change\":%" PRId64 "}", key, count[0],
                     count[1], cli_change(count));
}

static void write_side(struct cli_output *out, const char *key, const struct cli_compared *s) {
    cli_output_print(out, "\"%s\":{", key);
    text(out, "path", s->path);
    cli_output_print(
        out, ",\"kind\":\"%s\",\"complete\":%s,\"gaps\":%" PRIu64 ",\"doubtful_messages\":%" PRIu64 ",\"losses\":[",
        s->kind, s->complete ? "true" : "false", s->gaps, s->reserved);
    for (size_t i = 0; i < s->loss_count; i++) {
        if (i) cli_output_text(out, ",");
        cli_output_json(out, s->losses[i]);
    }
    cli_output_text(out, "],\"quality\":");
    cli_output_text(out, s->quality ? s->quality : "null");
    cli_output_text(out, "}");
}

static void place(struct cli_output *out, const char *key, bool present, const char *file, uint32_t line,
                  const char *image) {
    cli_output_print(out, ",\"%s\":", key);
    if (!present) {
        cli_output_text(out, "null");
        return;
    }
    cli_output_text(out, "{");
    text(out, "file", file);
    if (line)
        cli_output_print(out, ",\"line\":%" PRIu32, line);
    else
        cli_output_text(out, ",\"line\":null");
    if (image) {
        cli_output_text(out, ",");
        text(out, "image", image);
    }
    cli_output_text(out, "}");
}

/* The sum of the rows that are not written, so that each table adds up. */
static void write_rest(struct cli_output *out, size_t rows, const char *key, const uint64_t sum[2]) {
    cli_output_print(out, "],\"rest\":{\"rows\":%zu,", rows);
    pair(out, key, sum);
    cli_output_text(out, "}}");
}

static void write_function(struct cli_output *out, const ntr_cost_function *f, unsigned holds) {
    cli_output_text(out, "{");
    text(out, "name", f->name);
    cli_output_print(out, ",\"match\":\"%s\"", matches[f->match]);
    for (unsigned s = 0; s < 2; s++)
        place(out, s ? "b" : "a", f->present >> s & 1, f->file[s], f->line[s], f->image[s] ? f->image[s] : "");
    const struct {
        const char *name;
        unsigned needs;
        const uint64_t *count;
    } members[] = {{"self", NTR_COSTS_SELF, f->self},
                   {"total", NTR_COSTS_CALLS, f->total},
                   {"calls", NTR_COSTS_CALLS, f->calls},
                   {"written", NTR_COSTS_LINES, f->written}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!(holds & members[i].needs)) continue;
        cli_output_text(out, ",");
        pair(out, members[i].name, members[i].count);
    }
    cli_output_text(out, "}");
}

static void write_functions(struct cli_output *out, const struct cli_changes *c) {
    const ntr_cost_changes *x = c->changes;
    const bool by_self = x->holds & NTR_COSTS_SELF;
    uint64_t rest[2] = {0};

    cli_output_text(out, ",\n\"functions\":");
    if (!(x->holds & (NTR_COSTS_SELF | NTR_COSTS_LINES))) {
        cli_output_text(out, "null");
        return;
    }
    cli_output_text(out, "{\"rows\":[");
    size_t i = 0;
    for (; i < x->function_count && i < c->top; i++) {
        cli_output_text(out, i ? ",\n" : "\n");
        write_function(out, &x->functions[i], x->holds);
    }
    const size_t more = x->function_count - i;
    for (; i < x->function_count; i++)
        for (unsigned s = 0; s < 2; s++) rest[s] += by_self ? x->functions[i].self[s] : x->functions[i].written[s];
    write_rest(out, more, by_self ? "self" : "written", rest);
}

static void write_lines(struct cli_output *out, const struct cli_changes *c) {
    const ntr_cost_changes *x = c->changes;
    uint64_t rest[2] = {0};

    cli_output_text(out, ",\n\"lines\":");
    if (!(x->holds & NTR_COSTS_LINES)) {
        cli_output_text(out, "null");
        return;
    }
    cli_output_print(out, "{\"by_number\":%s,\"rows\":[", x->lines_by_number ? "true" : "false");
    size_t i = 0;
    for (; i < x->line_count && i < c->top; i++) {
        const ntr_cost_line *l = &x->lines[i];
        cli_output_text(out, i ? ",\n{" : "\n{");
        text(out, "function", x->functions[l->function].name);
        cli_output_print(out, ",\"match\":\"%s\"", matches[l->match]);
        for (unsigned s = 0; s < 2; s++) place(out, s ? "b" : "a", l->present >> s & 1, l->file[s], l->line[s], NULL);
        cli_output_text(out, ",");
        pair(out, "self", l->self);
        cli_output_text(out, "}");
    }
    const size_t more = x->line_count - i;
    for (; i < x->line_count; i++)
        for (unsigned s = 0; s < 2; s++) rest[s] += x->lines[i].self[s];
    write_rest(out, more, "self", rest);
}

static void write_stack(struct cli_output *out, const ntr_cost_changes *x, uint32_t number) {
    uint32_t stack[NTR_CALLTREE_DEPTH_MAX + 1];
    size_t depth = 0;

    for (; number && depth <= NTR_CALLTREE_DEPTH_MAX; number = x->paths[number].parent) stack[depth++] = number;
    cli_output_text(out, "\"stack\":[");
    while (depth-- > 0) {
        const ntr_cost_path *p = &x->paths[stack[depth]];
        cli_output_json(out, x->functions[p->function].name);
        if (depth) cli_output_text(out, ",");
    }
    cli_output_text(out, "]");
}

static void write_paths(struct cli_output *out, const struct cli_changes *c) {
    static const char *const kinds[] = {"root", "call", "exception", "interrupt"};
    const ntr_cost_changes *x = c->changes;
    uint64_t rest[2] = {0};

    cli_output_text(out, ",\n\"paths\":");
    if (!(x->holds & NTR_COSTS_CALLS)) {
        cli_output_text(out, "null");
        return;
    }
    cli_output_text(out, "{\"rows\":[");
    size_t i = 0;
    for (; i < c->path_count && i < c->top; i++) {
        const ntr_cost_path *p = &x->paths[c->order[i]];
        cli_output_text(out, i ? ",\n{" : "\n{");
        write_stack(out, x, c->order[i]);
        cli_output_print(out, ",\"kind\":\"%s\",", kinds[p->kind & 3]);
        pair(out, "self", p->self);
        cli_output_text(out, ",");
        pair(out, "total", p->total);
        cli_output_text(out, ",");
        pair(out, "calls", p->calls);
        cli_output_text(out, "}");
    }
    const size_t more = c->path_count - i;
    for (; i < c->path_count; i++)
        for (unsigned s = 0; s < 2; s++) rest[s] += x->paths[c->order[i]].self[s];
    write_rest(out, more, "self", rest);
}

void cli_changes_json(struct cli_output *out, const struct cli_changes *c) {
    static const char *const relations[] = {
        [CLI_SAME_PROGRAM] = "same", [CLI_PROGRAM_UNKNOWN] = "unknown", [CLI_OTHER_PROGRAM] = "different"};
    const ntr_cost_changes *x = c->changes;

    cli_output_text(out, "{\"format\":\"ntrace-compare\",\"version\":1,\n");
    write_side(out, "a", &c->side[0]);
    cli_output_text(out, ",\n");
    write_side(out, "b", &c->side[1]);
    cli_output_print(out, ",\n\"complete\":%s,\n", c->side[0].complete && c->side[1].complete ? "true" : "false");
    pair(out, "instructions", x->instructions);
    if (x->instructions[0])
        cli_output_print(out, ",\n\"percent\":%.9g", cli_change_percent(x->instructions));
    else
        cli_output_text(out, ",\n\"percent\":null");
    if (c->fail_over >= 0)
        cli_output_print(out, ",\n\"gate\":{\"fail_over\":%.9g,\"passed\":%s}", c->fail_over,
                         c->passed ? "true" : "false");
    else
        cli_output_text(out, ",\n\"gate\":null");
    cli_output_print(out, ",\n\"programs\":\"%s\"", relations[c->relation]);
    cli_output_text(out, ",\n\"images\":[");
    for (size_t i = 0; i < x->image_count; i++) {
        cli_output_text(out, i ? ",{" : "{");
        text(out, "a", x->images[i].name[0]);
        cli_output_text(out, ",");
        text(out, "b", x->images[i].name[1]);
        cli_output_text(out, "}");
    }
    cli_output_text(out, "]");
    write_functions(out, c);
    write_lines(out, c);
    write_paths(out, c);
    cli_output_text(out, "}\n");
}
