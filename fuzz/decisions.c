/* What coverage of decisions reads beside traces: compile_commands.json, and code of which the branches are matched
 * with the conditions of a decision. */
#include "fuzz.h"

#include "decision/arguments.h"
#include "decision/values.h"
#include "decision/match.h"

#include <string.h>
#include <unistd.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

/* ---- compile_commands.json --------------------------------------------------------------------- */

static void make_arguments(const json_t *commands, const ntr_debug_unit *unit) {
    ntr_texts texts = {0};
    ntr_arguments arguments = {.texts = &texts};
    ntr_source_options options;
    ntr_source_options_init(&options);
    if (ntr_arguments_make(&arguments, commands, &options, unit, 64, "/unit") == NTR_OK)
        for (size_t i = 0; i < arguments.count; i++) fuzz_must(arguments.items[i] != NULL, "an argument has a text");
    ntr_arguments_release(&arguments);
    ntr_texts_release(&texts);
}

static void take_commands(fuzz_tape *tape) {
    const char *producer = fuzz_byte(tape) & 1 ? "GNU C17 12.2.0 -std=gnu99 -O2" : NULL;
    const ntr_debug_unit unit = {.name = "unit", .directory = "/", .producer = producer};
    json_t *commands = NULL;
    char why[200] = "";
    int fd;
    const char *path = fuzz_file(fuzz_rest(tape), &fd);
    ntr_status status = ntr_commands_load(&commands, path, 1 << 20, why, sizeof why);
    close(fd);
    fuzz_must(status == NTR_OK || *why, "a refused file has a reason");
    make_arguments(commands, &unit);
    json_decref(commands);
}

/* ---- code -------------------------------------------------------------------------------------- */

enum { CONDITIONS_MAX = 6, CODE_BYTES_MAX = 2048, CODE_BASE = 0x1000 };

typedef struct decision {
    ntr_decision_record record;
    ntr_condition conditions[CONDITIONS_MAX];
    ntr_condition_flow flow[CONDITIONS_MAX];
    ntr_expression tree[3 * CONDITIONS_MAX];
} decision;

static uint8_t add_node(decision *d, ntr_expression node) {
    d->tree[d->record.tree_count] = node;
    return d->record.tree_count++;
}

/* Makes a && b || !c ... from bytes. */
static void make_decision(fuzz_tape *tape, decision *d) {
    size_t count = 1 + fuzz_byte(tape) % CONDITIONS_MAX;
    ntr_decision_record *r = &d->record;
    r->conditions = d->conditions;
    r->flow = d->flow;
    r->tree = d->tree;
    for (size_t i = 0; i < count; i++) {
        uint8_t how = fuzz_byte(tape),
                leaf = add_node(d, (ntr_expression){.operator= NTR_LEAF, .condition = (uint8_t)i});
        d->conditions[i].constant = (how & 7) == 7;
        d->conditions[i].value = how & 8;
        if (how & 16) leaf = add_node(d, (ntr_expression){NTR_NOT, 0, leaf, leaf});
        r->root = i ? add_node(d, (ntr_expression){how & 32 ? NTR_AND : NTR_OR, 0, r->root, leaf}) : leaf;
    }
    r->shown.condition_count = count;
    ntr_record_flow(r);
}

static void check_match(ntr_match *match) {
    const ntr_decision_record *r = match->record;
    const char *reason = ntr_match_find(match);
    bool first = false;
    for (size_t i = 0; i < match->count && (match->placed || !reason); i++) {
        const ntr_matched *m = &match->matched[i];
        fuzz_must(m->condition < r->shown.condition_count, "a branch has a condition of the decision");
        fuzz_must(!r->conditions[m->condition].constant, "a constant has no branch");
        first |= m->first;
    }
    fuzz_must(reason || first, "an evaluation has a beginning");
    uint64_t retests = ntr_match_retests(match);
    fuzz_must(match->count >= 64 || retests >> match->count == 0, "branches that test a result are candidates");
}

/* Values of conditions that are computed together are those of an evaluation: the flow of the decision leads through
 * them. */
static void check_groups(const ntr_match *match) {
    const ntr_decision_record *r = match->record;
    char of_groups[NTR_GROUPED_MAX], values[NTR_CONDITIONS_MAX];
    ntr_match grouped = *match;
    if (r->shown.condition_count < 2 || ntr_match_groups(&grouped)) return;
    for (size_t i = 0; i < grouped.count; i++)
        fuzz_must(grouped.matched[i].condition < grouped.grouping.count, "a branch has a group");
    for (unsigned bits = 0; bits < 1u << grouped.grouping.count; bits++) {
        int16_t at = r->start, group = 0;
        memset(of_groups, '-', sizeof of_groups);
        while (group >= 0) {
            bool value = bits >> group & 1;
            of_groups[group] = value ? 'T' : 'F';
            group = grouped.grouping.next[group][value];
        }
        if (!ntr_grouping_expand(r, &grouped.grouping, of_groups, values)) continue;
        while (at >= 0 && values[at] != '-') at = r->flow[at].next[values[at] == 'T'];
        fuzz_must(at == group, "the values lead to the result");
    }
}

static void match_code(fuzz_tape *tape) {
    uint8_t how = fuzz_byte(tape);
    decision d = {0};
    ntr_candidate candidates[NTR_CANDIDATES_MAX];
    make_decision(tape, &d);
    ntr_bytes code = fuzz_part(tape, CODE_BYTES_MAX);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_options options;
    ntr_image_options_init(&options);
    options.bias = CODE_BASE;
    if (!program || ntr_program_add_raw(program, code, &options) != NTR_OK) {
        ntr_program_free(program);
        return;
    }
    ntr_debug_info *debug;
    ntr_debug_info_new(program, NULL, &debug);
    ntr_graph graph = {0};
    ntr_statements statements = {0};
    ntr_match match = {.graph = &graph,
                       .debug = debug,
                       .record = &d.record,
                       .candidates = candidates,
                       .statements = &statements,
                       .kind = {.unoptimized = how & 1, .debug = how & 2, .gnu = how & 4}};
    if (debug && ntr_graph_make(&graph, program, debug, ntr_place_at(NULL, NTR_POSITION_ANY, CODE_BASE),
                                CODE_BASE + code.size) == NTR_OK) {
        for (uint32_t i = 0; i < graph.count && match.count < NTR_CANDIDATES_MAX; i++)
            if (graph.insns[i].flow == NTR_FLOW_BRANCH) candidates[match.count++] = (ntr_candidate){.insn = i};
        if (d.record.start >= 0) {
            check_match(&match);
            check_groups(&match);
        }
        ntr_graph_unoptimized(&graph);
    }
    ntr_graph_release(&graph);
    ntr_debug_info_free(debug);
    ntr_program_free(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    if (fuzz_byte(&tape) & 1)
        take_commands(&tape);
    else
        match_code(&tape);
    return 0;
}
