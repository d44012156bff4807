/* An index: index.c makes it, index_find.c searches it. */
#ifndef NTR_DECODER_INDEX_STATE_H
#define NTR_DECODER_INDEX_STATE_H

#include <ntrace/index.h>

/* The state of one source. */
struct indexed_source {
    bool seen, in_sync; /* in_sync: synchronized, not stopped, and no message was lost or damaged since */
    bool has_point;     /* `point` is the latest point, not added to the index yet */
    bool has_kept;
    uint64_t kept; /* stream offset of the last point in the index */
    uint8_t mode;  /* ntr_mode */
    ntr_clock clock;
    ntr_context context;
    ntr_point point;
    const ntr_point *best; /* ntr_index_find: where to begin */
    bool passed;           /* ... and a point at or after `place` was seen */
};

struct ntr_index {
    const ntr_allocator *allocator;
    ntr_params params;
    uint64_t spacing;
    bool untimed; /* a message has no known time, or a time before that of an earlier message of its source */
    bool early_loss; /* bytes were lost before the first source was seen; decoders report this for the first source */
    bool any; /* at least one source was seen */
    struct indexed_source *sources; /* by SRC */
    uint64_t *irrelevant; /* by SRC: TCODEs of messages that change nothing of `sources` */
    ntr_point *points, *found;
    size_t count, capacity;
};

#endif
