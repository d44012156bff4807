/* Tally: how often every straight run of code was executed and where it went, without the order.
 *
 * Enough for exact instruction, branch and line counts, and small: one row for each distinct span. */
#ifndef NTRACE_TALLY_H
#define NTRACE_TALLY_H

#include <ntrace/event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_tally ntr_tally;

/* So many times, the run [address, address + 2 * halfwords) was executed and ended this way. */
typedef struct ntr_tally_row {
    uint64_t address, last; /* first and last instruction */
    uint64_t target;        /* where control went; meaningless when `target_unknown` */
    uint64_t count;
    uint64_t ticks;         /* time spent in it; 0 without ntr_tally_keep_time */
    uint32_t instructions, halfwords;
    uint32_t view;          /* where it ran, a source in a context: ntr_tally_view */
    uint8_t end;            /* ntr_end */
    bool target_unknown;
} ntr_tally_row;

/* NULL when out of memory. */
NTR_API ntr_tally *ntr_tally_new(const ntr_allocator *allocator);
NTR_API void ntr_tally_free(ntr_tally *tally);

/* Before the first event: keep time, too, as far as timestamps tell; that between two stamps is shared by instructions
 * among all that ran there. Counting (ntr_tally_count) knows no time. */
NTR_API void ntr_tally_keep_time(ntr_tally *tally);
NTR_API bool ntr_tally_keeps_time(const ntr_tally *tally);

/* Count events. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_tally_feed(ntr_tally *tally, const ntr_event *events, size_t count);

/* The same of counting (ntr_decoder_set_count_callback, with the tally as its `user`): an event, `times` times. */
NTR_API ntr_status ntr_tally_count(void *tally, const ntr_event *event, const ntr_context *context, uint64_t times);

/* Add `row->count` executions of a source in a context; row->view is ignored. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_tally_add(ntr_tally *tally, uint16_t src, const ntr_context *context,
                                 const ntr_tally_row *row);

/* The rows in order of (view, address, last, end, target). The pointer holds until the next change. */
NTR_API const ntr_tally_row *ntr_tally_rows(ntr_tally *tally, size_t *count);

/* A source in a context. */
typedef struct ntr_tally_view_info {
    uint16_t src;
    ntr_context context;
} ntr_tally_view_info;

/* NULL past the last. */
NTR_API const ntr_tally_view_info *ntr_tally_view(const ntr_tally *tally, uint32_t view);

/* Gaps that were met: something that is not in the rows may have been executed. */
NTR_API uint64_t ntr_tally_gaps(const ntr_tally *tally);

/* ---- per instruction --------------------------------------------------------------------------- */

/* What one instruction did. */
typedef struct ntr_insn_count {
    uint64_t address;
    uint64_t executed;
    uint64_t ticks; /* of those of its runs, an equal part */
    uint64_t taken, not_taken; /* conditional branches only */
    uint8_t size;              /* bytes */
    uint8_t flow;              /* ntr_flow */
} ntr_insn_count;

/* Counts of every executed instruction in address order; `view` UINT32_MAX: all views together. The array
 * is given back with ntr_tally_free_counts. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_tally_instructions(ntr_tally *tally, const ntr_program *program, uint32_t view,
                                          ntr_insn_count **counts, size_t *count);
NTR_API void ntr_tally_free_counts(const ntr_tally *tally, ntr_insn_count *counts);

#ifdef __cplusplus
}
#endif
#endif
