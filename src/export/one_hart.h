/* What formats for simulators share: the instructions of one hart, with the loads and stores of each.
 *
 * Addresses of loads and stores are known when the trace has all of them (`run --data`, accesses.h). Where they do not
 * fit the instructions, they are left out up to the next place where tracing stopped, at which none is under way. */
#ifndef NTR_EXPORT_ONE_HART_H
#define NTR_EXPORT_ONE_HART_H

#include "decision/accesses.h"
#include "export/export.h"

#include <ntrace/instructions.h>

typedef struct ntr_one_hart {
    ntr_instructions *instructions;
    ntr_accesses accesses;
    bool has_source, has_other, has_data;
    uint16_t src, other;
    uint64_t expected;       /* where the next instruction is; 0: not known */
    uint64_t known, unknown; /* instructions whose loads and stores have an address, and without */
    uint64_t surplus;        /* accesses that no instruction took although none was refused */
} ntr_one_hart;

/* Errors: NTR_E_MEMORY. Release it in any case. */
ntr_status ntr_one_hart_begin(ntr_one_hart *h, const ntr_export *x);
void ntr_one_hart_release(ntr_one_hart *h, const ntr_export *x);

/* Notes an event. Returns whether it is a span with instructions, for which `instructions` has begun. Errors of the
 * second hart are those of ntr_one_hart_end. */
bool ntr_one_hart_take(ntr_one_hart *h, const ntr_event *event, ntr_status *status);

/* The span has ended. */
void ntr_one_hart_after(ntr_one_hart *h, const ntr_event *span);

/* Stores the accesses of an instruction that have an address; `list` has room for `most`. Returns their number. */
unsigned ntr_one_hart_accesses(ntr_one_hart *h, const ntr_instruction *i, ntr_memory_access *list, unsigned most);

/* Sets the sentences of the export. `absent`: what stands for an address that is not known. Errors:
 * NTR_E_UNSUPPORTED (several harts). */
ntr_status ntr_one_hart_end(ntr_one_hart *h, ntr_export *x, const char *absent);

#endif
