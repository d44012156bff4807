/* The instructions of one image with their lines and counts, and how often control came to each line. */
#ifndef NTR_ANALYSIS_LINE_FLOW_H
#define NTR_ANALYSIS_LINE_FLOW_H

#include <ntrace/debug_info.h>
#include <ntrace/tally.h>

/* One instruction that belongs to a line. */
typedef struct ntr_line_insn {
    ntr_insn_count count;
    const char *file;
    uint32_t line;
    uint64_t function; /* entry address; lines of two functions are counted apart */
    uint64_t inside;   /* times it was reached from its own line without starting it anew */
} ntr_line_insn;

typedef struct ntr_line_flow {
    const ntr_allocator *allocator;
    ntr_line_insn *insns; /* by address */
    size_t count, capacity;
} ntr_line_flow;

/* Everything of image `index`. NTR_END past the last image, NTR_E_MEMORY. */
ntr_status ntr_line_flow_make(ntr_line_flow *flow, const ntr_program *program, ntr_debug_info *source, ntr_tally *tally,
                              size_t index, const ntr_allocator *allocator);
void ntr_line_flow_release(ntr_line_flow *flow);

#endif
