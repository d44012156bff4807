/* The first events of a chunk with timestamps, which are kept as they are.
 *
 * Idea: a message's time is the difference to the timestamp of the message before it (time_attribution.h), which the
 * thread of a chunk does not have. The first events of the chunk, up to the end of the first message with spans, are
 * its head. They are fed to the tree of the whole when the chunk is applied. All differences behind them are between
 * two timestamps of the chunk.
 *
 * Example: a chunk has a synchronizing message at time 100, without spans, and messages with spans at 130 and 150. The
 * events of the first two are the head. In the tree of the chunk, the spans of the third one get 20 ticks. */
#ifndef NTR_ANALYSIS_CHUNK_HEAD_H
#define NTR_ANALYSIS_CHUNK_HEAD_H

#include <ntrace/allocator.h>
#include <ntrace/event.h>

typedef struct ntr_chunk_head {
    const ntr_allocator *allocator;
    ntr_event *events;
    size_t count, capacity;
    bool open;   /* the next event may belong to it */
    bool spans;  /* it has a span */
    bool dependent; /* it is too long, or times of several sources, or times behind events without: the chunk cannot
                   stand alone */
    bool failed; /* out of memory */
} ntr_chunk_head;

void ntr_chunk_head_release(ntr_chunk_head *head);

/* A chunk begins. */
void ntr_chunk_head_restart(ntr_chunk_head *head);

/* Takes the leading events that belong to the head. Returns their number. */
size_t ntr_chunk_head_take(ntr_chunk_head *head, const ntr_event *events, size_t count);

#endif
