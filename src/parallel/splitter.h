/* The splitter: where a stream can be cut into chunks, and what is known of each source there.
 *
 * Idea: only the first bytes of most messages are read; only messages that change the guess (synchronizing, Ownership,
 * stop) are decoded. A chunk ends after a synchronizing message. It can be begun before the previous chunk is decoded
 * when every source with messages in it synchronizes in it. Messages of a source before that are its *pre-sync
 * messages*: the thread of the previous chunk decodes them as well, and so finds the true state where the source
 * synchronizes. Sources without messages in the chunk (silent sources) keep their state.
 *
 * A source that is stopped at the beginning of a chunk (by ProgTraceCorrelation) is known as well, if the stream has no
 * timestamps: when it continues, it has no pre-sync messages. So streams are also cut after a stop.
 *
 * Invariant: the guess of a chunk, if there is one, contains the state of every source with messages in the chunk,
 * right after its first synchronizing message, or stopped. A source without earlier messages needs no guess: it starts
 * with the initial state.
 *
 * Example with two sources: the chunk begins after a ProgTraceSync of source 0. Two messages of source 1 follow, then a
 * ProgTraceSync of source 1. These three are the pre-sync messages; the guess says that source 0 starts at the first
 * address, and source 1 with its first message after the second ProgTraceSync. */
#ifndef NTR_PARALLEL_SPLITTER_H
#define NTR_PARALLEL_SPLITTER_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>

#include "decoder/snapshot.h"
#include "message/quick.h"

typedef struct ntr_pre_sync_message {
    uint64_t number; /* `number` counts from the beginning of the stream, `offset` from the beginning of the chunk */
    size_t offset, size;
} ntr_pre_sync_message;

typedef struct ntr_pre_sync {
    ntr_pre_sync_message *messages;
    size_t count, capacity;
} ntr_pre_sync;

/* The state of one source. */
typedef struct ntr_splitter_source {
    ntr_snapshot_guess current, at_sync; /* after the latest message, and where it synchronized in the chunk */
    bool seen_before;                    /* had messages before this chunk */
    bool in_previous, in_chunk;          /* has messages in the previous chunk, in this one */
    bool synced, has_pre_sync; /* synchronized in this chunk, or stopped before; messages of this chunk before that */
    bool begun; /* has synchronized in the stream */
    bool waits; /* stopped before this chunk, and not synchronized since */
} ntr_splitter_source;

typedef struct ntr_splitter {
    const ntr_decoder_config *config;
    ntr_params params;
    const ntr_quick *quick;
    ntr_decoder *scratch; /* a decoder with which guesses are made */
    ntr_splitter_source **sources; /* by SRC; allocated at the first message of the source */
    uint16_t *seen; /* their SRC values */
    uint32_t seen_count;
    uint64_t offset; /* bytes of the stream scanned so far */
    uint64_t number; /* messages up to there */
    /* correction of `number`, when a wrong guess showed that messages were counted wrongly */
    uint64_t number_shift;
    bool inside; /* inside a message, or inside damaged bytes */
    bool seeking; /* ... at the beginning of the stream (mid_stream) */

    /* The current chunk. */
    uint64_t begin, begin_number;
    ntr_splitter_source *latest; /* source of the synchronizing message at which the last scan stopped, or NULL */
    bool at_message; /* the chunk begins with a message, not inside one */
    bool damaged; /* the chunk has bytes of an unknown source, */
    uint64_t damaged_at; /* beginning at this offset */
    bool pre_sync_full; /* more pre-sync messages than a thread should decode */
    bool stop_used; /* a message of a source that waits depends on what was before the stop */
    uint32_t unsynced; /* earlier sources with messages, not synchronized yet */
    ntr_pre_sync pre_sync;
} ntr_splitter;

/* Errors: as ntr_decoder_new. */
ntr_status ntr_splitter_start(ntr_splitter *splitter, const ntr_decoder_config *config);
void ntr_splitter_end(ntr_splitter *splitter);

/* Scan input up to the end of the first synchronizing message that ends at data[least] or later and after which the
 * stream can be cut (*found). Returns the number of bytes scanned; the rest is the beginning of a message. Errors
 * (*status): NTR_E_MEMORY. */
size_t ntr_splitter_scan(ntr_splitter *splitter, const uint8_t *data, size_t size, size_t least, bool *found,
                         ntr_status *status);

/* Pass bytes without scanning: the stream is cut inside a message. */
void ntr_splitter_pass(ntr_splitter *splitter, size_t size);

/* The current chunk ends. *guess is the state at which it can be begun, NULL when it cannot; its pre-sync messages are
 * in splitter->pre_sync. `guessed`: the previous chunk has a guess. `last`: end of the stream. Errors: NTR_E_MEMORY. */
ntr_status ntr_splitter_guess(ntr_splitter *splitter, bool guessed, bool last, ntr_snapshot **guess);

/* The next chunk begins. */
void ntr_splitter_next_chunk(ntr_splitter *splitter);

#endif
