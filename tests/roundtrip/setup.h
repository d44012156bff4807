/* The settings of one random run, derived from one number. */
#ifndef NTRACE_TESTS_SETUP_H
#define NTRACE_TESTS_SETUP_H

#include "gen/truth.h"
#include <ntrace/encoder.h>
#include <ntrace/program.h>

#define SETUP_HARTS_MAX 4

typedef struct setup_hart {
    gen_run *run;
    gen_truth *truth;
    ntr_encoder_config config; /* sink not set */
    uint64_t data_seed;        /* of its loads and stores; 0: none */
} setup_hart;

typedef struct setup {
    prng random; /* for feeding and merging */
    gen_graph *graph;
    ntr_program *program;
    unsigned harts;
    setup_hart hart[SETUP_HARTS_MAX];
    ntr_params params;   /* stream parameters */
} setup;

typedef struct setup_wish {
    unsigned instructions; /* retired by each hart; 0: chosen by the seed */
    prng_tape *tape;       /* decides until it is used up, then the seed; may be NULL */
    bool standard;         /* N-Trace 1.0 only, no other dialect */
    bool steady; /* standard, one hart, nothing lost in the encoder, syncs every few hundred messages at the most */
    bool data; /* some runs have loads and stores */
} setup_wish;

setup *setup_new(uint64_t seed, const setup_wish *wish);
void setup_free(setup *setup);

/* A load or store that was traced. */
typedef struct setup_access {
    uint64_t address, data;
    uint8_t size, store;
} setup_access;

/* The bytes of a hart's encoder, and where its messages start. */
typedef struct setup_stream {
    uint8_t *bytes;
    size_t size, capacity;
    size_t *message; /* start of each */
    size_t messages;
    setup_access *access;
    size_t accesses;
    char wrong[200]; /* why the encoder failed; "" otherwise */
    ntr_encoder_status status; /* at the end */
} setup_stream;

/* Encode one hart's run. */
setup_stream *setup_encode(const setup_hart *hart);
void setup_stream_free(setup_stream *stream);

/* All harts' streams in one, messages interleaved at random, with idle bytes between some. */
setup_stream *setup_merge(setup_stream *const *streams, unsigned count, prng *random);

#endif
