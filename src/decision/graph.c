#include "decision/graph.h"
#include "analysis/never_returns.h"
#include "base/allocator.h"
#include "base/bytes.h"

#include <ntrace/debug_info.h>

#include <string.h>

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

uint64_t ntr_graph_called(const ntr_graph *g, uint32_t at) {
    if (g->insns[at].flow != NTR_FLOW_INDIRECT_CALL || at < 1) return 0;
    const uint32_t jalr = g->insns[at].bits, auipc = g->insns[at - 1].bits;
    if ((jalr & 0x7f) != NTR_OPCODE_JALR || (auipc & 0x7f) != NTR_OPCODE_AUIPC ||
        (jalr >> 15 & 31) != (auipc >> 7 & 31))
        return 0;
    const int64_t high = (int32_t)(auipc & 0xfffff000u), low = (int32_t)jalr >> 20;
    return g->insns[at - 1].address + (uint64_t)(high + low);
}

ntr_place ntr_graph_place(const ntr_graph *g, uint64_t address) {
    return ntr_place_at(g->place.context, g->place.position, address);
}

ntr_status ntr_graph_make(ntr_graph *g, const ntr_program *program, ntr_debug_info *debug, ntr_place place,
                          uint64_t high) {
    const uint64_t low = place.address;
    ntr_insn insn;
    g->program = program;
    g->place = place;
    g->low = low;
    g->high = high;
    g->count = 0;
    g->mark = 0;
    g->xlen = ntr_program_xlen(program) == 32 ? 32 : 64;
    if (high - low > GRAPH_BYTES_MAX) high = low;
    uint64_t at = low;
    size_t capacity = g->capacity;
    for (; at < high && ntr_program_insn(program, ntr_graph_place(g, at), &insn) == NTR_OK; at += insn.size) {
        if (ntr_reserve(g->allocator, (void **)&g->insns, &g->capacity, g->count + 1, sizeof *g->insns))
            return NTR_E_MEMORY;
        uint8_t bytes[4] = {0};
        ntr_program_read(program, ntr_graph_place(g, at), bytes, insn.size < 4 ? insn.size : 4);
        uint32_t bits = ntr_little_32(bytes);
        bool direct = insn.flow == NTR_FLOW_BRANCH || insn.flow == NTR_FLOW_DIRECT_JUMP;
        g->insns[g->count++] = (ntr_graph_insn){.address = at,
                                                .bits = bits,
                                                .size = insn.size,
                                                .flow = insn.flow,
                                                .target = direct ? 0 : NTR_GRAPH_OUTSIDE};
        if (direct) g->insns[g->count - 1].visited = (uint32_t)(insn.target - low); /* until the second pass */
        const uint64_t called =
            insn.flow == NTR_FLOW_DIRECT_CALL ? insn.target : ntr_graph_called(g, (uint32_t)g->count - 1);
        if (called && ntr_never_returns(program, debug, ntr_graph_place(g, called)))
            g->insns[g->count - 1].last_call = called;
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

bool ntr_graph_reaches_anchor(ntr_graph *g, uint32_t at) {
    bool anchor = false;
    g->mark++;
    reach(g, at, &anchor);
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

/* ---- compressed instructions */

static uint32_t field(uint32_t bits, unsigned from, unsigned width, unsigned to) {
    return (bits >> from & ((1u << width) - 1)) << to;
}

static uint32_t sign_extend(uint32_t value, unsigned width) {
    return (value ^ 1u << (width - 1)) - (1u << (width - 1));
}

static uint32_t i_type(unsigned opcode, unsigned funct3, unsigned rd, unsigned rs1, uint32_t imm) {
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (imm & 0xfff) << 20;
}

static uint32_t r_type(unsigned opcode, unsigned funct3, unsigned funct7, unsigned rd, unsigned rs1, unsigned rs2) {
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct7 << 25;
}

static uint32_t s_type(unsigned funct3, unsigned rs1, unsigned rs2, uint32_t imm) {
    return NTR_OPCODE_STORE | (imm & 0x1f) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | (imm >> 5 & 0x7f) << 25;
}

static uint32_t imm6(uint32_t c) {
    return field(c, 2, 5, 0) | field(c, 12, 1, 5);
}

static uint32_t word_offset(uint32_t c) {
    return field(c, 6, 1, 2) | field(c, 10, 3, 3) | field(c, 5, 1, 6);
}

static uint32_t double_offset(uint32_t c) {
    return field(c, 10, 3, 3) | field(c, 5, 2, 6);
}

static uint32_t quadrant_0(uint32_t c, unsigned xlen) {
    unsigned low = 8 + (c >> 2 & 7), high = 8 + (c >> 7 & 7);
    uint32_t stack = field(c, 6, 1, 2) | field(c, 5, 1, 3) | field(c, 11, 2, 4) | field(c, 7, 4, 6);
    switch (c >> 13 & 7) {
    case 0: return stack ? i_type(NTR_OPCODE_OP_IMM, 0, low, NTR_REGISTER_SP, stack) : 0;
    case 2: return i_type(NTR_OPCODE_LOAD, 2, low, high, word_offset(c));
    case 3: return xlen == 64 ? i_type(NTR_OPCODE_LOAD, 3, low, high, double_offset(c)) : 0;
    case 6: return s_type(2, high, low, word_offset(c));
    case 7: return xlen == 64 ? s_type(3, high, low, double_offset(c)) : 0;
    default: return 0;
    }
}

static uint32_t arithmetic(uint32_t c, unsigned xlen) {
    unsigned rs2 = 8 + (c >> 2 & 7), rd = 8 + (c >> 7 & 7), which = c >> 5 & 3;
    static const uint8_t funct3[] = {0, 4, 6, 7}; /* SUB, XOR, OR, AND */
    switch (c >> 10 & 3) {
    case 0: return i_type(NTR_OPCODE_OP_IMM, 5, rd, rd, imm6(c));
    case 1: return i_type(NTR_OPCODE_OP_IMM, 5, rd, rd, imm6(c) | 0x400);
    case 2: return i_type(NTR_OPCODE_OP_IMM, 7, rd, rd, sign_extend(imm6(c), 6));
    default: break;
    }
    if (!(c & 0x1000)) return r_type(NTR_OPCODE_OP, funct3[which], which == 0 ? 0x20 : 0, rd, rd, rs2);
    return xlen == 64 && which < 2 ? r_type(NTR_OPCODE_OP_32, 0, which == 0 ? 0x20 : 0, rd, rd, rs2) : 0;
}

static uint32_t quadrant_1(uint32_t c, unsigned xlen) {
    unsigned rd = c >> 7 & 31;
    uint32_t imm = sign_extend(imm6(c), 6);
    uint32_t stack = field(c, 6, 1, 4) | field(c, 2, 1, 5) | field(c, 5, 1, 6) | field(c, 3, 2, 7) | field(c, 12, 1, 9);
    switch (c >> 13 & 7) {
    case 0: return i_type(NTR_OPCODE_OP_IMM, 0, rd, rd, imm);
    case 1: return xlen == 64 ? i_type(NTR_OPCODE_OP_IMM_32, 0, rd, rd, imm) : 0;
    case 2: return i_type(NTR_OPCODE_OP_IMM, 0, rd, 0, imm);
    case 3:
        return rd == NTR_REGISTER_SP
                   ? i_type(NTR_OPCODE_OP_IMM, 0, NTR_REGISTER_SP, NTR_REGISTER_SP, sign_extend(stack, 10))
                   : NTR_OPCODE_LUI | rd << 7 | imm << 12;
    case 4: return arithmetic(c, xlen);
    case 6: return NTR_OPCODE_BRANCH | 0u << 12 | (8 + (c >> 7 & 7)) << 15; /* the target is known from elsewhere */
    case 7: return NTR_OPCODE_BRANCH | 1u << 12 | (8 + (c >> 7 & 7)) << 15;
    default: return 0;
    }
}

static uint32_t quadrant_2(uint32_t c, unsigned xlen) {
    unsigned rd = c >> 7 & 31, rs2 = c >> 2 & 31;
    uint32_t word = field(c, 4, 3, 2) | field(c, 12, 1, 5) | field(c, 2, 2, 6);
    uint32_t twice = field(c, 5, 2, 3) | field(c, 12, 1, 5) | field(c, 2, 3, 6);
    switch (c >> 13 & 7) {
    case 0: return i_type(NTR_OPCODE_OP_IMM, 1, rd, rd, imm6(c));
    case 2: return i_type(NTR_OPCODE_LOAD, 2, rd, NTR_REGISTER_SP, word);
    case 3: return xlen == 64 ? i_type(NTR_OPCODE_LOAD, 3, rd, NTR_REGISTER_SP, twice) : 0;
    case 4: return rs2 ? r_type(NTR_OPCODE_OP, 0, 0, rd, c & 0x1000 ? rd : 0, rs2) : 0;
    case 6: return s_type(2, NTR_REGISTER_SP, rs2, field(c, 9, 4, 2) | field(c, 7, 2, 6));
    case 7: return xlen == 64 ? s_type(3, NTR_REGISTER_SP, rs2, field(c, 10, 3, 3) | field(c, 7, 3, 6)) : 0;
    default: return 0;
    }
}

uint32_t ntr_expand(uint32_t bits, unsigned xlen) {
    uint32_t c = bits & 0xffff;
    switch (bits & 3) {
    case 0: return quadrant_0(c, xlen);
    case 1: return quadrant_1(c, xlen);
    case 2: return quadrant_2(c, xlen);
    default: return bits;
    }
}
