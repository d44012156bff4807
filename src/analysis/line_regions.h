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

/* Sets the passes of the lines of the function that has the instructions [first, end) and is declared in line
 * `declared` of `file`, where the source is known and its statements are understood. Errors: NTR_E_MEMORY. */
ntr_status ntr_line_regions_count(ntr_line_sources *sources, ntr_line_flow *flow, size_t first, size_t end,
                                  const char *file, uint32_t declared);

void ntr_line_sources_release(ntr_line_sources *sources);

#endif
