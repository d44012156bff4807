/* What the code of an exit shows: what it sets, calls, stores and reaches. */
#include "decision/matcher.h"

#include <string.h>

/* ---- Whether equal code proves equal results.
 *
 * Two outcomes that lead to the same code may have different results, when a register has the result already. Example:
 * in s = s && f(), the outcomes `s is false` and `f() is true` lead to the same code, and s keeps its value, 0 or 1.
 * Equal code is a proof where it sets a register to a constant that the code of the opposite result sets in another
 * way. */

enum { SET_MAX = 4 };

void ntr_match_mark(const ntr_match *m, bool set) {
    for (size_t i = 0; i < m->count; i++) m->graph->insns[m->candidates[i].insn].candidate = set ? (uint8_t)(i + 1) : 0;
}

/* Lists the first instructions from an exit on, through jumps without a condition. Returns their number. */
static unsigned list_straight(const ntr_graph *g, uint32_t at, uint32_t *list) {
    unsigned count = 0;
    at = ntr_graph_thread(g, at);
    while (count < SET_MAX && at < g->count && g->insns[at].flow == NTR_FLOW_LINEAR) {
        list[count++] = at;
        at = ntr_graph_thread(g, at + 1);
    }
    return count;
}

/* Returns the register that an instruction sets without reading it: by a constant, a load or a move. 0: none. */
static unsigned set_register(const ntr_graph *g, uint32_t at, bool *constant) {
    uint32_t insn = g->insns[at].size <= 4 ? ntr_expand(g->insns[at].bits, g->xlen) : 0;
    unsigned rd = insn >> 7 & 31, rs1 = insn >> 15 & 31, funct3 = insn >> 12 & 7;
    const bool add = (insn & 0x7f) == NTR_OPCODE_OP_IMM && funct3 == 0, move = add && insn >> 20 == 0;
    *constant = add && rs1 == 0;
    return *constant || ((move || (insn & 0x7f) == NTR_OPCODE_LOAD) && rs1 != rd) ? rd : 0;
}

static bool is_in(const uint32_t *list, unsigned count, uint32_t at) {
    for (unsigned i = 0; i < count; i++)
        if (list[i] == at) return true;
    return false;
}

bool ntr_matcher_sets_apart(const ntr_graph *g, uint32_t exit, uint32_t opposite) {
    uint32_t here[SET_MAX], there[SET_MAX];
    unsigned count = list_straight(g, exit, here), others = list_straight(g, opposite, there);
    bool constant, other_constant;
    for (unsigned i = 0; i < count; i++) {
        unsigned rd = is_in(there, others, here[i]) ? 0 : set_register(g, here[i], &constant);
        for (unsigned k = 0; rd && constant && k < others; k++)
            if (!is_in(here, count, there[k]) && set_register(g, there[k], &other_constant) == rd &&
                g->insns[there[k]].bits != g->insns[here[i]].bits)
                return true;
    }
    return false;
}

/* ---- Results of which the source is one call of a function that never returns.
 *
 * In a macro, all code has one place, and the line table does not show which outcome of the last branch leads where.
 * Example: assert(a && b) is a && b ? (void)0 : __assert_fail(...). The result of which straight code leads to this
 * call is the one that has it in the source, if the other result has no such call. */

enum { CALL_STEPS_MAX = 64 };

/* Returns whether the function at an address has this symbol. */
static bool is_named(const ntr_graph *g, uint64_t address, const char *name) {
    ntr_symbol symbol;
    const size_t length = strlen(name);
    if (ntr_program_symbol(g->program, ntr_graph_place(g, address), &symbol) != NTR_OK || symbol.address != address)
        return false;
    return strncmp(symbol.name, name, length) == 0 &&
           (!symbol.name[length] || symbol.name[length] == '@'); /* abort@plt */
}

bool ntr_matcher_ends_in_call(const ntr_matcher *x, uint32_t exit, bool result) {
    const ntr_graph *g = x->match->graph;
    const char *const *called = x->match->record->called;
    if (!called[result] || (called[!result] && strcmp(called[0], called[1]) == 0)) return false;
    uint32_t at = ntr_graph_thread(g, exit);
    for (unsigned i = 0; i < CALL_STEPS_MAX && at < g->count; i++) {
        if (g->insns[at].last_call) return is_named(g, g->insns[at].last_call, called[result]);
        if (g->insns[at].flow != NTR_FLOW_LINEAR) return false;
        at = ntr_graph_thread(g, at + 1);
    }
    return false;
}

/* ---- Results that the code stores.
 *
 * The value of a decision that is returned or stored as it is becomes 0 or 1 in a register, by an instruction that the
 * line table places inside of the decision. Behind an outcome that decides the result, such an instruction sets nothing
 * else: all conditions were evaluated. It must not be reached without the branches of the decision, as the constant
 * argument of a call in a condition is, at the begin of a loop. Example: return f() && g(); as call f; beqz A0, L; call
 * g; beqz A0, L; li A0, 1; L: ret -- g() is true when the second branch is not taken. */

enum { VALUE_STEPS_MAX = 8 };

/* Returns whether the line table places an instruction inside of the decision, which is not inlined there. */
static bool is_placed(const ntr_match *m, uint32_t at) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const size_t count =
        ntr_debug_info_frames(m->debug, ntr_graph_place(m->graph, m->graph->insns[at].address), frames, NTR_FRAMES_MAX);
    return count && frames[0].line && ntr_extent_has(&m->record->extent, frames[0].line, frames[0].column);
}

/* Returns the constant 0 or 1 that an instruction sets, or NTR_NOT_KNOWN. */
static int constant_of(const ntr_graph *g, uint32_t at) {
    const uint32_t insn = g->insns[at].size <= 4 ? ntr_expand(g->insns[at].bits, g->xlen) : 0;
    const bool is_li =
        (insn & 0x7f) == NTR_OPCODE_OP_IMM && (insn >> 12 & 7) == 0 && (insn >> 15 & 31) == 0 && (insn >> 7 & 31) != 0;
    return is_li && insn >> 20 <= 1 ? (int)(insn >> 20) : NTR_NOT_KNOWN;
}

/* Returns whether an instruction is reached without the branches of the decision, which are marked. */
static bool is_entered(ntr_graph *g, uint32_t at) {
    g->insns[at].anchor = true;
    const bool entered = ntr_graph_enters_anchor(g);
    g->insns[at].anchor = false;
    return entered;
}

int ntr_matcher_value_at(const ntr_matcher *x, uint32_t exit) {
    const ntr_match *m = x->match;
    ntr_graph *g = m->graph;
    if (!m->record->direct || !m->kind.gnu || !m->kind.debug) return NTR_NOT_KNOWN;
    uint32_t at = ntr_graph_thread(g, exit);
    for (unsigned i = 0; i < VALUE_STEPS_MAX && at < g->count && g->insns[at].flow == NTR_FLOW_LINEAR; i++) {
        const int value = constant_of(g, at);
        if (value != NTR_NOT_KNOWN && is_placed(m, at)) {
            ntr_match_mark(m, true);
            const bool entered = is_entered(g, at);
            ntr_match_mark(m, false);
            return entered ? NTR_NOT_KNOWN : value;
        }
        at = ntr_graph_thread(g, at + 1);
    }
    return NTR_NOT_KNOWN;
}

/* ---- Which outcome of a branch is true, by the statements that can be executed after it.
 *
 * Idea: the body of an `if` is executed when the decision is true, and what it skips when the decision is false, both
 * before the decision is evaluated again. When code where such a statement begins is reached from one outcome of the
 * branch without passing a branch of the decision, and from the other outcome it is not, then the first outcome has the
 * result of the statement. If each outcome reaches a statement that the other does not reach, nothing is known.
 * Example: if (s) return s; f(); -- `return s` may have no code of its own. f() is reached only from the outcome that
 * is false. */

/* Returns whether some statement is reached from one outcome and not from the other. */
static bool reaches_alone(const ntr_matcher *x, size_t i, bool taken, const ntr_extent *extent) {
    const ntr_match *m = x->match;
    uint64_t at = m->graph->low;
    ntr_graph_reach(m->graph, x->after[i][taken]);
    const uint32_t mark = m->graph->mark; /* the other search overwrites it where it comes, too */
    ntr_graph_reach(m->graph, x->after[i][!taken]);
    for (; ntr_statements_find(m->statements, &at, m->graph->high, m->record->path, extent); at++) {
        const uint32_t insn = ntr_graph_at(m->graph, at);
        if (insn != NTR_GRAPH_OUTSIDE && m->graph->insns[insn].visited == mark) return true;
    }
    return false;
}

/* The same of an extent: only this outcome does. Other statements may share code with some of it, such as `return`, so
 * that both outcomes lead there. */
static bool reaches(const ntr_matcher *x, size_t i, bool taken, const ntr_extent *extent) {
    const ntr_decision_record *r = x->match->record;
    if (!extent->line || ntr_extent_has(extent, r->extent.line, r->extent.column)) return false; /* one macro */
    return reaches_alone(x, i, taken, extent) && !reaches_alone(x, i, !taken, extent);
}

bool ntr_matcher_reaches(const ntr_matcher *x, size_t i, bool taken, bool result) {
    const ntr_decision_record *r = x->match->record;
    if (!x->match->kind.gnu || !x->match->kind.debug) return false;
    ntr_match_mark(x->match, true);
    const bool found =
        reaches(x, i, taken, &r->when[result]) || (r->rest_when == result && reaches(x, i, taken, &r->rest));
    ntr_match_mark(x->match, false);
    return found;
}

int ntr_matcher_by_reach(const ntr_matcher *x, size_t i) {
    const bool true_result = x->match->record->flow[x->best.condition[i]].next[1] == NTR_RESULT_TRUE;
    bool votes[2] = {false, false}; /* by the value of the condition when the branch is taken */
    for (unsigned taken = 0; taken < 2; taken++)
        for (unsigned result = 0; result < 2; result++)
            if (ntr_matcher_reaches(x, i, taken, result)) votes[(result == true_result) == taken] = true;
    if (votes[0] == votes[1]) return NTR_NOT_KNOWN;
    return votes[1];
}
