/* Parses the sources of a program. */
#ifndef NTR_DECISION_SOURCES_H
#define NTR_DECISION_SOURCES_H

#include "decision/record.h"

/* How code was compiled: whether each condition is certainly evaluated by its own branch, in the order of the
 * source (-O0). */
typedef struct ntr_code_range_plain {
    uint64_t low, high;
    bool plain;
} ntr_code_range_plain;

typedef struct ntr_code_ranges {
    ntr_code_range_plain *items; /* sorted */
    size_t count, capacity;
} ntr_code_ranges;

/* Parses all sources that are not yet parsed, and stores how the code was compiled. Errors: as ntr_decisions_begin. */
ntr_status ntr_sources_parse(ntr_decisions *decisions, const ntr_source_options *options, const ntr_program *program,
                             ntr_debug_info *debug, ntr_code_ranges *ranges);

bool ntr_code_ranges_plain(const ntr_code_ranges *ranges, uint64_t address);

#endif
