/* compare: costs of two executions by name; a gate for regressions. */
#include "commands/shared/analysis.h"
#include "commands/shared/decode_threads.h"
#include "io/cost_profile.h"
#include "io/debug_files.h"
#include "io/progress.h"
#include "options/diagnostics.h"
#include "text/changes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TO_TEXT, TO_JSON, TO_MARKDOWN };

struct compare_options {
    struct cli_analysis_options analysis;
    struct cli_list elf_a, elf_b;
    const char *fail_over, *flame, *path;
    int format;
    int64_t top;
};

#define S struct compare_options
static const struct cli_option compare_table[] = {
    CLI_STRING(0, "fail-over", "PERCENT", S, fail_over,
               "exit status 1 when B has more than PERCENT more instructions than A, such as 2%, or when that is not "
               "certain"),
    CLI_STRING(0, "flame", "FILE", S, flame, "also write a differential flame graph, as an SVG file"),
    CLI_NUMBER(0, "top", "N", S, top, 0, INT64_MAX, -1,
               "rows of each table (default: 20; with --format json 10000); the sum of all others is the last row"),
    CLI_LIST(0, "elf-a", "FILE[@ADDR][:BINDING...]", S, elf_a, "program image of A alone, as -e (repeatable)"),
    CLI_LIST(0, "elf-b", "FILE[@ADDR][:BINDING...]", S, elf_b, "program image of B alone, as -e (repeatable)"),
    {0},
};

static const struct cli_option output_table[] = {
    CLI_CHOICE(0, "format", "text|json|markdown", S, format, TO_TEXT,
               "output format (default text; markdown: for a merge request)"),
    CLI_STRING('o', "output", "FILE", S, path, "write to FILE (default: standard output)"),
    {0},
};

static const struct cli_option trace_table[] = {
    CLI_NUMBER('j', "jobs", "N", S, analysis.jobs, 1, 256, 0, CLI_JOBS_HELP),
    CLI_DEBUG_PATH(S, analysis.debug_path),
    CLI_STRING(0, "partial", "FILE", S, analysis.partial,
               "write what a comparison needs of TRACE as a partial answer to FILE, and nothing else"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", compare_table),
    CLI_OWN("output", output_table),
    CLI_OWN("traces", trace_table),
    CLI_GROUP("program", cli_image_options, struct compare_options, analysis.images),
    CLI_GROUP("stream", cli_stream_options, struct compare_options, analysis.stream),
    {0},
};

/* ---- one side */

/* Sets the options of a side: `own` are images of this side alone. The caller frees images.list.items. */
static int side_options(const struct compare_options *o, const struct cli_list *own, struct cli_analysis_options *to) {
    const struct cli_list *both = &o->analysis.images.list;

    *to = o->analysis;
    to->selection = (struct cli_selection){.source = -1};
    to->images.list.items = calloc(both->count + own->count + 1, sizeof *both->items);
    if (!to->images.list.items) return cli_fail("out of memory");
    to->images.list.count = both->count + own->count;
    for (size_t i = 0; i < both->count; i++) to->images.list.items[i] = both->items[i];
    for (size_t i = 0; i < own->count; i++)
        to->images.list.items[both->count + i] = (struct cli_item){"elf", own->items[i].value};
    return CLI_OK;
}

/* Returns what a comparison needs, of a partial answer what it holds. */
static unsigned needs_of(const struct cli_analysis *a) {
    const unsigned holds = a->answer ? ntr_partial_holds(a->answer) : NTR_PARTIAL_EVENTS;

    if (holds & NTR_PARTIAL_EVENTS) return NTR_NEEDS_TREE | NTR_NEEDS_TALLY;
    return (holds & NTR_PARTIAL_TREE ? NTR_NEEDS_TREE : 0u) | (holds & NTR_PARTIAL_TALLY ? NTR_NEEDS_TALLY : 0u);
}

/* The capture's own losses: instructions are missing that no gap of the stream shows. */
static int take_losses(struct cli_compared *side, const ntr_analysis *data) {
    side->losses = calloc(data->loss_count + 1, sizeof *side->losses);
    for (size_t i = 0; side->losses && i < data->loss_count; i++) {
        if (!(side->losses[i] = strdup(data->losses[i]))) return cli_fail("out of memory");
        side->loss_count++;
        cli_note("%s: the capture has lost: %s", side->path, side->losses[i]);
    }
    return side->losses ? CLI_OK : cli_fail("out of memory");
}

static int take_costs(struct cli_analysis *a, struct cli_compared *side, ntr_costs *costs) {
    const ntr_analysis *x = &a->data;
    const ntr_status status = ntr_costs_take(costs, x->program, x->debug, x->functions, x->tree, x->tally);

    if (status == NTR_E_INVALID)
        return cli_fail("%s: the partial answer has neither counts of code nor call trees; 'compare --partial' writes "
                        "both",
                        side->path);
    if (status != NTR_OK) return cli_fail("%s: out of memory", side->path);
    side->gaps = a->gaps;
    side->reserved = a->reserved;
    return take_losses(side, x);
}

static int read_trace(struct cli_compared *side, const struct cli_analysis_options *options, bool rate,
                      ntr_costs *costs) {
    struct cli_analysis a;
    int status = cli_analysis_open(&a, side->path, options);

    side->kind = a.answer ? "partial answer" : "trace";
    if (status == CLI_OK) status = cli_analysis_need(&a, needs_of(&a));
    if (status == CLI_OK && rate) status = cli_analysis_rate(&a);
    if (status == CLI_OK) status = cli_analysis_run(&a, NULL, NULL);
    cli_analysis_quality(&a);
    if (a.rated) side->quality = cli_quality_json(&a.quality);
    if (status != CLI_FAILED && !options->partial && take_costs(&a, side, costs) != CLI_OK) status = CLI_FAILED;
    cli_analysis_close(&a);
    return status;
}

static int read_side(struct cli_compared *side, const struct compare_options *o, const struct cli_list *own,
                     ntr_costs *costs) {
    struct cli_analysis_options options = {0};
    bool incomplete = false;
    int status;

    if (cli_cost_profile_seen(side->path)) {
        side->kind = "profile";
        status = cli_cost_profile_read(side->path, costs, &incomplete);
        if (status == CLI_OK && incomplete) status = CLI_DEFECTS;
    } else {
        status = side_options(o, own, &options);
        if (status == CLI_OK) status = read_trace(side, &options, o->format == TO_JSON, costs);
        free(options.images.list.items);
    }
    side->complete = cli_doubted_status(status) == CLI_OK && !side->loss_count;
    return status;
}

/* ---- the gate */

/* Parses "2", "2%" or "0.5 %". Returns a negative number if it is none of these. */
static double parse_percent(const char *text) {
    char *end;
    const double value = strtod(text, &end);

    if (end == text || !isfinite(value) || strchr(text, 'x') || strchr(text, 'X')) return -1;
    while (*end == ' ') end++;
    if (*end == '%') end++;
    return *end || value < 0 ? -1 : value;
}

/* Returns whether B has at most `percent` more instructions than A. */
static bool is_within(const uint64_t count[2], double percent) {
    return count[0] && (long double)count[1] * 100 <= (long double)count[0] * (100 + (long double)percent);
}

static void judge(struct cli_changes *c) {
    const uint64_t *all = c->changes->instructions;
    const bool within = is_within(all, c->fail_over), complete = c->side[0].complete && c->side[1].complete;

    c->passed = within && complete && c->relation == CLI_SAME_PROGRAM;
    if (!within && all[0])
        cli_note("%" PRIu64 " to %" PRIu64 " instructions are %+.4g %%, --fail-over expects at most %+g %%", all[0],
                 all[1], cli_change_percent(all), c->fail_over);
    else if (!within)
        cli_note("%s: no instructions: --fail-over has nothing to compare with", c->side[0].path);
    if (!complete) cli_note("--fail-over cannot pass: what is missing from a trace is not counted");
}

/* Says whether A and B are builds of one program, which a gate needs. */
static void relate(struct cli_changes *c) {
    struct cli_relation_why why;
    const char *const gate = c->fail_over >= 0 ? "; --fail-over cannot pass" : "";

    c->relation = cli_relation_of(c->changes, &why);
    if (c->relation == CLI_OTHER_PROGRAM && why.names[0])
        cli_note("A is %s, B is %s: expected two builds of one program, %s%s", why.names[0], why.names[1], why.reason,
                 gate);
    else if (c->relation == CLI_OTHER_PROGRAM)
        cli_note("A and B: expected two builds of one program, %s%s", why.reason, gate);
    else if (c->relation == CLI_PROGRAM_UNKNOWN && why.reason)
        cli_note("A and B: not known whether they are builds of one program: %s%s", why.reason, gate);
    else if (c->relation == CLI_PROGRAM_UNKNOWN)
        cli_note("A is %s, B is %s: not known whether they are builds of one program%s; compile with -g, or give the "
                 "files one name",
                 why.names[0], why.names[1], gate);
}

/* ---- output */

/* A path with the size of its change. */
struct ranked_path {
    uint64_t change;
    uint32_t path;
};

static int compare_ranked(const void *a, const void *b) {
    const struct ranked_path *x = a, *y = b;

    if (x->change != y->change) return x->change > y->change ? -1 : 1;
    return x->path < y->path ? -1 : x->path > y->path;
}

/* Lists the paths that have instructions of their own, the largest change first. */
static int sort_paths(struct cli_changes *c) {
    const ntr_cost_changes *x = c->changes;
    struct ranked_path *ranked = calloc(x->path_count + 1, sizeof *ranked);

    c->order = calloc(x->path_count + 1, sizeof *c->order);
    if (!c->order || !ranked) {
        free(ranked);
        return cli_fail("out of memory");
    }
    for (size_t i = 1; i < x->path_count; i++) {
        const int64_t change = cli_change(x->paths[i].self);
        if (x->paths[i].self[0] || x->paths[i].self[1])
            ranked[c->path_count++] = (struct ranked_path){(uint64_t)(change < 0 ? -change : change), (uint32_t)i};
    }
    qsort(ranked, c->path_count, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < c->path_count; i++) c->order[i] = ranked[i].path;
    free(ranked);
    return CLI_OK;
}

static ntr_status write_bytes(void *user, const void *bytes, size_t size) {
    struct cli_output *out = user;

    cli_output_write(out, bytes, size);
    return out->failed ? NTR_E_IO : NTR_OK;
}

static int write_flame(const struct cli_changes *c, const char *path) {
    struct cli_output out;
    ntr_output output;
    int status = CLI_OK;

    if (!(c->changes->holds & NTR_COSTS_CALLS))
        return cli_fail("--flame needs call trees, which %s or %s does not have", c->side[0].path, c->side[1].path);
    if (cli_output_open(&out, path) != CLI_OK) return CLI_FAILED;
    ntr_output_init(&output);
    output.write = write_bytes;
    output.user = &out;
    const size_t size = strlen(c->side[0].path) + strlen(c->side[1].path) + 5;
    char *title = malloc(size);
    if (title) snprintf(title, size, "%s to %s", c->side[0].path, c->side[1].path);
    if (!title || (ntr_export_changes(c->changes, title, &output) != NTR_OK && !out.failed))
        status = cli_fail("out of memory");
    free(title);
    return cli_output_close(&out, status);
}

static int write_tables(const struct cli_changes *c, const struct compare_options *o, int status) {
    struct cli_output out;

    if (cli_output_open(&out, o->path) != CLI_OK) return CLI_FAILED;
    if (o->format == TO_JSON)
        cli_changes_json(&out, c);
    else
        cli_changes_text(&out, c, o->format == TO_MARKDOWN);
    return cli_output_close(&out, status);
}

static int show(struct cli_changes *c, const struct compare_options *o) {
    enum { SHOWN_ROWS = 20, JSON_ROWS = 10000 };
    int status = c->side[0].complete && c->side[1].complete ? CLI_OK : CLI_DEFECTS;

    c->top = o->top >= 0 ? (size_t)o->top : o->format == TO_JSON ? JSON_ROWS : SHOWN_ROWS;
    if (sort_paths(c) != CLI_OK) return CLI_FAILED;
    if (!c->changes->holds)
        cli_note("A and B have nothing in common but their sums: one is by function, the other one by line");
    relate(c);
    if (c->relation == CLI_OTHER_PROGRAM) status = CLI_DEFECTS;
    if (c->fail_over >= 0) judge(c);
    if (c->fail_over >= 0 && !c->passed) status = CLI_DEFECTS;
    status = write_tables(c, o, status);
    if (o->flame && status != CLI_FAILED && write_flame(c, o->flame) != CLI_OK) status = CLI_FAILED;
    return status;
}

static int compare_both(struct cli_changes *c, const struct compare_options *o, ntr_costs *costs[2]) {
    const struct cli_list *own[2] = {&o->elf_a, &o->elf_b};
    ntr_cost_changes changes;

    for (unsigned s = 0; s < 2; s++) {
        if (read_side(&c->side[s], o, own[s], costs[s]) == CLI_FAILED) return CLI_FAILED;
        if (!cli_progress_stopped()) continue;
        cli_note("interrupted: %s was not read to its end; nothing is compared", c->side[s].path);
        return CLI_DEFECTS;
    }
    if (ntr_costs_compare(costs[0], costs[1], &changes, NULL) != NTR_OK) return cli_fail("out of memory");
    c->changes = &changes;
    const int status = show(c, o);
    c->changes = NULL;
    ntr_cost_changes_release(&changes);
    return status;
}

static int check_options(const struct compare_options *o, char **operands, struct cli_changes *c) {
    c->fail_over = -1;
    if (o->fail_over && (c->fail_over = parse_percent(o->fail_over)) < 0)
        return cli_fail("--fail-over: expected a percentage from 0, such as 2%%, found '%s'", o->fail_over);
    if (o->analysis.partial) {
        if (operands[1]) return cli_fail("--partial expects one TRACE, found '%s' after it", operands[1]);
        if (o->fail_over || o->flame || o->path || o->elf_b.count)
            return cli_fail("--partial writes no comparison: it cannot be combined with --fail-over, --flame, -o and "
                            "--elf-b");
        if (cli_cost_profile_seen(operands[0]))
            return cli_fail("%s: --partial expects a trace, found a profile", operands[0]);
    } else if (!operands[1]) {
        return cli_fail("expected A and B, found '%s' only", operands[0]);
    }
    return CLI_OK;
}

static int compare_run(const void *options, char **operands) {
    const struct compare_options *o = options;
    struct cli_changes c = {.side = {{.path = operands[0]}, {.path = operands[1]}}};
    int status = check_options(o, operands, &c);

    if (status != CLI_OK) return status;
    ntr_costs *costs[2] = {NULL, NULL};
    if (ntr_costs_new(NULL, &costs[0]) || ntr_costs_new(NULL, &costs[1]))
        status = cli_fail("out of memory");
    else
        status = o->analysis.partial ? read_side(&c.side[0], o, &o->elf_a, costs[0]) : compare_both(&c, o, costs);
    for (unsigned s = 0; s < 2; s++) {
        for (size_t i = 0; i < c.side[s].loss_count; i++) free(c.side[s].losses[i]);
        free(c.side[s].losses);
        free(c.side[s].quality);
        ntr_costs_free(costs[s]);
    }
    free(c.order);
    return status;
}

const struct cli_command cli_compare = {
    .operands = "A [B]",
    .min_operands = 1,
    .max_operands = 2,
    .groups = groups,
    .size = sizeof(struct compare_options),
    .run = compare_run,
    .about =
        "Compares the instructions of two executions, A (before) and B (after), by function, line and call path.\n"
        "Each is a trace, a bundle, a partial answer, or a profile ('profile --format jsonl', by function or by\n"
        "line). They may be of two builds of a program: code is named by function, file and image, not by address.\n"
        "\n"
        "Every instruction is in a row: the rows of each table add up to the instructions of A and of B. Functions\n"
        "that only one of them has, and code without a symbol, are rows of their own. A table shows the rows with\n"
        "the largest changes and the sum of all others.\n"
        "\n"
        "A function's own code includes what was inlined there. Where the instructions of its source changed in\n"
        "another way, in all places where it was inlined, these numbers follow in brackets.\n"
        "\n"
        "Lines are paired by their distance from the beginning of the function. If the function has another\n"
        "number of lines in B, its lines are not paired, and shown as those of A and of B.\n"
        "\n"
        "The exit status is 1 when a trace has gaps, damage or losses: the counts are then too small. It is also 1\n"
        "for two different programs, and when --fail-over is exceeded. A trace that is not complete never passes, nor\n"
        "do two different programs.",
    .examples = "  ntrace compare old.ntrace new.ntrace --fail-over 2%\n"
                "  ntrace compare old.ntrace new.ntrace --format markdown --flame changes.svg -o comment.txt\n"
                "  ntrace compare old.nex new.nex --elf-a old.elf --elf-b new.elf\n"
                "  ntrace compare --partial base.part main.ntrace\n"
                "  ntrace compare base.part new.ntrace",
};
