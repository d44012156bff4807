/* Batons: what a decoder knows between two feeds, so that another one of the same configuration can go on. */
#ifndef NTR_DECODER_SNAPSHOT_H
#define NTR_DECODER_SNAPSHOT_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>

typedef struct ntr_snapshot ntr_snapshot;

/* What is left to guess of a source after a synchronizing message. */
typedef struct ntr_snapshot_guess {
    uint16_t src;
    uint8_t mode;     /* ntr_mode */
    uint64_t first;   /* number of the message behind it: the first that counts */
    uint64_t address; /* F-ADDR */
    ntr_context context;
    ntr_clock clock;
} ntr_snapshot_guess;

/* Where a decoder is to go on, between two messages. */
typedef struct ntr_snapshot_position {
    uint64_t offset, number; /* bytes and messages up to there */
    uint32_t silent;         /* sources besides those that are guessed, that have no message in what follows */
} ntr_snapshot_position;

/* The parameters as the decoder completed them. */
const ntr_params *ntr_snapshot_params(const ntr_decoder *d);

/* What the decoder knows; it must have asked for more. NULL: out of memory. */
ntr_snapshot *ntr_snapshot_take(const ntr_decoder *d);

/* Have the decoder go on from there; what it learned of the program it keeps. Errors: NTR_E_MEMORY. */
ntr_status ntr_snapshot_restore(ntr_decoder *d, const ntr_snapshot *snapshot);

/* What is known there if of these sources nothing else was pending behind their synchronizing messages, and there was
 * no damage. What they say before is left out. `d` is spoilt. NULL: out of memory. */
ntr_snapshot *ntr_snapshot_predict(ntr_decoder *d, const ntr_snapshot_position *place,
                                   const ntr_snapshot_guess *guesses, size_t count);

/* Whether a decoder goes on from the guess exactly as from the truth: what is known in its place, and `joined`, what is
 * known of its sources where each of them begins. */
bool ntr_snapshot_matches(const ntr_snapshot *truth, const ntr_snapshot *joined, const ntr_snapshot *guess);

/* What followed was decoded from a guess that fitted: add to its end the sources that were not guessed, as they were
 * before. Errors: NTR_E_MEMORY; NTR_E_STATE: they were not silent. */
ntr_status ntr_snapshot_carry(ntr_snapshot *end, const ntr_snapshot *before, const ntr_snapshot *guess,
                              const ntr_allocator *allocator);

/* Have the decoder go on at another place, with all that it knows. */
void ntr_snapshot_move(ntr_decoder *d, const ntr_snapshot_position *place);

/* Bytes and messages read so far. */
uint64_t ntr_snapshot_offset(const ntr_snapshot *snapshot);
uint64_t ntr_snapshot_number(const ntr_snapshot *snapshot);

void ntr_snapshot_free(ntr_snapshot *snapshot, const ntr_allocator *allocator);

#endif
