/* Whether code can pass by a decision.
 *
 * A compiler that knows the result of a decision on some path may lead this path past its branches. Such an evaluation
 * leaves no trace. In the control-flow graph it is an edge that arrives where a result leads, and does not come from
 * the branches.
 *
 * Idea: remove the branches of the decision from the graph. Then nothing of where its results lead must be reachable,
 * neither from the entries of the function nor from what follows the results. Two ways are in the source: the body of
 * an `if` without `else` goes on where the result false leads, and the body of `do` is executed before its condition.
 * The first block behind a result may be copied to such a path, or be passed too, when it only sets registers and tests
 * what the decision has tested or what was set. So what follows such a block is examined like the block, and again when
 * more leads there. Example: if (a && b) f(); g(); -- f is reached only from the branches, g from the branches and from
 * f. A path that knows that a is 0 and jumps to g by itself would be seen here. */
#include "decision/matcher.h"

/* ---- branches that test what the decision has tested ------------------------------------------- */

/* Returns the register (bit R) of before the block that a branch tests as `reg`. A word of the stack frame may be any
 * of them; what the block itself loads or computes is none of them. */
static uint32_t tested(const ntr_graph *g, uint32_t branch, unsigned reg) {
    for (uint32_t at = branch;
         reg && at && !g->insns[at].is_target && !g->insns[at].entry && g->insns[at - 1].flow == NTR_FLOW_LINEAR;) {
        const uint32_t insn = ntr_expand(g->insns[--at].bits, g->xlen), opcode = insn & 0x7f, rs1 = insn >> 15 & 31;
        if (!insn) return UINT32_MAX;
        if (opcode == NTR_OPCODE_STORE || (insn >> 7 & 31) != reg) continue;
        if (opcode == NTR_OPCODE_LOAD && (rs1 == NTR_REGISTER_SP || rs1 == NTR_REGISTER_FP)) return UINT32_MAX;
        if (!ntr_is_move(insn, &reg)) return 0;
    }
    return reg ? UINT32_C(1) << reg : 0;
}

static uint32_t tested_by(const ntr_graph *g, uint32_t branch) {
    const uint32_t insn = ntr_expand(g->insns[branch].bits, g->xlen);
    return tested(g, branch, insn >> 15 & 31) | tested(g, branch, insn >> 20 & 31);
}

/* The same of the decision, with the registers themselves: they keep their values behind it. */
static uint32_t tested_before(const ntr_graph *g) {
    uint32_t registers = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const uint32_t insn = g->insns[i].candidate ? ntr_expand(g->insns[i].bits, g->xlen) : 0;
        if (insn) registers |= tested_by(g, i) | UINT32_C(1) << (insn >> 15 & 31) | UINT32_C(1) << (insn >> 20 & 31);
    }
    return registers & ~UINT32_C(1);
}

/* ---- places ------------------------------------------------------------------------------------ */

enum { RESULT_PLACES_MAX = 32 };

/* A place to which results lead. */
typedef struct result_place {
    uint32_t at;
    uint32_t before;  /* set of places that lead here without effects: code of a result may copy their code */
    uint8_t results;  /* bit R: the result R leads here */
    uint32_t set;     /* registers that are set on the way */
} result_place;

typedef struct result_places {
    result_place items[RESULT_PLACES_MAX];
    size_t count;
    bool too_many, changed;
} result_places;

static void add(result_places *places, uint32_t at, const result_place *from) {
    size_t i = 0;
    while (i < places->count && places->items[i].at != at) i++;
    if (i == RESULT_PLACES_MAX) {
        places->too_many = true;
        return;
    }
    if (i == places->count) places->items[places->count++] = (result_place){.at = at};
    result_place *own = &places->items[i];
    const result_place all = {at, own->before | from->before, own->results | from->results, own->set | from->set};
    places->changed |= all.before != own->before || all.results != own->results || all.set != own->set;
    *own = all;
}

/* Compilers copy the end of a function: one return stands for all. */
static void add_returns(const ntr_graph *g, result_places *places, const result_place *from) {
    for (uint32_t at = 0; at < g->count; at++)
        if (g->insns[at].flow == NTR_FLOW_RETURN) add(places, at, from);
}

/* Adds what follows a place, if the code up to there has no effects except on registers, and a compiler that knows the
 * result may know the outcome of the branch at its end. */
static void add_following(const ntr_graph *g, result_places *places, size_t index, uint32_t registers) {
    result_place from = places->items[index];
    from.before = UINT32_C(1) << index;
    for (uint32_t at = from.at; at < g->count; at++) {
        const ntr_graph_insn *insn = &g->insns[at];
        const uint32_t bits = ntr_expand(insn->bits, g->xlen);
        if (at != from.at && insn->is_target) {
            add(places, at, &from);
            return;
        }
        if (insn->flow == NTR_FLOW_BRANCH && !insn->candidate && (tested_by(g, at) & (registers | from.set)) != 0)
            for (unsigned taken = 0; taken < 2; taken++)
                add(places, ntr_graph_thread(g, ntr_graph_after(g, at, taken)), &from);
        if (insn->flow == NTR_FLOW_RETURN) add_returns(g, places, &from);
        if (insn->flow == NTR_FLOW_DIRECT_JUMP) add(places, ntr_graph_thread(g, at), &from);
        if (insn->flow != NTR_FLOW_LINEAR || !bits || (bits & 0x7f) == NTR_OPCODE_STORE) return;
        from.set |= UINT32_C(1) << (bits >> 7 & 31);
    }
}

static void list_places(const ntr_graph *g, const ntr_result_exits *exits, result_places *places) {
    const uint32_t registers = tested_before(g);
    *places = (result_places){.count = 0};
    for (unsigned result = 0; result < 2; result++)
        for (size_t i = 0; i < exits->count[result]; i++)
            add(places, exits->at[result][i], &(result_place){.results = (uint8_t)(1u << result)});
    do {
        places->changed = false;
        for (size_t i = 0; i < places->count; i++)
            if (places->items[i].at < g->count) add_following(g, places, i, registers);
    } while (places->changed);
}

/* Returns whether the source leads from one place to another one without an evaluation in between. */
static bool is_in_source(const ntr_decision_record *r, const result_places *places, size_t from, size_t to) {
    enum { ONLY_FALSE = 1, ONLY_TRUE = 2 };
    const result_place *a = &places->items[from], *b = &places->items[to];
    if (b->before >> from & 1) return true;
    if (r->falls == NTR_FALLS_TRUE && a->results == ONLY_TRUE && b->results & ONLY_FALSE) return true;
    if (r->falls == NTR_FALLS_FALSE && a->results == ONLY_FALSE && b->results & ONLY_TRUE) return true;
    return r->repeats && a->results == ONLY_FALSE && b->results == ONLY_TRUE && !b->before;
}

static void set_marks(ntr_graph *g, const result_places *places, bool barrier) {
    for (size_t i = 0; i < places->count; i++) {
        g->insns[places->items[i].at].barrier = barrier;
        g->insns[places->items[i].at].anchor = false;
    }
}

static bool entered(ntr_graph *g, const ntr_decision_record *r, const result_places *places) {
    enum { ONLY_TRUE = 2 };
    for (size_t i = 0; i < places->count; i++) {
        const result_place *p = &places->items[i];
        g->insns[p->at].anchor = !(r->repeats && p->results == ONLY_TRUE && !p->before);
    }
    return ntr_graph_enters_anchor(g);
}

static bool left(ntr_graph *g, const ntr_decision_record *r, const result_places *places, size_t from) {
    for (size_t i = 0; i < places->count; i++) g->insns[places->items[i].at].anchor = !is_in_source(r, places, from, i);
    return ntr_graph_leaves_to_anchor(g, places->items[from].at);
}

bool ntr_matcher_bypassed(ntr_graph *g, const ntr_decision_record *r, const ntr_result_exits *exits) {
    result_places places;
    list_places(g, exits, &places);
    if (places.too_many) return true;
    for (size_t i = 0; i < places.count; i++)
        if (places.items[i].at >= g->count) return true;
    set_marks(g, &places, true);
    bool bypassed = entered(g, r, &places);
    for (size_t i = 0; i < places.count && !bypassed; i++) bypassed = left(g, r, &places, i);
    set_marks(g, &places, false);
    return bypassed;
}
