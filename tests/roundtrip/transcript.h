/* Transcripts: the events of a decoder for a stream, in one form for both decoders, that of the oracle. */
#ifndef NTRACE_TESTS_TRANSCRIPT_H
#define NTRACE_TESTS_TRANSCRIPT_H

#include "gen/prng.h"
#include "oracle.h"
#include <ntrace/decoder.h>

/* Maximum number of events: a damaged count can stand for a huge number of instructions. */
#define TRANSCRIPT_MAX 4000000u

typedef struct transcript {
    oracle_event *event;
    size_t events;
    bool endless; /* more than TRANSCRIPT_MAX events: the rest is missing */
    char wrong[200]; /* the decoder violated its guarantees; "" otherwise */
} transcript;

void transcript_free(transcript *t);

transcript *transcript_by_oracle(const ntr_params *params, const ntr_program *program, ntr_bytes stream);

/* Feeds spans of random size and reads into arrays of random size. */
transcript *transcript_by_decoder(const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random);

/* Totals of the counting decode, fed in pieces of random size, too. */
bool transcript_counts(const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random,
                       ntr_counts *counts);

#endif
