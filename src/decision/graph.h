/* The control-flow graph of one function, as a list of its instructions. */
#ifndef NTR_DECISION_GRAPH_H
#define NTR_DECISION_GRAPH_H

#include <ntrace/debug_info.h>

typedef struct ntr_graph_insn {
    uint64_t address;
    uint32_t target; /* index of the target, or NTR_GRAPH_OUTSIDE */
    uint32_t bits; /* the first bytes of the instruction */
    uint8_t size, flow;
    uint64_t last_call; /* a call of this function, which never returns (graph.c); 0: none */
    uint8_t candidate; /* number of a candidate + 1; 0: none */
    bool joint; /* a branch that may test the result of a decision (values.h) */
    bool anchor; /* code of which it is asked whether it is reached */
    bool barrier; /* a search for anchors ends here */
    bool entry; /* control arrives here in another way than by direct jumps and straight flow: calls, jump tables */
    bool is_target; /* of a direct jump or a branch */
    uint32_t visited;
} ntr_graph_insn;
#define NTR_GRAPH_OUTSIDE UINT32_MAX

typedef struct ntr_graph {
    const ntr_allocator *allocator;
    const ntr_program *program;
    ntr_place place; /* of its first instruction */
    uint64_t low, high;
    ntr_graph_insn *insns; /* sorted by address, adjacent */
    size_t count, capacity;
    uint32_t *stack;
    uint32_t mark;
    unsigned xlen;
} ntr_graph;

/* Returns the place of an address, as the code of the graph sees it. */
ntr_place ntr_graph_place(const ntr_graph *graph, uint64_t address);

/* Reads the code from `low` to before `high`. `debug` may be NULL. Errors: NTR_E_MEMORY. */
ntr_status ntr_graph_make(ntr_graph *graph, const ntr_program *program, ntr_debug_info *debug, ntr_place place,
                          uint64_t high);
void ntr_graph_release(ntr_graph *graph);

/* Returns the index of the instruction at `address`, or NTR_GRAPH_OUTSIDE. */
uint32_t ntr_graph_at(const ntr_graph *graph, uint64_t address);

/* Returns the function that an instruction calls by AUIPC and JALR; 0: not known. */
uint64_t ntr_graph_called(const ntr_graph *graph, uint32_t at);

/* Returns the set of candidates that are reached from instruction `at` before any other candidate: bit I is the
 * candidate I. */
uint64_t ntr_graph_reach(ntr_graph *graph, uint32_t at);
/* Return whether an anchor is reached before any candidate: from all entries, and from what follows instruction `at`.
 */
bool ntr_graph_enters_anchor(ntr_graph *graph);
bool ntr_graph_leaves_to_anchor(ntr_graph *graph, uint32_t at);
/* The same from instruction `at`. */
bool ntr_graph_reaches_anchor(ntr_graph *graph, uint32_t at);
/* Returns the set of candidates that are reached from all entries. */
uint64_t ntr_graph_reach_first(ntr_graph *graph);

/* Returns the instruction at which the execution from `at` arrives through jumps without a condition. */
uint32_t ntr_graph_thread(const ntr_graph *graph, uint32_t at);

/* Returns whether two places have the same effect: they are one, or the same straight code, without a jump or a branch,
 * leads to one or to returns. Compilers duplicate the ends of short functions. */
bool ntr_graph_same(const ntr_graph *graph, uint32_t a, uint32_t b);

/* Returns whether the code shows that clang has not optimized it: a jump follows each branch, except for those
 * that choose between two values and those of a switch, and some jump leads to the next instruction. Every pass that
 * lays out blocks removes such jumps. */
bool ntr_graph_unoptimized(const ntr_graph *graph);

/* Returns the index of the instruction after a branch, with this outcome. */
uint32_t ntr_graph_after(const ntr_graph *graph, uint32_t branch, bool taken);

/* ---- Compressed instructions as the 32-bit instructions that have the same effect. */

/* Opcodes of 32-bit instructions. */
enum {
    NTR_OPCODE_LOAD = 0x03,
    NTR_OPCODE_LOAD_FP = 0x07,
    NTR_OPCODE_OP_IMM = 0x13,
    NTR_OPCODE_AUIPC = 0x17,
    NTR_OPCODE_OP_IMM_32 = 0x1b,
    NTR_OPCODE_STORE = 0x23,
    NTR_OPCODE_STORE_FP = 0x27,
    NTR_OPCODE_AMO = 0x2f,
    NTR_OPCODE_OP = 0x33,
    NTR_OPCODE_LUI = 0x37,
    NTR_OPCODE_OP_32 = 0x3b,
    NTR_OPCODE_BRANCH = 0x63,
    NTR_OPCODE_JALR = 0x67,
    NTR_OPCODE_JAL = 0x6f,
    NTR_OPCODE_SYSTEM = 0x73,
};

enum { NTR_REGISTER_SP = 2, NTR_REGISTER_FP = 8 };

/* Returns the instruction, or 0 for instructions that neither compute, load, store nor branch on general registers. */
uint32_t ntr_expand(uint32_t bits, unsigned xlen);

/* Returns whether an instruction copies a register, and stores which. */
static inline bool ntr_is_move(uint32_t insn, unsigned *source) {
    const unsigned rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31;
    const bool immediate = (insn & 0x7f) == NTR_OPCODE_OP_IMM;
    *source = immediate ? rs1 : rs2;
    if ((insn >> 12 & 7) != 0) return false;
    return immediate ? insn >> 20 == 0 : (insn & 0x7f) == NTR_OPCODE_OP && insn >> 25 == 0 && rs1 == 0;
}

#endif
