/* Decisions of which the compiler stores the result, and does not test the last condition.
 *
 * clang without optimization computes x = a && b as
 *
 *     li T, 0; sd T, S; beqz A, J; j N; N: (B as 0 or 1 in T); sd T, S; j J; J: ld T, S
 *
 * Each outcome that decides the result stores it as a constant in a word S of the stack frame, the last condition
 * stores its value there, and the load at J has the result. This load is taken for a branch that tests the last
 * condition, and matched like it. Its value is known from a trace with loads (witness.h); without, the last condition
 * is not known.
 *
 * What proves that a load is that of the result: every outcome that decides leads to it with its result as a constant
 * in S, and every other way to it stores a value in S behind the last branch or call. */
#include "decision/values.h"
#include "decision/matcher.h"

enum { STORED_BEFORE_MAX = 24, ADDRESS_MAX = 4, BEHIND_MAX = 4096, LOADS_MAX = 8, WAYS_MAX = 8 };

typedef struct stack_word {
    uint8_t base;
    int64_t offset;
} stack_word;

static uint32_t expanded(const ntr_graph *g, uint32_t at) {
    return g->insns[at].size <= 4 ? ntr_expand(g->insns[at].bits, g->xlen) : 0;
}

/* Returns whether a register has an address in the stack frame before an instruction, and stores which. The addresses
 * of a large frame are computed directly before. */
static bool is_address(const ntr_graph *g, uint32_t at, unsigned reg, stack_word *word) {
    ntr_values values = {.xlen = g->xlen};
    uint32_t from = at;
    *word = (stack_word){(uint8_t)reg, 0};
    if (reg == NTR_REGISTER_SP || reg == NTR_REGISTER_FP) return true;
    while (from && at - from < ADDRESS_MAX && !g->insns[from].is_target && g->insns[from - 1].flow == NTR_FLOW_LINEAR)
        from--;
    for (; from < at; from++) {
        const uint32_t insn = expanded(g, from);
        if (!insn || !ntr_values_execute(&values, insn)) values = (ntr_values){.xlen = g->xlen};
    }
    *word = (stack_word){values.frame[reg], (int64_t)values.value[reg]};
    return word->base != 0;
}

/* Returns whether an instruction with this opcode loads or stores a register of general purpose in the stack frame, and
 * stores where. */
static bool is_access(const ntr_graph *g, uint32_t at, uint32_t opcode, stack_word *word) {
    const uint32_t insn = expanded(g, at), funct3 = insn >> 12 & 7;
    const uint32_t offset = opcode == NTR_OPCODE_LOAD ? insn >> 20 : (insn >> 25) << 5 | (insn >> 7 & 31);
    if (g->insns[at].flow != NTR_FLOW_LINEAR || (insn & 0x7f) != opcode || funct3 != (g->xlen == 32 ? 2 : 3) ||
        !is_address(g, at, insn >> 15 & 31, word))
        return false;
    word->offset += (int64_t)(offset ^ 0x800) - 0x800;
    return true;
}

static bool is_store_to(const ntr_graph *g, uint32_t at, stack_word word) {
    stack_word other;
    return is_access(g, at, NTR_OPCODE_STORE, &other) && other.base == word.base && other.offset == word.offset;
}

/* Returns whether a word is stored in the straight code before one of the branches. */
static bool is_stored_before(const ntr_match *m, stack_word word) {
    const ntr_graph *g = m->graph;
    for (size_t i = 0; i < m->count; i++)
        for (uint32_t at = m->candidates[i].insn, n = 0; at && n < STORED_BEFORE_MAX; n++) {
            if (g->insns[at].is_target || g->insns[--at].flow != NTR_FLOW_LINEAR) break;
            if (is_store_to(g, at, word)) return true;
        }
    return false;
}

/* Returns whether every way to an instruction comes from a candidate, or has a store to the word in its last straight
 * code. */
static bool ways_store(const ntr_graph *g, uint32_t at, stack_word word, unsigned depth) {
    for (; !g->insns[at].is_target; at--) {
        if (!at || g->insns[at].entry) return false;
        if (g->insns[at - 1].candidate) return true;
        if (is_store_to(g, at - 1, word)) return true;
        if (g->insns[at - 1].flow != NTR_FLOW_LINEAR) return false;
    }
    if (depth == WAYS_MAX || g->insns[at].entry) return false;
    for (uint32_t i = 0; i < g->count; i++) {
        const ntr_graph_insn *insn = &g->insns[i];
        const bool jumps = insn->flow == NTR_FLOW_DIRECT_JUMP || insn->flow == NTR_FLOW_BRANCH;
        const bool falls = i + 1 == at && insn->flow == NTR_FLOW_LINEAR;
        if (insn->candidate || !(falls || (jumps && insn->target == at))) {
            if (i + 1 == at && !insn->candidate && insn->flow != NTR_FLOW_DIRECT_JUMP && !falls) return false;
            continue;
        }
        if (falls && is_store_to(g, i, word)) continue;
        if (insn->flow == NTR_FLOW_BRANCH || !ways_store(g, i, word, depth + 1)) return false;
    }
    return true;
}

/* Tries a load. */
static const char *match_with(ntr_match *m, ntr_candidate *candidates, uint32_t load) {
    ntr_graph_insn *insn = &m->graph->insns[load];
    const ntr_graph_insn before = *insn;
    const size_t count = m->count;
    candidates[count].insn = load;
    m->count = count + 1;
    m->stored = (uint8_t)(count + 1);
    insn->flow = NTR_FLOW_BRANCH;
    insn->target = load + 1;
    const char *reason = ntr_match_find(m);
    if (!reason && m->matched[count].condition + 1u != m->record->shown.condition_count)
        reason = "it is of no condition";
    *insn = before;
    m->count = count;
    m->operands[count] = (ntr_operand_root){load + 1, (uint8_t)(expanded(m->graph, load) >> 7 & 31)};
    return reason;
}

/* Returns whether the last condition may begin at an instruction: straight code that the line table places inside of
 * it. */
static bool begins_last(const ntr_match *m, uint32_t at) {
    const ntr_graph *g = m->graph;
    ntr_frame frames[NTR_FRAMES_MAX];
    if (at == NTR_GRAPH_OUTSIDE || at + 1 >= g->count || g->insns[at].flow != NTR_FLOW_LINEAR) return false;
    return ntr_debug_info_frames(m->debug, ntr_graph_place(g, g->insns[at].address), frames, NTR_FRAMES_MAX) &&
           ntr_extent_has(&m->record->flow[m->record->shown.condition_count - 1].extent, frames[0].line,
                          frames[0].column);
}

/* The code of the last condition is where an outcome of a branch leads, and the line table places it there. This place
 * is taken for a branch that tests the last condition. The graph shows that it is evaluated, and nothing shows its
 * value. */
const char *ntr_match_lost(ntr_match *m) {
    const ntr_extent *last = &m->record->flow[m->record->shown.condition_count - 1].extent;
    ntr_candidate candidates[NTR_CANDIDATES_MAX];
    const ntr_candidate *given = m->candidates;
    const char *reason = "the compiler computed its last condition without a branch";
    uint32_t begin = NTR_GRAPH_OUTSIDE;
    if (m->count == 0 || m->count >= NTR_CANDIDATES_MAX) return reason;
    for (size_t i = 0; i < m->count; i++) {
        const uint32_t branch = given[i].insn;
        candidates[i] = given[i];
        for (unsigned taken = 0; taken < 2; taken++) {
            const uint32_t at = ntr_graph_thread(m->graph, taken ? m->graph->insns[branch].target : branch + 1);
            if (!begins_last(m, at) || at == begin) continue;
            if (begin != NTR_GRAPH_OUTSIDE) return reason;
            begin = at;
        }
    }
    if (begin == NTR_GRAPH_OUTSIDE) return reason;
    candidates[m->count] = (ntr_candidate){.line = last->line, .column = last->column};
    m->candidates = candidates;
    m->lost = true;
    reason = match_with(m, candidates, begin);
    m->candidates = given;
    return reason;
}

const char *ntr_match_stored(ntr_match *m, uint32_t *load) {
    ntr_candidate candidates[NTR_CANDIDATES_MAX];
    const ntr_candidate *given = m->candidates;
    const char *reason = "the compiler computed its last condition without a branch";
    uint32_t last = 0;
    unsigned tries = 0;
    if (m->count == 0 || m->count >= NTR_CANDIDATES_MAX) return reason;
    candidates[m->count] = (ntr_candidate){0};
    for (size_t i = 0; i < m->count; i++) {
        candidates[i] = given[i];
        if (given[i].insn > last) last = given[i].insn;
    }
    const uint32_t end = m->graph->count - last > BEHIND_MAX ? last + BEHIND_MAX : (uint32_t)m->graph->count;
    for (uint32_t at = last + 1; at + 1 < end && tries < LOADS_MAX; at++) {
        stack_word word;
        if (!is_access(m->graph, at, NTR_OPCODE_LOAD, &word) || !is_stored_before(m, word)) continue;
        ntr_match_mark(m, true);
        const bool stored = ways_store(m->graph, at, word, 0);
        ntr_match_mark(m, false);
        if (!stored) continue;
        tries++;
        m->candidates = candidates;
        *load = at;
        const char *failed = match_with(m, candidates, at);
        m->candidates = given;
        if (!failed) return NULL;
    }
    m->stored = 0;
    return reason;
}
