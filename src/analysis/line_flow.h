/* Instructions of one image with lines and counts, and the number of passes through each line (line_passes.h). */
#ifndef NTR_ANALYSIS_LINE_FLOW_H
#define NTR_ANALYSIS_LINE_FLOW_H

#include <ntrace/coverage.h>
#include <ntrace/debug_info.h>
#include <ntrace/tally.h>

typedef struct ntr_line_insn {
    ntr_insn_count count;
    const char *file;
    uint32_t line;     /* 0: it belongs to no line */
    uint32_t column;
    bool begins_row;    /* a row of the line table begins here */
    bool begins_statement; /* the row begins a statement */
    bool returns_value; /* the function does */
    bool by_llvm;       /* counted as llvm-cov does */
    bool implicit, optimized; /* ntr_line_row */
    bool only_end;      /* the line contains nothing but the end of the function, which returns a value */
    uint64_t function; /* entry address; lines of two functions are counted separately */
    uint64_t copy;     /* entry address of the innermost copy of an inlined function, where copies are told apart, */
    uint32_t depth;    /* and how many are around the instruction (line_copies.h); otherwise 0 */
    uint64_t target;   /* of a branch, direct jump or direct call, also of a call by AUIPC and JALR */
    uint64_t part;     /* executions of the part of the line (line_parts.h) */
    bool after_jump;   /* it follows a jump in its row: gcc gives it no place (line_jumps.h) */
    bool open;         /* how often the line was executed is not known */
    bool contained;    /* no block belongs to the line, and `passes` has the executions of those that contain it; of
                     * LLVM: the source has no body of the function (a macro does) */
    uint64_t passes;   /* of the line, at its first instruction in the function; 0 at the others */
    ntr_cover_source source; /* of the function, at its first instruction */
} ntr_line_insn;

typedef struct ntr_line_flow {
    const ntr_allocator *allocator;
    ntr_line_insn *insns; /* sorted by address */
    size_t count, capacity;
} ntr_line_flow;

/* The images that have the last instruction and the target of a row. */
struct ntr_row_images {
    size_t last, target; /* numbers; SIZE_MAX: none */
};

/* The instructions of one execution, expanded from its tally when the first image with line rows needs them. All images
 * share them: a program can have thousands of images (code generated at run time), most of them without lines. */
typedef struct ntr_line_counts {
    const ntr_program *program;
    ntr_tally *tally;
    ntr_insn_count *items; /* sorted by address; NULL before the first use and when there are none */
    size_t count;
    struct ntr_row_images *images; /* of the rows of the tally */
    ntr_cover_rule rule;
    uint32_t *first_image; /* ntr_program_first_images: the counts of all images of a file are those of the first */
    bool made;
} ntr_line_counts;

void ntr_line_counts_release(ntr_line_counts *counts);

/* Creates the line flow of image `index`, without passes. Returns NTR_END when `index` is past the last image. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_line_flow_make(ntr_line_flow *flow, ntr_debug_info *debug, ntr_line_counts *counts, size_t index,
                              const ntr_allocator *allocator);
/* Returns the instruction at `address`, or NULL when it is not in the line table. */
ntr_line_insn *ntr_line_flow_find(const ntr_line_flow *flow, uint64_t address);

/* Returns whether an instruction does nothing, as compilers write it. */
bool ntr_line_flow_is_nop(const ntr_program *program, size_t image, const ntr_insn_count *insn);

/* Returns how often the code [entry, entry + size) of a function or an inlined copy was entered at its entry. */
uint64_t ntr_line_flow_entries(const ntr_line_flow *flow, uint64_t entry, uint64_t size);

/* Returns how often the code [entry, entry + size) of a function returned or went on in another function, at most
 * `entries`. Returns `entries` when an indirect jump was executed: it may have left the function. */
uint64_t ntr_line_flow_returns(const ntr_line_flow *flow, uint64_t entry, uint64_t size, uint64_t entries);

void ntr_line_flow_release(ntr_line_flow *flow);

#endif
