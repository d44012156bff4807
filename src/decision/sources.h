/* Parses the sources of a program. */
#ifndef NTR_DECISION_SOURCES_H
#define NTR_DECISION_SOURCES_H

#include "decision/record.h"

/* How code was compiled. */
typedef struct ntr_code_kind {
    bool unoptimized;   /* -O0: each condition is certainly evaluated by its own branch, in the order of the source */
    bool debug;   /* -Og: instructions stay with their statements */
    bool unknown; /* the code itself must show whether it is optimized */
    bool gnu;     /* by gcc */
    bool keeps_paths; /* no path is led past a branch that an earlier one has decided */
} ntr_code_kind;

typedef struct ntr_code_range_kind {
    uint64_t low, high;
    ntr_code_kind kind;
} ntr_code_range_kind;

typedef struct ntr_code_ranges {
    ntr_code_range_kind *items; /* sorted */
    size_t count, capacity;
} ntr_code_ranges;

/* Parses all sources that are not yet parsed, and stores how the code was compiled. Errors: as ntr_decisions_begin. */
ntr_status ntr_sources_parse(ntr_decisions *decisions, const ntr_source_options *options, const ntr_program *program,
                             ntr_debug_info *debug, ntr_code_ranges *ranges);

/* Returns whether decisions are known of a source of image `index`. */
bool ntr_sources_known(ntr_decisions *decisions, const ntr_source_options *options, ntr_debug_info *debug,
                       size_t index);

/* Notes that the decisions of a source or image are missing, and why, once. Errors: NTR_E_MEMORY. */
ntr_status ntr_sources_leave_out(ntr_decisions *decisions, const char *file, const char *why);

ntr_code_kind ntr_code_ranges_at(const ntr_code_ranges *ranges, uint64_t address);

#endif
