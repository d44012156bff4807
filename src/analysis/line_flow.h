/* Instructions of one image with lines and counts, and the number of times that control reached each line.
 *
 * Idea: the count of a line is the sum, over its instructions, of `executed - inside`. `inside` counts the executions
 * of an instruction that continue an execution of the line: fall-through from the preceding instruction of the line, a
 * forward jump in the line, the return of a call made in the line, or straight code through other lines of a statement.
 * What remains is control that came from another line, or a backward jump in the line (a loop), as gcov counts it.
 *
 * Example: a line has instructions A, B (a call) and C, and is executed three times. Each instruction has executed = 3.
 * B is reached by fall-through and C by the return of the call, so both have inside = 3. The count is 3 + 0 + 0 = 3. */
#ifndef NTR_ANALYSIS_LINE_FLOW_H
#define NTR_ANALYSIS_LINE_FLOW_H

#include <ntrace/debug_info.h>
#include <ntrace/tally.h>

/* An instruction that belongs to a line. */
typedef struct ntr_line_insn {
    ntr_insn_count count;
    const char *file;
    uint32_t line;
    uint64_t function; /* entry address; lines of two functions are counted separately */
    uint64_t inside;   /* number of times it was reached from its own line without a new execution of the line */
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
    uint32_t *first_image; /* ntr_program_first_images: the counts of all images of a file are those of the first */
    bool made;
} ntr_line_counts;

void ntr_line_counts_release(ntr_line_counts *counts);

/* Creates the line flow of image `index`. Returns NTR_END when `index` is past the last image. Errors: NTR_E_MEMORY. */
ntr_status ntr_line_flow_make(ntr_line_flow *flow, ntr_debug_info *debug, ntr_line_counts *counts, size_t index,
                              const ntr_allocator *allocator);
/* Returns the instruction at `address`, or NULL when it was not executed or has no line. */
ntr_line_insn *ntr_line_flow_find(const ntr_line_flow *flow, uint64_t address);

void ntr_line_flow_release(ntr_line_flow *flow);

#endif
