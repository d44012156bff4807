/* What a decoder told of a stream, in one form for both decoders: the oracle's events. */
#ifndef NTRACE_TESTS_TOLD_H
#define NTRACE_TESTS_TOLD_H

#include "gen/prng.h"
#include "oracle.h"
#include <ntrace/decoder.h>

/* A damaged count can stand for more instructions than anybody wants to hear of. */
#define TOLD_MAX 4000000u

typedef struct transcript {
    oracle_event *event;
    size_t events;
    bool endless; /* more than TOLD_MAX events: the rest is missing */
    char wrong[200]; /* the decoder broke its own rules; "" otherwise */
} transcript;

void told_free(transcript *told);

transcript *told_by_oracle(const ntr_params *params, const ntr_program *program, ntr_bytes stream);

/* Feeds pieces of random size and reads into arrays of random size. */
transcript *told_by_decoder(const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random);

/* Totals of the counting decode, fed in pieces as well. */
bool told_counts(const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random, ntr_counts *counts);

#endif
