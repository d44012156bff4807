/* The parts of the report. Each function writes one member of the page's data, as JSON. */
#ifndef NTR_EXPORT_PAGES_REPORT_PARTS_H
#define NTR_EXPORT_PAGES_REPORT_PARTS_H

#include "export/export.h"

#include <ntrace/interrupts.h>
#include <ntrace/profile.h>
#include <ntrace/timeline.h>

/* Limits that keep a report small for any length of the trace: about 5 MB when all are reached. */
enum {
    NTR_REPORT_FUNCTIONS = 3000,
    NTR_REPORT_CALLS = 10000,
    NTR_REPORT_GAPS = 500,
    NTR_REPORT_FILES = 1000,
    NTR_REPORT_SOURCE = 1200000, /* bytes of source text */
    NTR_REPORT_LINE = 300,       /* bytes of a line of source text */
    NTR_REPORT_SLICES = 15000,
    NTR_REPORT_BOXES = 2500,     /* boxes of the flame graph */
    NTR_REPORT_NAMES = 4000,     /* functions of the timeline */
};

struct ntr_report {
    ntr_timeline *timeline;
    ntr_interrupts *interrupts;
    ntr_coverage *coverage;
    bool follows; /* timeline and interrupts follow the stacks of the call tree */
    ntr_event gaps[NTR_REPORT_GAPS];
    uint64_t gap_count, gap_bytes, overflows, blind;
    uint64_t reasons[128]; /* number of gaps by negated ntr_status */
};

/* Calls between the functions of these rows: [caller, callee, calls, instructions of the callee and what it calls]. */
ntr_status ntr_report_calls(ntr_export *x, const ntr_profile_row *rows, size_t count);

ntr_status ntr_report_source(ntr_export *x); /* files with their coverage; text of the files with most instructions */
ntr_status ntr_report_timeline(ntr_export *x); /* slices by track */
ntr_status ntr_report_traps(ntr_export *x); /* handlers of exceptions and interrupts */

#endif
