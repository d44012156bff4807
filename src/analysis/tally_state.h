/* State of ntr_tally, shared by tally.c (rows) and tally_instructions.c (counts of single instructions). */
#ifndef NTR_ANALYSIS_TALLY_STATE_H
#define NTR_ANALYSIS_TALLY_STATE_H

#include "analysis/time_attribution.h"

#include <ntrace/tally.h>

enum { RECENT_VIEWS = 64, KNOWN_SPANS = 4096 };

/* The stream offsets at which a span means the same. */
struct known_span {
    uint64_t address, last, target;
    uint32_t view; /* + 1; 0: free */
    ntr_validity valid;
};

struct ntr_tally {
    const ntr_program *program; /* NULL: its code does not change */
    const ntr_allocator *allocator;
    struct known_span *known; /* by a hash; NULL while the code of the program does not change */
    uint64_t known_revision;  /* of the program */
    ntr_tally_row *rows;
    size_t count, capacity;
    uint32_t *slots; /* hash table, open addressing: row + 1, 0 when free */
    size_t slot_count;
    bool sorted;     /* the rows are sorted and `slots` is not valid */
    ntr_tally_view_info *views;
    size_t view_count, view_capacity;
    uint32_t last_view;
    uint32_t recent[RECENT_VIEWS]; /* by a hash of source and context: view + 1, 0 when free */
    bool keeps_time;
    ntr_time_attribution *attributions; /* one per source; the owners are rows */
    size_t attribution_count, attribution_capacity;
    uint64_t gaps;
};

#endif
