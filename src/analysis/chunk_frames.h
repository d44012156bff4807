/* Frames of a chunk, for the followers of the tree of the whole (followers.h): timeline, interrupts.
 *
 * Idea: most functions that are entered in a chunk are left in it. Their begin and end are known relative to the
 * beginning of the chunk, in instructions; they are kept in a list, in the order in which they are left, and are given
 * to the followers when the chunk is applied. All other frames are in the log of the chunk (open_log.h), with their
 * begin: a frame that is changed by a logged event, or that is open at the end. Traps are not kept: an event that
 * enters one is logged, so that the followers see all of it.
 *
 * Example: a chunk begins in `f`, 1,000 instructions after the beginning of the trace. `f` calls `g` at 20, which
 * returns at 50; `f` calls `h` at 60, which is still running at the end. The list has `g` from 20 to 50. The log has
 * the frame of `h`, from 60 on. When the chunk is applied, the timeline gets a slice of `g` from 1,020 to 1,050, and an
 * open frame of `h` since 1,060. */
#ifndef NTR_ANALYSIS_CHUNK_FRAMES_H
#define NTR_ANALYSIS_CHUNK_FRAMES_H

#include "base/allocator.h"

#include <ntrace/callstack.h>

/* A frame that was entered in the chunk. Times are relative to its beginning. */
typedef struct ntr_chunk_frame {
    uint64_t begin, end; /* of an open frame, `end` is 0 */
    uint64_t order;      /* order of entry */
    uint64_t context;    /* scontext when it was left; 0: not known */
    uint32_t function;
    uint32_t kind;       /* ntr_frame_kind */
} ntr_chunk_frame;

/* A frame on a stack of the chunk. */
typedef struct ntr_chunk_record {
    uint64_t begin, order;
    uint32_t node; /* of the tree */
} ntr_chunk_record;

typedef struct ntr_chunk_frames {
    const ntr_allocator *allocator;
    ntr_chunk_record *records; /* by the handle of a frame */
    ntr_pool pool;             /* of `records` */
    ntr_chunk_frame *list;
    size_t count, capacity;
    uint64_t now, entered;     /* instructions and frames so far */
    uint64_t shortest;         /* shorter frames are not kept */
    uint16_t src;
    bool begun;                /* it has had an event, of source `src` */
    bool dependent; /* times, several sources, or events that followers need: the chunk cannot stand alone */
    bool failed; /* out of memory */
} ntr_chunk_frames;

void ntr_chunk_frames_release(ntr_chunk_frames *frames);

/* A chunk begins. */
void ntr_chunk_frames_restart(ntr_chunk_frames *frames);

/* To be called for each event, before the stacks change. */
void ntr_chunk_frames_event(ntr_chunk_frames *frames, const ntr_event *event);

/* A frame is entered. Returns its handle. */
uint32_t ntr_chunk_frames_enter(ntr_chunk_frames *frames, uint32_t node);

/* A frame is left. */
void ntr_chunk_frames_leave(ntr_chunk_frames *frames, const ntr_stack_moment *moment, const ntr_stack_frame *frame);

/* A frame is no longer on a stack of the chunk. Returns its record. */
ntr_chunk_record ntr_chunk_frames_forget(ntr_chunk_frames *frames, uint32_t handle);

#endif
