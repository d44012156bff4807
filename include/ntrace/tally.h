/* Tally: execution counts of spans, without their order.
 *
 * A span is a straight run of code. The tally has one row per distinct span and its end. This is sufficient for exact
 * counts of instructions, branches and lines, and needs little memory. Objects are not thread-safe. */
#ifndef NTRACE_TALLY_H
#define NTRACE_TALLY_H

#include <ntrace/event.h>
#include <ntrace/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_tally ntr_tally;

/* A run [address, address + 2 * halfwords) that ended in this way, and the number of its executions. */
typedef struct ntr_tally_row {
    uint64_t address, last; /* first and last instruction */
    uint64_t target;        /* address of the next instruction; undefined when `target_unknown` */
    uint64_t count;         /* number of executions */
    uint64_t ticks;         /* time of all executions; 0 without ntr_tally_keep_time */
    uint64_t position;      /* a stream offset at which span and target meant what they did when they were executed */
    uint32_t instructions, halfwords;
    uint32_t view;          /* source and context: number for ntr_tally_view */
    uint8_t end;            /* ntr_span_end */
    bool target_unknown;
} ntr_tally_row;

/* Makes an empty tally. `program`, which must outlive it, is that of the events; NULL: its code and its names do not
 * change in the course of the trace. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_tally_new(const ntr_program *program, const ntr_allocator *allocator, ntr_tally **out);
NTR_API void ntr_tally_free(ntr_tally *tally);

/* Enables the attribution of time. Call it before the first event. The time between two timestamps is divided among
 * the spans in proportion to their instructions. ntr_tally_count does not attribute time. */
NTR_API void ntr_tally_keep_time(ntr_tally *tally);
NTR_API bool ntr_tally_keeps_time(const ntr_tally *tally);

/* Forgets all counts and gaps. The numbers of views remain, and so do the times of the sources: the time up to the next
 * timestamp is attributed as if nothing had been forgotten. */
NTR_API void ntr_tally_restart(ntr_tally *tally);

/* Adds `count` events in stream order. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_tally_feed(ntr_tally *tally, const ntr_event *events, size_t count);

/* Adds an event `times` times, modulo 2^64: a negative number takes executions away. A function for
 * ntr_decoder_set_count_callback, with the tally as `user`. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_tally_count(void *tally, const ntr_event *event, uint64_t times);

/* Returns the rows with executions, sorted by (view, address, last, end, target, position), and stores their number in
 * *count. The pointer is valid until the next change. */
NTR_API const ntr_tally_row *ntr_tally_rows(ntr_tally *tally, size_t *count);

/* A view: a source in a context. */
typedef struct ntr_tally_view_info {
    uint16_t src;
    ntr_context context;
} ntr_tally_view_info;

/* Returns the view, or NULL when `view` is past the last one. */
NTR_API const ntr_tally_view_info *ntr_tally_view(const ntr_tally *tally, uint32_t view);

/* Returns the place of an address of the row: of its span, or of its target. Valid until the next event. */
NTR_API ntr_place ntr_tally_row_place(const ntr_tally *tally, const ntr_tally_row *row, uint64_t address);

/* Returns the number of gaps. Code that was executed in a gap is not in the rows. */
NTR_API uint64_t ntr_tally_gaps(const ntr_tally *tally);

/* ---- per instruction --------------------------------------------------------------------------- */

/* Counts of one instruction. An address that has had several instructions, or code of several images, has several. */
typedef struct ntr_insn_count {
    uint64_t address;
    uint64_t position; /* a stream offset at which it was valid; */
    uint32_t view; /* ... in the context of this view: see ntr_tally_count_place */
    uint32_t image; /* number of the image that names it; NTR_NO_IMAGE: none */
    uint64_t executed;
    uint64_t ticks; /* time; each run is divided equally among its instructions */
    uint64_t taken, not_taken; /* conditional branches only */
    uint8_t size; /* bytes */
    uint8_t flow; /* ntr_flow */
} ntr_insn_count;

#define NTR_NO_IMAGE UINT32_MAX

/* Returns the place of an instruction. Valid until the next event. */
NTR_API ntr_place ntr_tally_count_place(const ntr_tally *tally, const ntr_insn_count *count);

/* Stores an array with the counts of all executed instructions, sorted by (address, image, position). `view` UINT32_MAX
 * means all views. Release the array with ntr_tally_free_counts. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_tally_instructions(ntr_tally *tally, const ntr_program *program, uint32_t view,
                                          ntr_insn_count **counts, size_t *count);
/* The same, and the instructions that do not retire (ECALL, EBREAK): they count as executed when execution has arrived
 * there. For coverage, where such an instruction was reached. */
NTR_API ntr_status ntr_tally_arrivals(ntr_tally *tally, const ntr_program *program, uint32_t view,
                                      ntr_insn_count **counts, size_t *count);
NTR_API void ntr_tally_free_counts(const ntr_tally *tally, ntr_insn_count *counts);

#ifdef __cplusplus
}
#endif
#endif
