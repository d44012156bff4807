/* Decoder snapshots: the state of a decoder between two spans of input, so that another decoder with the same
 * configuration can continue. For parallel decoding, and for the index of a replay (NTR_API: libntrace-tools uses it).
 *
 * Idea: a thread cannot wait for the exact state at the beginning of its chunk, because the chunks before are not
 * decoded yet. So a snapshot is predicted from the messages alone: right after a synchronizing message, address and
 * reference are F-ADDR, the return stack is empty and nothing is pending; context, time and mode follow from earlier
 * messages. After ProgTraceCorrelation, address, reference and return stack do not matter, if only messages that do not
 * use them precede the next synchronizing message. When the chunks before are decoded, the prediction is compared with
 * the true snapshot.
 *
 * Invariant: if ntr_snapshot_matches returns true, a decoder that starts from the predicted snapshot reports exactly
 * what a decoder that starts from the true one reports.
 *
 * Example: chunk 2 begins after a ProgTraceSync with F-ADDR 0x1000. Its thread starts from the prediction "at 0x1000,
 * time 500". The thread of chunk 1 ends at 0x1000 and time 500 with no open gap: the result of chunk 2 is valid. If an
 * Error message had left a gap open, chunk 2 would be decoded again from the true snapshot. */
#ifndef NTR_DECODER_SNAPSHOT_H
#define NTR_DECODER_SNAPSHOT_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>

#include "trace/data_reference.h"

typedef struct ntr_snapshot ntr_snapshot;

/* The predicted state of one source after a synchronizing message, or after one that has stopped trace. */
typedef struct ntr_snapshot_guess {
    uint16_t src;
    uint8_t mode;     /* ntr_mode */
    bool stopped;     /* trace is off until the next synchronizing message; `address` is not known */
    uint64_t first;   /* number of the next message, the first one to decode */
    uint64_t address; /* F-ADDR */
    ntr_context context;
    ntr_clock clock;
    ntr_data_reference data;
} ntr_snapshot_guess;

/* Where a decoder continues, between two messages. */
typedef struct ntr_snapshot_position {
    uint64_t offset, number; /* bytes and messages before this place */
    uint32_t silent;         /* known sources without a guess: they have no message in the rest of the chunk */
} ntr_snapshot_position;

/* Returns the parameters with the decoder's completions (dialect, xlen). */
const ntr_params *ntr_snapshot_params(const ntr_decoder *d);

/* Returns the state of the decoder. It must have returned NTR_NEED_MORE. NULL when out of memory. */
NTR_API ntr_snapshot *ntr_snapshot_take(const ntr_decoder *d);

/* Continue from this snapshot. The block cache and the memos are kept. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_snapshot_restore(ntr_decoder *d, const ntr_snapshot *snapshot);

/* Returns the snapshot at `place`, on the assumption that each guessed source had nothing pending after its
 * synchronizing message and that no bytes were damaged. Messages before guess->first are ignored. The state of `d` is
 * overwritten. NULL when out of memory. */
ntr_snapshot *ntr_snapshot_predict(ntr_decoder *d, const ntr_snapshot_position *place,
                                   const ntr_snapshot_guess *guesses, size_t count);

/* Returns whether a decoder continues from `guess` exactly as from the truth. `truth` is the state at the position of
 * the guess, `after_pre_sync` the state in which each guessed source begins. */
bool ntr_snapshot_matches(const ntr_snapshot *truth, const ntr_snapshot *after_pre_sync, const ntr_snapshot *guess);

/* A chunk was decoded from a matching guess and ended in `end`: add the sources without guess, in their state `before`,
 * and the places of those that are still stopped. Errors: NTR_E_MEMORY; NTR_E_STATE: such a source had messages in the
 * chunk. */
ntr_status ntr_snapshot_carry(ntr_snapshot *end, const ntr_snapshot *before, const ntr_snapshot *guess,
                              const ntr_allocator *allocator);

/* Continue at another place of the stream, with the same state. */
void ntr_snapshot_move(ntr_decoder *d, const ntr_snapshot_position *place);

/* Bytes and messages read so far. */
uint64_t ntr_snapshot_offset(const ntr_snapshot *snapshot);
NTR_API uint64_t ntr_snapshot_number(const ntr_snapshot *snapshot);

/* The latest time of a source, or 0. */
NTR_API uint64_t ntr_snapshot_time(const ntr_snapshot *snapshot);

/* Describes source number `index` of the snapshot: its SRC, and the address behind the last span it has reported.
 * *address_known: false, the flow of the source is not known. Returns false when `index` is past the last source. */
NTR_API bool ntr_snapshot_source(const ntr_snapshot *snapshot, size_t index, uint16_t *src, uint64_t *address,
                                 bool *address_known);

/* Decoding with joined spans, after NTR_NEED_MORE: stores a span of the instructions of one source that no span has
 * reported yet. Returns false when there are none. */
bool ntr_decoder_take_joined(ntr_decoder *d, ntr_event *event);

/* The instructions that a decoder with joined spans would add to the next span have been counted: forget them, so that
 * a decoder that returns all spans can continue. */
NTR_API void ntr_snapshot_forget_joined(ntr_snapshot *snapshot);

NTR_API void ntr_snapshot_free(ntr_snapshot *snapshot, const ntr_allocator *allocator);

#endif
