/* Counts of the lines of functions that clang made, by the regions of their source (source_regions.h). */
#ifndef NTR_ANALYSIS_LINE_REGIONS_H
#define NTR_ANALYSIS_LINE_REGIONS_H

#include "analysis/line_flow.h"
#include "analysis/source_tokens.h"

#include <ntrace/coverage.h>

/* The sources that were read; tokens refer to texts. */
typedef struct ntr_line_sources {
    ntr_read_source read; /* NULL: no source is known */
    void *user;
    const ntr_allocator *allocator;
    struct ntr_line_source *items;
    size_t count, capacity;
} ntr_line_sources;

/* A function, or a copy of it that is inlined, declared in line `declared` of `file`. For ntr_line_regions_jumps, all
 * instructions of a function of gcc. */
typedef struct ntr_line_function {
    const ntr_program *program;
    ntr_debug_info *debug;
    size_t image;
    ntr_line_insn *const *insns; /* by address */
    size_t count;
    ntr_line_flow *flow; /* of gcc: that has the instructions */
    const char *file;
    uint32_t declared;
    /* Adds a line that has no code in this function: the one of the brace that ends it, those that begin with a lambda,
     * and all lines of an instance of a template, as other instances may have code there. `brace`: one of the first
     * two.
     */
    ntr_status (*add_empty)(void *user, uint32_t line, uint64_t count, bool brace);
    void *user;
    bool instance;
    bool deletes; /* the destructor that frees the object: it calls another one, which has the body */
} ntr_line_function;

/* Sets the passes of the lines of a function, where its source is known and its statements are understood, and the
 * `source` of its first instruction. Errors: NTR_E_MEMORY. */
ntr_status ntr_line_regions_count(ntr_line_sources *sources, const ntr_line_function *of);

/* Sets the passes of the lines of gcc's code without optimization that are only a jump (line_jumps.h), where the source
 * is known; otherwise, some are `open`. Errors: NTR_E_MEMORY. */
ntr_status ntr_line_regions_jumps(ntr_line_sources *sources, const ntr_line_function *of);

void ntr_line_sources_release(ntr_line_sources *sources);

#endif
