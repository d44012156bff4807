/* Index: points in a stream where decoding can begin, so that a part of a long trace can be decoded alone.
 *
 * From a point on, one source is decoded as if everything before had been decoded. A point is the source's first
 * message, a synchronizing message, or the place after a stop. Points are found from the messages alone, without the
 * program. Only a gap that begins before a point and reaches beyond it is not reported.
 *
 * Build an index: ntr_index_messages for each piece of the stream, or ntr_index_message for each message, then
 * ntr_index_finish; or ntr_index_add for each stored point. Use it: ntr_index_find, then ntr_decoder_begin. */
#ifndef NTRACE_INDEX_H
#define NTRACE_INDEX_H

#include <ntrace/allocator.h>
#include <ntrace/clock.h>
#include <ntrace/message.h>
#include <ntrace/program.h>
#include <ntrace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_point_kind {
    NTR_POINT_FIRST = 0, /* the source's first message */
    NTR_POINT_SYNC,      /* a synchronizing message */
    NTR_POINT_STOPPED,   /* after ProgTraceCorrelation */
} ntr_point_kind;

typedef struct ntr_point {
    uint64_t offset, message; /* the first message to read; NTR_POINT_STOPPED: the end of the stop message */
    uint64_t address;         /* NTR_POINT_SYNC: F-ADDR; else 0 */
    ntr_clock clock;          /* clock after that message; NTR_POINT_STOPPED: after the stop message */
    ntr_context context;      /* context before that message */
    uint16_t src;
    uint8_t kind;             /* ntr_point_kind */
    uint8_t mode;             /* trace mode seen so far: 0 unknown, 1 BTM, 2 HTM */
    uint64_t reserved[2];     /* must be 0; for later members */
} ntr_point;

#define NTR_INDEX_SPACING_DEFAULT 65536 /* in bytes */

#define NTR_INDEX_POINTS_MAX (UINT32_C(1) << 20)

typedef struct ntr_index ntr_index;

/* `spacing`: a point is left out if the next one is less than this many bytes after the last one in the index. 0:
 * all points are kept. It is doubled when there are many points, so that an index of a stream of any size has at most
 * 131,072 of them. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_index_new(const ntr_params *params, uint64_t spacing, const ntr_allocator *allocator,
                                 ntr_index **out);
NTR_API void ntr_index_free(ntr_index *index);

/* Adds the messages of the piece that was fed to the reader; faster than ntr_index_message. Returns NTR_NEED_MORE, or
 * NTR_END after the last piece. Errors: as ntr_index_message. */
NTR_API ntr_status ntr_index_messages(ntr_index *index, ntr_reader *reader);

/* The stream has ended: adds the last points. Errors: as ntr_index_message. */
NTR_API ntr_status ntr_index_finish(ntr_index *index);

/* Returns all points and their number. Points of one source are in the order of the stream. Valid until the index
 * changes. */
NTR_API const ntr_point *ntr_index_points(const ntr_index *index, size_t *count);

/* Unit of a place in the stream. */
typedef enum ntr_unit { NTR_UNIT_MESSAGE, NTR_UNIT_OFFSET, NTR_UNIT_TIME } ntr_unit;

/* Find where to begin in order to decode everything from `place` on: for each source with messages before it (`source`,
 * or NULL for all) its last point before `place`. *points has *count of them and belongs to the index until the next
 * call. Returns NTR_OK, or NTR_END when decoding must begin at the start of the stream. */
NTR_API ntr_status ntr_index_find(ntr_index *index, ntr_unit unit, uint64_t place, const uint16_t *source,
                                  const ntr_point **points, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
