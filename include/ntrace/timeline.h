/* Timeline: what each hart executed, with begin and end times, in bounded memory.
 *
 * Slices are functions (nested like the calls), traps, contexts, gaps, and which thread of an operating system ran. The
 * functions and traps of a known thread belong to the thread, on whatever hart it runs; all others to a context of a
 * hart. The unit of time is the timestamp tick when the trace has timestamps, otherwise the number of instructions of
 * the hart. A timeline has at most `most` slices: when there are more, the minimum length is doubled and shorter slices
 * are removed, in the whole trace. */
#ifndef NTRACE_TIMELINE_H
#define NTRACE_TIMELINE_H

#include <ntrace/callstack.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_timeslice_kind {
    NTR_SLICE_FUNCTION, /* `value`: number of the function */
    NTR_SLICE_TRAP, /* `value`: number of the function, or of the name of a system call or interrupt (docs/machines.md);
                     * `frame` distinguishes exception and interrupt */
    NTR_SLICE_CONTEXT, /* `value`: scontext, or hcontext when there is no scontext */
    NTR_SLICE_GAP, /* `value`: ntr_status, negated */
    NTR_SLICE_RUN, /* `task` ran on the hart */
} ntr_timeslice_kind;

typedef struct ntr_timeslice {
    uint64_t begin, end; /* end >= begin */
    uint64_t value;
    uint64_t context; /* function, trap: scontext, 0 when not known; the slices of one context are nested. */
    uint64_t guest; /* context: hcontext in V modes, 0 elsewhere */
    uint64_t order; /* order of entry; of two slices with the same begin, the outer one has the lower value */
    uint16_t src;
    uint8_t kind; /* ntr_timeslice_kind */
    uint8_t frame; /* function, trap: ntr_frame_kind */
    const ntr_task *task; /* function, trap, run: the thread; NULL: not known. It has another name later if it executes
                           * a program (ntr_tasks_last) */
} ntr_timeslice;

/* Returns whether both slices are on one track: functions or traps of a thread, or of a context of a hart; contexts,
 * gaps, or threads of a hart. The slices of a track are nested. */
NTR_API bool ntr_timeslice_same_track(const ntr_timeslice *one, const ntr_timeslice *other);

typedef struct ntr_timeline ntr_timeline;

/* Makes a timeline. `functions` must outlive it. `most` is the maximum number of slices; 0 means 200,000. Errors:
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_timeline_new(ntr_functions *functions, size_t most, const ntr_allocator *allocator,
                                    ntr_timeline **out);
NTR_API void ntr_timeline_free(ntr_timeline *timeline);

/* Processes `count` events in stream order, of a decoder that divides spans (ntr_decoder_set_division). Errors:
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_timeline_feed(ntr_timeline *timeline, const ntr_event *events, size_t count);

/* Closes open slices and sorts all slices by track, begin and order: first those of harts by source, kind and context,
 * then those of threads by tgid, pid and kind. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_timeline_finish(ntr_timeline *timeline);

/* Returns the slices and stores their number in *count. Call it after ntr_timeline_finish. */
NTR_API const ntr_timeslice *ntr_timeline_slices(const ntr_timeline *timeline, size_t *count);

/* Returns whether times are timestamp ticks; otherwise they are instructions of the hart. */
NTR_API bool ntr_timeline_timed(const ntr_timeline *timeline);

/* Returns the minimum length: shorter functions and traps were removed. 0: none was removed. */
NTR_API uint64_t ntr_timeline_shortest(const ntr_timeline *timeline);

#ifdef __cplusplus
}
#endif
#endif
