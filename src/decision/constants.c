#include "decision/constants.h"

#include "decision/expand.h"
#include "decision/values.h"

enum { FOLLOWED_MAX = 48 };

/* A register that is compared with zero is zero after one of the outcomes. */
static void know_operand(ntr_values *k, uint32_t insn, bool taken) {
    unsigned rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31, funct3 = insn >> 12 & 7;
    if ((insn & 0x7f) != NTR_OPCODE_BRANCH || funct3 > 1 || (rs1 && rs2)) return;
    if (taken == (funct3 == 0) && (rs1 | rs2)) ntr_values_set(k, rs1 | rs2, true, 0);
}

static uint32_t expanded(const ntr_graph *g, uint32_t at) {
    return ntr_expand(g->insns[at].bits, g->xlen);
}

/* Executes straight code. What follows an instruction with an unknown effect begins with no known values. */
static void execute_straight(const ntr_graph *g, ntr_values *k, uint32_t from, uint32_t to) {
    for (uint32_t at = from; at < to; at++) {
        uint32_t bits = g->insns[at].size <= 4 ? expanded(g, at) : 0;
        if (g->insns[at].flow != NTR_FLOW_LINEAR || !bits || !ntr_values_execute(k, bits)) *k = (ntr_values){.xlen = g->xlen};
    }
}

uint32_t ntr_constants_follow(const ntr_graph *g, uint32_t from, uint32_t branch, bool taken, ntr_passed *passed) {
    ntr_values k = {.xlen = g->xlen};
    uint32_t arrived = ntr_graph_after(g, branch, taken), at = arrived;
    passed->count = 0;
    execute_straight(g, &k, from, branch);
    know_operand(&k, expanded(g, branch), taken);
    for (unsigned i = 0; i < FOLLOWED_MAX && at < g->count; i++) {
        const ntr_graph_insn *insn = &g->insns[at];
        uint32_t bits = insn->size <= 4 ? expanded(g, at) : 0;
        if (insn->flow == NTR_FLOW_DIRECT_JUMP) {
            at = insn->target;
        } else if (insn->flow == NTR_FLOW_BRANCH) {
            unsigned rs1 = bits >> 15 & 31, rs2 = bits >> 20 & 31;
            if (!insn->joint || (bits & 0x7f) != NTR_OPCODE_BRANCH || (bits >> 13 & 3) == 1 || passed->count == NTR_PASSED_MAX) break;
            if (!ntr_values_is_known(&k, rs1) || !ntr_values_is_known(&k, rs2)) break;
            bool known = ntr_values_taken(bits, ntr_values_get(&k, rs1), ntr_values_get(&k, rs2));
            passed->at[passed->count] = at;
            passed->taken[passed->count++] = known;
            at = arrived = ntr_graph_after(g, at, known);
        } else if (insn->flow != NTR_FLOW_LINEAR || !bits || !ntr_values_execute(&k, bits)) {
            break;
        } else {
            at++;
        }
    }
    return arrived;
}
