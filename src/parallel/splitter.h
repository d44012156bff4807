/* Where a stream can be cut, and what is known there: a look at each message's first bytes, and into those that later
 * pieces depend on.
 *
 * A piece can be begun before the one in front of it has ended when, of every source that has messages in it, one is
 * synchronizing: there the source joins. What a source that was seen before says until then is the *seam*: the piece in
 * front decodes it, too, and so learns what is true where the source joins. Sources that are silent in the piece are
 * carried over it. */
#ifndef NTR_PARALLEL_SPLITTER_H
#define NTR_PARALLEL_SPLITTER_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>

#include "decoder/snapshot.h"
#include "message/quick.h"

typedef struct ntr_pre_sync_message {
    uint64_t number; /* of the stream; offset: of the piece */
    size_t offset, size;
} ntr_pre_sync_message;

typedef struct ntr_pre_sync {
    ntr_pre_sync_message *messages;
    size_t count, capacity;
} ntr_pre_sync;

/* What is known of a source. */
typedef struct ntr_splitter_source {
    ntr_snapshot_guess current, at_sync; /* behind the latest message, and where it after_pre_sync the piece */
    bool seen_before;                    /* was seen before the piece */
    bool in_previous, in_chunk;        /* has messages in the piece before, in this one */
    bool synced, has_pre_sync;           /* ... this one, and some of them before that */
} ntr_splitter_source;

typedef struct ntr_splitter {
    const ntr_decoder_config *config;
    ntr_params params;
    const ntr_quick *quick;
    ntr_decoder *scratch;   /* for local_output guesses */
    ntr_splitter_source **sources; /* by SRC, made when first seen */
    uint16_t *seen;         /* their numbers */
    uint32_t seen_count;
    uint64_t offset;        /* of the stream, behind the last look */
    uint64_t number;        /* messages up to there */
    uint64_t number_shift;         /* messages that there were besides those it saw */
    bool inside;            /* in the middle of a message, or of what is none */
    bool seeking;           /* ... that the stream begins with (mid_stream) */

    /* Of the piece in hand. */
    uint64_t begin, begin_number;
    ntr_splitter_source *latest; /* whose synchronizing message the last look ended behind, or NULL */
    bool at_message;             /* it begins with a message */
    bool damaged;               /* bytes of it may be anybody's, */
    uint64_t damaged_at;        /* ... from there on */
    bool pre_sync_full;          /* for the seam */
    uint32_t unsynced;       /* old sources with messages, that have not after_pre_sync yet */
    ntr_pre_sync pre_sync;
} ntr_splitter;

/* Errors: as ntr_decoder_new. */
ntr_status ntr_splitter_start(ntr_splitter *splitter, const ntr_decoder_config *config);
void ntr_splitter_end(ntr_splitter *splitter);

/* Look at what follows, up to the end of the first synchronizing message that ends at data[least] or later and behind
 * which the stream may be cut, if there is one (*found). Returns how far it looked; the rest is the beginning of a
 * message. Errors (*status): NTR_E_MEMORY. */
size_t ntr_splitter_scan(ntr_splitter *splitter, const uint8_t *data, size_t size, size_t least, bool *found,
                         ntr_status *status);

/* Pass bytes without looking: the stream is cut in the middle of a message. */
void ntr_splitter_pass(ntr_splitter *splitter, size_t size);

/* The piece ends here. *guess is what it can be begun with, NULL when it cannot; the seam is cutter->seam then.
 * `guessed`: the piece in front was begun with a guess; `last`: nothing follows. Errors: NTR_E_MEMORY. */
ntr_status ntr_splitter_guess(ntr_splitter *splitter, bool guessed, bool last, ntr_snapshot **guess);

/* The next piece begins here. */
void ntr_splitter_next_chunk(ntr_splitter *splitter);

#endif
