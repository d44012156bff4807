/* Moments of a timeline: loads and stores, hits of watchpoints, data acquisition. For tracks.c. */
#ifndef NTR_EXPORT_MOMENTS_H
#define NTR_EXPORT_MOMENTS_H

#include "analysis/followers.h"

#include <ntrace/allocator.h>
#include <ntrace/event.h>
#include <ntrace/message.h>
#include <ntrace/program.h>

/* So many are kept; later ones are counted only. */
enum { NTR_MOMENTS_MOST = 200000 };

typedef enum ntr_moment_kind {
    NTR_MOMENT_ACCESS,
    NTR_MOMENT_WATCHPOINT,
    NTR_MOMENT_ACQUISITION,
    NTR_MOMENT_KINDS
} ntr_moment_kind;

typedef struct ntr_moment {
    uint64_t time; /* ticks if the trace has timestamps, else instructions of the hart */
    uint64_t address, data, tag;
    uint64_t order;
    const char *symbol; /* of an access; NULL: none */
    uint64_t offset;    /* in the symbol */
    uint16_t src;
    uint8_t kind, size, code;
    bool known; /* the address */
} ntr_moment;

typedef struct ntr_moments {
    const ntr_allocator *allocator;
    const ntr_program *program;
    ntr_moment *list;
    size_t count, capacity;
    uint64_t left_out;
    uint64_t *now; /* of each hart */
    bool timed;
    uint64_t chunk_now; /* `now` of the hart at the beginning of the chunk that is applied */
    uint16_t chunk_src;
    ntr_status failed;
} ntr_moments;

/* Errors: NTR_E_MEMORY. */
ntr_status ntr_moments_init(ntr_moments *points, const ntr_program *program, const ntr_allocator *allocator);
ntr_status ntr_moments_feed(ntr_moments *points, const ntr_event *events, size_t count);

/* The points as a follower: ntr_moments_feed must not be called then. */
ntr_follower ntr_moments_follower(ntr_moments *points);

/* Sorts the points by hart, kind, time and order. */
void ntr_moments_finish(ntr_moments *points);

/* Writes what happened, "read table+0x10: 0x5 (4 bytes)". */
void ntr_moment_text(const ntr_moment *point, char *out, size_t capacity);

void ntr_moments_release(ntr_moments *points);

#endif
