/* The graph of the blocks of functions: straight code, and how often control went from one block to another.
 *
 * Blocks are those of gcov: they end at a jump, a branch or a call, and begin where one leads. */
#ifndef NTR_ANALYSIS_LINE_GRAPH_H
#define NTR_ANALYSIS_LINE_GRAPH_H

#include "analysis/line_flow.h"

#define NTR_NO_INDEX       UINT32_MAX
#define NTR_LINE_MIN(a, b) ((a) < (b) ? (a) : (b))

typedef struct ntr_pass_block {
    uint32_t first, last; /* instructions */
    uint32_t end;         /* the first instruction of the function's end, or after `last` */
    uint32_t next;        /* the block after it in memory, which it can continue at, or NTR_NO_INDEX */
    uint32_t first_arc, arcs;
    uint32_t also; /* an instruction of a line that gcc has in this block, too, or NTR_NO_INDEX (line_codeless.h) */
    bool targeted; /* a branch or a direct jump leads to it */
    bool crossed; /* one of another line does (line_passes.c) */
    bool skipped_to; /* a branch leads to it from before */
    bool no_line; /* gcc has it in no line */
    bool to_handler; /* it leads from an exception to a handler (line_codeless.h) */
    bool counts; /* it returns, and a statement of the source does it */
    bool cleans; /* calls of `next` are other passes */
    uint64_t rest; /* executions that no arc leads to: calls of the function, landing pads, second returns */
    uint64_t unreturned; /* calls at the end that did not return */
    uint64_t more; /* executions of a block without code (line_codeless.h), */
    uint32_t more_of; /* and an instruction of its line */
} ntr_pass_block;

typedef struct ntr_pass_arc {
    uint32_t from, to; /* blocks */
    uint64_t count, left; /* left: executions that no cycle has taken yet */
    bool apart; /* gcc has a block without a line between the two (line_codeless.h) */
} ntr_pass_arc;

typedef struct ntr_pass_graph {
    const ntr_allocator *allocator;
    ntr_line_flow *flow;
    const ntr_line_counts *counts;
    ntr_debug_info *debug;
    size_t index; /* of the image */
    const ntr_tally_row *rows;
    size_t row_count;
    uint32_t *block_of; /* by instruction */
    ntr_pass_block *blocks;
    uint32_t block_count;
    ntr_pass_arc *arcs; /* by `from` */
    size_t arc_count, arc_capacity;
} ntr_pass_graph;

/* Makes the blocks and the arcs. The members up to `row_count` are set. Errors: NTR_E_MEMORY. */
ntr_status ntr_line_graph_make(ntr_pass_graph *g);
void ntr_line_graph_release(ntr_pass_graph *g);

/* The link registers of a swap of coroutines also serve calls by a pointer (callstack_change.c, enter). */
static inline bool ntr_line_is_call(const ntr_line_insn *insn) {
    const ntr_flow flow = (ntr_flow)insn->count.flow;
    return flow == NTR_FLOW_DIRECT_CALL || flow == NTR_FLOW_INDIRECT_CALL || flow == NTR_FLOW_CO_SWAP;
}

/* Returns whether the second of two consecutive instructions follows the first one in memory. */
static inline bool ntr_line_is_adjacent(const ntr_line_insn *insn) {
    return insn->count.address + insn->count.size == insn[1].count.address && insn->function == insn[1].function;
}

/* Returns the instruction of the same function to which a branch or a direct jump leads, or NTR_NO_INDEX. */
uint32_t ntr_line_graph_target(const ntr_pass_graph *g, const ntr_line_insn *insn);
/* Returns the encoding of an instruction, or 0 when it cannot be read. */
uint32_t ntr_line_graph_bits(const ntr_pass_graph *g, uint32_t insn);
bool ntr_line_graph_is_nop(const ntr_pass_graph *g, uint32_t insn);
/* Stores the symbol at an address. Returns false when there is none. */
bool ntr_line_graph_symbol(const ntr_pass_graph *g, uint64_t address, ntr_symbol *symbol);
/* Stores the symbol of the function that a block calls at its end. Returns false when there is none. */
bool ntr_line_graph_callee(const ntr_pass_graph *g, uint32_t block, ntr_symbol *symbol);
/* Returns whether only an exception leads to a block: nothing jumps there, and the code before it does not go on. */
bool ntr_line_graph_is_landing_pad(const ntr_pass_graph *g, uint32_t block);

#endif
