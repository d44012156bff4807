/* Regions of the source of a function, as clang makes them for llvm-cov: a part of the text that is executed as one. A
 * region lies inside of another one or beside it. What a statement that may leave (return, break) is followed by is a
 * region of its own. Between a condition and what it selects, and between statements, is a gap. */
#ifndef NTR_ANALYSIS_SOURCE_REGIONS_H
#define NTR_ANALYSIS_SOURCE_REGIONS_H

#include "analysis/source_tokens.h"

typedef struct ntr_source_region {
    ntr_text_place begin, end;
    uint64_t count;
    uint32_t counted; /* the region that has the count: this one, or that after a gap */
    uint32_t within; /* a region that was executed as often at least: of a part of an expression or of `if` */
    bool known; /* there is a count */
    bool gap;
    bool begun, ended; /* while regions are found: begin and end are known */
    bool left; /* the statement before it does not continue there */
} ntr_source_region;

typedef struct ntr_source_regions {
    ntr_source_region *items;
    size_t count, capacity;
} ntr_source_regions;

/* Whether control goes from a statement to the next one, as its code says: macros and functions hide it. */
typedef enum ntr_source_exit {
    NTR_SOURCE_EXIT_NEXT,
    NTR_SOURCE_EXIT_MAYBE,
    NTR_SOURCE_EXIT_NEVER,
} ntr_source_exit;

/* The code of parts of the source. */
typedef struct ntr_source_code {
    void *user;
    /* Stores how often the first code of [begin, end) was executed. Returns false if there is no code. */
    bool (*count)(void *user, ntr_text_place begin, ntr_text_place end, uint64_t *count);
    ntr_source_exit (*exit)(void *user, ntr_text_place begin, ntr_text_place end);
} ntr_source_code;

/* Appends the regions of a body, whose `{` is the token number `body`. Errors: NTR_E_SYNTAX (a statement that is not
 * understood: nothing is known), NTR_E_LIMIT (nested too deeply, or too long), NTR_E_MEMORY. */
ntr_status ntr_source_regions_find(ntr_source_regions *regions, const ntr_source_tokens *tokens, uint32_t body,
                                   const ntr_source_code *code, const ntr_allocator *allocator);

/* Stores the count of a line by the rule of llvm-cov: that of the region around the beginning of the line, or the
 * greatest of the regions that begin on the line. Returns false if it is not known. */
bool ntr_source_regions_line(const ntr_source_regions *regions, uint32_t line, uint64_t *count);

#endif
