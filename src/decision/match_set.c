/* Whether equal code proves equal results.
 *
 * Two outcomes that lead to the same code may have different results, when a register has the result already. Example:
 * in s = s && f(), the outcomes `s is false` and `f() is true` lead to the same code, and s keeps its value, 0 or 1.
 * Equal code is a proof where it sets a register to a constant that the code of the opposite result sets in another
 * way. */
#include "decision/expand.h"
#include "decision/matcher.h"

enum { SET_MAX = 4 };

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
