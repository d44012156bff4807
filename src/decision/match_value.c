/* Results that the code stores.
 *
 * The value of a decision that is returned or stored as it is becomes 0 or 1 in a register, by an instruction that the
 * line table places inside of the decision. Behind an outcome that decides the result, such an instruction sets nothing
 * else: all conditions were evaluated. It must not be reached without the branches of the decision, as the constant
 * argument of a call in a condition is, at the begin of a loop. Example: return f() && g(); as call f; beqz A0, L; call
 * g; beqz A0, L; li A0, 1; L: ret -- g() is true when the second branch is not taken. */
#include "decision/expand.h"
#include "decision/matcher.h"

enum { VALUE_STEPS_MAX = 8 };

/* Returns whether the line table places an instruction inside of the decision, which is not inlined there. */
static bool is_placed(const ntr_match *m, uint32_t at) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const size_t count = ntr_debug_info_frames(m->debug, NULL, m->graph->insns[at].address, frames, NTR_FRAMES_MAX);
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
