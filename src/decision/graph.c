#include "base/bytes.h"
#include "decision/graph.h"

#include "base/allocator.h"
#include "decision/expand.h"
#include "decision/noreturn.h"

enum { THREAD_MAX = 16, GRAPH_BYTES_MAX = 1 << 22 };

static bool falls_through(const ntr_graph_insn *insn) {
    if (insn->last_call) return false;
    switch ((ntr_flow)insn->flow) {
    case NTR_FLOW_LINEAR:
    case NTR_FLOW_BRANCH:
    case NTR_FLOW_DIRECT_CALL:
    case NTR_FLOW_INDIRECT_CALL:
    case NTR_FLOW_CO_SWAP:
    case NTR_FLOW_TRAP: return true;
    default: return false;
    }
}

/* Resolves the targets, and marks the entries: what neither follows an instruction nor is a direct target. */
static void link_targets(ntr_graph *g) {
    for (size_t i = 0; i < g->count; i++) {
        ntr_graph_insn *insn = &g->insns[i];
        insn->entry = i == 0 || !falls_through(&g->insns[i - 1]);
        if (insn->target == 0) insn->target = ntr_graph_at(g, g->low + insn->visited);
    }
    for (size_t i = 0; i < g->count; i++) {
        if (g->insns[i].target != NTR_GRAPH_OUTSIDE && g->insns[i].target != 0) {
            g->insns[g->insns[i].target].entry = false;
            g->insns[g->insns[i].target].is_target = true;
        }
        g->insns[i].visited = 0;
    }
}

/* Continues a search: instructions with the current mark were visited. Stores whether an anchor was among them. */
static uint64_t reach(ntr_graph *g, uint32_t at, bool *anchor) {
    uint64_t reached = 0;
    size_t used = 0;
    if (at != NTR_GRAPH_OUTSIDE) g->stack[used++] = at;
    while (used) {
        uint32_t index = g->stack[--used];
        for (; index < g->count && g->insns[index].visited != g->mark; index++) {
            ntr_graph_insn *insn = &g->insns[index];
            insn->visited = g->mark;
            *anchor |= insn->anchor;
            if (insn->candidate) {
                reached |= UINT64_C(1) << (insn->candidate - 1);
                break;
            }
            if (insn->barrier) break;
            if (insn->target != NTR_GRAPH_OUTSIDE) g->stack[used++] = insn->target;
            if (!falls_through(insn)) break;
        }
    }
    return reached;
}

/* A jump table may lead into code that nothing else leads to, for example to the condition of a loop, which its body
 * falls into. The begin of such code counts as an entry. */
static void enter_by_tables(ntr_graph *g) {
    bool anchor = false, table = false;
    for (size_t i = 0; i < g->count; i++) table |= g->insns[i].flow == NTR_FLOW_INDIRECT_JUMP;
    if (!table) return;
    ntr_graph_reach_first(g);
    for (size_t i = 0; i < g->count; i++) {
        if (g->insns[i].visited == g->mark) continue;
        g->insns[i].entry = true;
        reach(g, (uint32_t)i, &anchor);
    }
}

/* Returns the function that the last instruction calls, also by AUIPC and JALR; 0: not known. */
static uint64_t called_by(const ntr_graph *g, const ntr_insn *insn) {
    if (insn->flow == NTR_FLOW_DIRECT_CALL) return insn->target;
    if (insn->flow != NTR_FLOW_INDIRECT_CALL || g->count < 2) return 0;
    const uint32_t jalr = g->insns[g->count - 1].bits, auipc = g->insns[g->count - 2].bits;
    if ((jalr & 0x7f) != NTR_OPCODE_JALR || (auipc & 0x7f) != NTR_OPCODE_AUIPC ||
        (jalr >> 15 & 31) != (auipc >> 7 & 31))
        return 0;
    const int64_t high = (int32_t)(auipc & 0xfffff000u), low = (int32_t)jalr >> 20;
    return g->insns[g->count - 2].address + (uint64_t)(high + low);
}

ntr_status ntr_graph_make(ntr_graph *g, const ntr_program *program, ntr_debug_info *debug, uint64_t low,
                          uint64_t high) {
    ntr_insn insn;
    g->program = program;
    g->low = low;
    g->high = high;
    g->count = 0;
    g->mark = 0;
    g->xlen = ntr_program_xlen(program) == 32 ? 32 : 64;
    if (high - low > GRAPH_BYTES_MAX) high = low;
    uint64_t at = low;
    size_t capacity = g->capacity;
    for (; at < high && ntr_program_insn(program, NULL, NTR_POSITION_ANY, at, &insn) == NTR_OK; at += insn.size) {
        if (ntr_reserve(g->allocator, (void **)&g->insns, &g->capacity, g->count + 1, sizeof *g->insns))
            return NTR_E_MEMORY;
        uint8_t bytes[4] = {0};
        ntr_program_read(program, NULL, NTR_POSITION_ANY, at, bytes, insn.size < 4 ? insn.size : 4);
        uint32_t bits = ntr_little_32(bytes);
        bool direct = insn.flow == NTR_FLOW_BRANCH || insn.flow == NTR_FLOW_DIRECT_JUMP;
        g->insns[g->count++] = (ntr_graph_insn){.address = at,
                                                .bits = bits,
                                                .size = insn.size,
                                                .flow = insn.flow,
                                                .target = direct ? 0 : NTR_GRAPH_OUTSIDE};
        if (direct) g->insns[g->count - 1].visited = (uint32_t)(insn.target - low); /* until the second pass */
        const uint64_t called = called_by(g, &insn);
        if (called && ntr_never_returns(program, debug, called)) g->insns[g->count - 1].last_call = called;
        if (direct && (insn.target < low || insn.target >= high)) g->insns[g->count - 1].target = NTR_GRAPH_OUTSIDE;
    }
    link_targets(g);
    if (g->capacity != capacity || !g->stack) {
        ntr_dealloc(g->allocator, g->stack);
        g->stack = ntr_alloc(g->allocator, 2 * g->capacity + 2, sizeof *g->stack);
    }
    if (!g->stack) return NTR_E_MEMORY;
    enter_by_tables(g);
    return NTR_OK;
}

void ntr_graph_release(ntr_graph *g) {
    ntr_dealloc(g->allocator, g->insns);
    ntr_dealloc(g->allocator, g->stack);
    g->insns = NULL;
    g->stack = NULL;
}

uint32_t ntr_graph_at(const ntr_graph *g, uint64_t address) {
    size_t low = 0, high = g->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->insns[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->count && g->insns[low].address == address ? (uint32_t)low : NTR_GRAPH_OUTSIDE;
}

/* Returns whether straight code leads from a branch to its target, which is the choice between two values, or to an
 * indirect jump, which is that of a switch. */
static bool needs_no_jump(const ntr_graph *g, size_t branch) {
    enum { STRAIGHT_MAX = 16 };
    for (size_t i = branch + 1; i < g->count && i <= branch + STRAIGHT_MAX; i++) {
        if (i == g->insns[branch].target || g->insns[i].flow == NTR_FLOW_INDIRECT_JUMP) return true;
        if (g->insns[i].flow != NTR_FLOW_LINEAR) return false;
    }
    return false;
}

bool ntr_graph_unoptimized(const ntr_graph *g) {
    bool all = true, to_next = false, after_branch = false;
    for (size_t i = 0; i < g->count; i++) {
        bool jump_follows = i + 1 < g->count && g->insns[i + 1].flow == NTR_FLOW_DIRECT_JUMP;
        bool branch = g->insns[i].flow == NTR_FLOW_BRANCH;
        if (branch && !jump_follows && !needs_no_jump(g, i)) return false;
        all = all && (!branch || jump_follows);
        bool useless = g->insns[i].flow == NTR_FLOW_DIRECT_JUMP && g->insns[i].target == i + 1;
        to_next |= useless;
        after_branch |= useless && i && g->insns[i - 1].flow == NTR_FLOW_BRANCH;
    }
    return all ? to_next : after_branch;
}

uint32_t ntr_graph_after(const ntr_graph *g, uint32_t branch, bool taken) {
    if (taken) return g->insns[branch].target;
    return branch + 1 < g->count ? branch + 1 : NTR_GRAPH_OUTSIDE;
}

uint64_t ntr_graph_reach(ntr_graph *g, uint32_t at) {
    bool anchor = false;
    g->mark++;
    return reach(g, at, &anchor);
}

bool ntr_graph_enters_anchor(ntr_graph *g) {
    bool anchor = false;
    g->mark++;
    for (size_t i = 0; i < g->count; i++)
        if (g->insns[i].entry && g->insns[i].visited != g->mark) reach(g, (uint32_t)i, &anchor);
    return anchor;
}

bool ntr_graph_leaves_to_anchor(ntr_graph *g, uint32_t at) {
    bool anchor = false;
    g->mark++;
    if (falls_through(&g->insns[at]) && at + 1 < g->count) reach(g, at + 1, &anchor);
    if (g->insns[at].target != NTR_GRAPH_OUTSIDE && g->insns[at].flow != NTR_FLOW_DIRECT_CALL)
        reach(g, g->insns[at].target, &anchor);
    return anchor;
}

uint64_t ntr_graph_reach_first(ntr_graph *g) {
    uint64_t reached = 0;
    bool anchor = false;
    g->mark++;
    for (size_t i = 0; i < g->count; i++)
        if (g->insns[i].entry && g->insns[i].visited != g->mark) reached |= reach(g, (uint32_t)i, &anchor);
    return reached;
}

uint32_t ntr_graph_thread(const ntr_graph *g, uint32_t at) {
    for (unsigned i = 0; i < THREAD_MAX && at < g->count; i++) {
        if (g->insns[at].flow != NTR_FLOW_DIRECT_JUMP || g->insns[at].target == NTR_GRAPH_OUTSIDE) break;
        at = g->insns[at].target;
    }
    return at;
}

bool ntr_graph_same(const ntr_graph *g, uint32_t a, uint32_t b) {
    for (unsigned i = 0; i < THREAD_MAX; i++, a++, b++) {
        a = ntr_graph_thread(g, a);
        b = ntr_graph_thread(g, b);
        if (a >= g->count || b >= g->count) return false;
        if (a == b) return true;
        if (g->insns[a].bits != g->insns[b].bits || g->insns[a].size != g->insns[b].size) return false;
        if (g->insns[a].flow == NTR_FLOW_RETURN) return true;
        if (g->insns[a].flow != NTR_FLOW_LINEAR) return false;
    }
    return false;
}
