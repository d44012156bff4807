/* Counts of lines of gcc that are only a jump of the source, such as `break;`.
 *
 * Without optimization, gcc leads a way that would come to such a jump past it, to where the jump leads, unless this
 * way has a place of its own. In
 *
 *     if (a)
 *         f();
 *     break;
 *
 * the branch of `if` leads to the end of the loop, and the jump of `break` follows the call. The binary of `f();
 * break;` inside of braces is the same. Therefore only the source says which ways count: those from the statement
 * before the jump. gcov counts the entries of the line. */
#ifndef NTR_ANALYSIS_LINE_JUMPS_H
#define NTR_ANALYSIS_LINE_JUMPS_H

#include "analysis/line_flow.h"
#include "analysis/source_steps.h"

/* A way from one instruction of a function to another one. */
typedef struct ntr_line_way {
    const ntr_line_insn *from;
    uint64_t to, count;
    uint32_t step; /* of the source, which contains `from` */
} ntr_line_way;

/* The ways of a function, by their ends. */
typedef struct ntr_line_jumps {
    ntr_line_flow *flow;
    const ntr_program *program;
    size_t image;
    ntr_line_insn *const *places; /* instructions of one file, by their place; borrowed */
    size_t place_count;
    ntr_line_way *ways;
    size_t count, capacity;
} ntr_line_jumps;

/* Finds the ways of the instructions [first, end), and in *found whether the source may change the passes of a line.
 * Until then, lines that may have been executed although no way leads there are `open`. Errors: NTR_E_MEMORY. */
ntr_status ntr_line_jumps_find(ntr_line_jumps *jumps, size_t first, size_t end, bool *found);

/* Sets the passes of the lines that are jumps of the source. Those that are not known are `open`. */
void ntr_line_jumps_count(const ntr_line_jumps *jumps, const ntr_source_steps *steps);

void ntr_line_jumps_release(ntr_line_jumps *jumps);

#endif
