/* Batons: what a decoder knows between two feeds, so that another one of the same configuration can go on. */
#ifndef NTR_FLOW_BATON_H
#define NTR_FLOW_BATON_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>

typedef struct ntr_baton ntr_baton;

/* What is left to guess of a source after a synchronizing message; the message tells the rest. */
typedef struct ntr_baton_guess {
    uint64_t number; /* messages up to and including it */
    ntr_context context;
    ntr_clock clock;
    uint8_t mode; /* ntr_mode, decoder_state.h */
} ntr_baton_guess;

/* The parameters as the decoder completed them. */
const ntr_params *ntr_baton_params(const ntr_decoder *d);

/* What the decoder knows; it must have asked for more. NULL: out of memory. */
ntr_baton *ntr_baton_take(const ntr_decoder *d);

/* Have the decoder go on from there; what it learned of the program it keeps. Errors: NTR_E_MEMORY. */
ntr_status ntr_baton_give(ntr_decoder *d, const ntr_baton *baton);

/* What is known after this synchronizing message if nothing else was pending: right behind it, one source, no gap.
 * `d` is spoilt. NULL: out of memory. */
ntr_baton *ntr_baton_guessed(ntr_decoder *d, const ntr_message *sync, const ntr_baton_guess *guess);

/* Whether a decoder goes on from the guess exactly as from the truth. */
bool ntr_baton_fits(const ntr_baton *truth, const ntr_baton *guess);

/* Messages read so far. */
uint64_t ntr_baton_number(const ntr_baton *baton);

/* The sources, to be asked for 0, 1, ...; false: no more. */
bool ntr_baton_source(const ntr_baton *baton, size_t index, uint16_t *src, ntr_context *context);

void ntr_baton_free(ntr_baton *baton, const ntr_allocator *allocator);

#endif
