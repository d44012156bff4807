#include "decision/constants.h"

#include "decision/expand.h"
#include "decision/values.h"

enum { FOLLOWED_MAX = 48 };

/* Returns the register that an instruction sets, 0 for none. */
static unsigned set_by(const ntr_graph_insn *insn, uint32_t bits) {
    const uint32_t opcode = bits & 0x7f;
    return insn->flow == NTR_FLOW_BRANCH || !bits || opcode == NTR_OPCODE_STORE ? 0 : bits >> 7 & 31;
}

/* A register that is compared with zero is zero after one of the outcomes. */
static void know_operand(ntr_values *k, uint32_t insn, bool taken) {
    unsigned rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31, funct3 = insn >> 12 & 7;
    if ((insn & 0x7f) != NTR_OPCODE_BRANCH || funct3 > 1 || (rs1 && rs2)) return;
    if (taken == (funct3 == 0) && (rs1 | rs2)) ntr_values_set(k, rs1 | rs2, true, 0);
}

static uint32_t expanded(const ntr_graph *g, uint32_t at) {
    return ntr_expand(g->insns[at].bits, g->xlen);
}

/* Executes straight code, with branches that are not taken. What follows an instruction with an unknown effect begins
 * with no known values. */
static void execute_straight(const ntr_graph *g, ntr_values *k, uint32_t from, uint32_t to, uint32_t *set) {
    for (uint32_t at = from; at < to; at++) {
        uint32_t bits = g->insns[at].size <= 4 ? expanded(g, at) : 0;
        *set |= UINT32_C(1) << set_by(&g->insns[at], bits);
        if (g->insns[at].flow == NTR_FLOW_BRANCH)
            know_operand(k, bits, false);
        else if (g->insns[at].flow != NTR_FLOW_LINEAR || !bits || !ntr_values_execute(k, bits))
            *k = (ntr_values){.xlen = g->xlen};
    }
}

uint32_t ntr_constants_follow(const ntr_graph *g, uint32_t from, uint32_t branch, bool taken, ntr_passed *passed) {
    ntr_values k = {.xlen = g->xlen};
    uint32_t arrived = ntr_graph_after(g, branch, taken), at = arrived;
    uint32_t set = 0; /* registers */
    passed->count = 0;
    passed->unset = NTR_GRAPH_OUTSIDE;
    execute_straight(g, &k, from, branch, &set);
    know_operand(&k, expanded(g, branch), taken);
    for (unsigned i = 0; i < FOLLOWED_MAX && at < g->count; i++) {
        const ntr_graph_insn *insn = &g->insns[at];
        uint32_t bits = insn->size <= 4 ? expanded(g, at) : 0;
        if (insn->flow == NTR_FLOW_DIRECT_JUMP) {
            at = insn->target;
        } else if (insn->flow == NTR_FLOW_BRANCH) {
            unsigned rs1 = bits >> 15 & 31, rs2 = bits >> 20 & 31;
            if (!insn->joint || (bits & 0x7f) != NTR_OPCODE_BRANCH || (bits >> 13 & 3) == 1 ||
                passed->count == NTR_PASSED_MAX)
                break;
            if (!ntr_values_is_known(&k, rs1) || !ntr_values_is_known(&k, rs2)) {
                if (!(set & ~UINT32_C(1) & (UINT32_C(1) << rs1 | UINT32_C(1) << rs2))) passed->unset = at;
                break;
            }
            bool known = ntr_values_taken(bits, ntr_values_get(&k, rs1), ntr_values_get(&k, rs2));
            passed->at[passed->count] = at;
            passed->taken[passed->count++] = known;
            at = arrived = ntr_graph_after(g, at, known);
        } else if (insn->flow != NTR_FLOW_LINEAR || !bits || !ntr_values_execute(&k, bits)) {
            break;
        } else {
            set |= UINT32_C(1) << set_by(insn, bits);
            at++;
        }
    }
    return arrived;
}
