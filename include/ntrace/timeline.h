/* A timeline: what each hart was in, from when to when, in bounded memory.
 *
 * Slices are functions (nested as called), traps, contexts and gaps. Time is the trace's own where it is stamped
 * (ticks), else the instructions that the hart has executed. There are never more than `most` slices: when they
 * get too many, the shortest allowed doubles and shorter ones go, over the whole of the trace alike. */
#ifndef NTRACE_TIMELINE_H
#define NTRACE_TIMELINE_H

#include <ntrace/callstack.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_timeslice_kind {
    NTR_SLICE_FUNCTION, /* `value`: its number in the functions */
    NTR_SLICE_TRAP,     /* the same; `kind` of the frame tells exception and interrupt apart */
    NTR_SLICE_CONTEXT,  /* `value`: scontext, or hcontext where there is none */
    NTR_SLICE_GAP,      /* `value`: ntr_status, negated */
    NTR_SLICE_KINDS,
} ntr_timeslice_kind;

typedef struct ntr_timeslice {
    uint64_t begin, end; /* end >= begin */
    uint64_t value;
    uint64_t context; /* function, trap: the scontext it ran in, 0 when not known: stacks of one context nest */
    uint64_t order;   /* of entering: of two that begin alike, the outer one has the lower */
    uint16_t src;
    uint8_t kind;   /* ntr_timeslice_kind */
    uint8_t frame;  /* function, trap: ntr_frame_kind */
} ntr_timeslice;

typedef struct ntr_timeline ntr_timeline;

/* `functions` must outlive it. `most` 0: 200,000 slices. NULL when out of memory. */
NTR_API ntr_timeline *ntr_timeline_new(ntr_functions *functions, size_t most, const ntr_allocator *allocator);
NTR_API void ntr_timeline_free(ntr_timeline *timeline);

/* Take events in stream order. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_timeline_feed(ntr_timeline *timeline, const ntr_event *events, size_t count);

/* Close what is open, and order by source, kind, context, begin and order. */
NTR_API ntr_status ntr_timeline_finish(ntr_timeline *timeline);

/* After ntr_timeline_finish. */
NTR_API const ntr_timeslice *ntr_timeline_slices(const ntr_timeline *timeline, size_t *count);

/* Whether times are ticks of the trace; else they are instructions of the hart. */
NTR_API bool ntr_timeline_timed(const ntr_timeline *timeline);

/* Functions and traps shorter than this were left out; 0: none was. */
NTR_API uint64_t ntr_timeline_shortest(const ntr_timeline *timeline);

#ifdef __cplusplus
}
#endif
#endif
