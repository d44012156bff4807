/* Batons: what a decoder knows between two feeds, so that another one of the same configuration can go on. */
#ifndef NTR_DECODER_SNAPSHOT_H
#define NTR_DECODER_SNAPSHOT_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>

typedef struct ntr_baton ntr_baton;

/* What is left to guess of a source after a synchronizing message. */
typedef struct ntr_baton_guess {
    uint16_t src;
    uint8_t mode;     /* ntr_mode */
    uint64_t first;   /* number of the message behind it: the first that counts */
    uint64_t address; /* F-ADDR */
    ntr_context context;
    ntr_clock clock;
} ntr_baton_guess;

/* Where a decoder is to go on, between two messages. */
typedef struct ntr_baton_place {
    uint64_t offset, number; /* bytes and messages up to there */
    uint32_t silent;         /* sources besides those that are guessed, that have no message in what follows */
} ntr_baton_place;

/* The parameters as the decoder completed them. */
const ntr_params *ntr_baton_params(const ntr_decoder *d);

/* What the decoder knows; it must have asked for more. NULL: out of memory. */
ntr_baton *ntr_baton_take(const ntr_decoder *d);

/* Have the decoder go on from there; what it learned of the program it keeps. Errors: NTR_E_MEMORY. */
ntr_status ntr_baton_give(ntr_decoder *d, const ntr_baton *baton);

/* What is known there if of these sources nothing else was pending behind their synchronizing messages, and there was no
 * damage. What they say before is left out. `d` is spoilt. NULL: out of memory. */
ntr_baton *ntr_baton_guessed(ntr_decoder *d, const ntr_baton_place *place, const ntr_baton_guess *guesses, size_t count);

/* Whether a decoder goes on from the guess exactly as from the truth: what is known in its place, and `joined`, what is
 * known of its sources where each of them begins. */
bool ntr_baton_fits(const ntr_baton *truth, const ntr_baton *joined, const ntr_baton *guess);

/* What followed was decoded from a guess that fitted: add to its end the sources that were not guessed, as they were
 * before. Errors: NTR_E_MEMORY; NTR_E_STATE: they were not silent. */
ntr_status ntr_baton_carry(ntr_baton *end, const ntr_baton *before, const ntr_baton *guess, const ntr_allocator *allocator);

/* Have the decoder go on at another place, with all that it knows. */
void ntr_baton_move(ntr_decoder *d, const ntr_baton_place *place);

/* Bytes and messages read so far. */
uint64_t ntr_baton_offset(const ntr_baton *baton);
uint64_t ntr_baton_number(const ntr_baton *baton);

/* The sources, to be asked for 0, 1, ...; false: no more. */
bool ntr_baton_source(const ntr_baton *baton, size_t index, uint16_t *src, ntr_context *context);

void ntr_baton_free(ntr_baton *baton, const ntr_allocator *allocator);

#endif
