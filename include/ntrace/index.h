/* Index: where in a stream decoding can begin, so that a part of a long trace does not cost the whole.
 *
 * A point is a place from which one source is told as if everything before had been decoded: its first message, a
 * synchronizing message, or where it was stopped. Points are found from the messages alone, without the program.
 * What reaches from before a point over it is not told: a gap that is still open there. */
#ifndef NTRACE_INDEX_H
#define NTRACE_INDEX_H

#include <ntrace/allocator.h>
#include <ntrace/clock.h>
#include <ntrace/message.h>
#include <ntrace/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_point_kind {
    NTR_POINT_FIRST = 0, /* the source's first message */
    NTR_POINT_SYNC,      /* a synchronizing message */
    NTR_POINT_STOPPED,   /* whatever comes behind ProgTraceCorrelation */
} ntr_point_kind;

typedef struct ntr_point {
    uint64_t offset, message; /* the first message to read; NTR_POINT_STOPPED: at the earliest */
    uint64_t address;         /* NTR_POINT_SYNC: F-ADDR; else 0 */
    ntr_clock clock;          /* when that message was taken; NTR_POINT_STOPPED: the one before it */
    ntr_context context;      /* before that message */
    uint16_t src;
    uint8_t kind;             /* ntr_point_kind */
    uint8_t mode;             /* seen so far: 0 neither, 1 branch messages, 2 history */
    uint64_t reserved[2]; /* must be 0; for later members */
} ntr_point;

#define NTR_INDEX_SPACING_DEFAULT 65536 /* bytes */

#define NTR_INDEX_POINTS_MAX (UINT32_C(1) << 20)

typedef struct ntr_index ntr_index;

/* `spacing`: bytes of the stream between two points of a source, at least (0: every point there is); it bounds the
 * memory, with NTR_INDEX_POINTS_MAX. NULL when out of memory. */
NTR_API ntr_index *ntr_index_new(const ntr_params *params, uint64_t spacing, const ntr_allocator *allocator);
NTR_API void ntr_index_free(ntr_index *index);

/* Take in the stream's next message, defects included. Errors: NTR_E_MEMORY, NTR_E_LIMIT. */
NTR_API ntr_status ntr_index_message(ntr_index *index, const ntr_message *message);

/* The stream has ended. Errors: as above. */
NTR_API ntr_status ntr_index_end(ntr_index *index);

/* Take in a point that was found earlier; those of one source in the order of the stream. Errors: as above,
 * NTR_E_INVALID. */
NTR_API ntr_status ntr_index_add(ntr_index *index, const ntr_point *point);

/* All points; those of one source in the order of the stream. They live until the index is changed. */
NTR_API const ntr_point *ntr_index_points(const ntr_index *index, size_t *count);

/* Whether the time was known at every message: else what has no time lies before and behind every time. */
NTR_API bool ntr_index_is_timed(const ntr_index *index);
NTR_API void ntr_index_set_timed(ntr_index *index, bool timed);

/* What a place is counted in. */
typedef enum ntr_unit { NTR_UNIT_MESSAGE, NTR_UNIT_OFFSET, NTR_UNIT_TIME } ntr_unit;

/* The latest point before the place, of every source that has messages before it (`source`, or NULL for all). *points,
 * which belongs to the index until the next call, has *count of them. NTR_END: there is nothing before the place
 * that could be left out, or that is not known. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_index_find(ntr_index *index, ntr_unit unit, uint64_t place, const uint16_t *source,
                                  const ntr_point **points, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
