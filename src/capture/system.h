/* A modelled trace system between the harts and the stream: `ntrace run --system`. */
#ifndef CLI_RUN_SYSTEM_H
#define CLI_RUN_SYSTEM_H

#include "options/options.h"
#include "bundle/stream_write.h"

#include <ntrace/bundle.h>
#include <ntrace/encoder.h>
#include <ntrace/ingress.h>

struct run_system_options {
    const char *topology; /* JSON file; NULL: no system */
    const char *sink;     /* name of the one whose trace is wanted; NULL: all */
};

extern const struct cli_option run_system_rows[];

struct run_system;

/* Build the system and start it. `params` and `mode` of `config` become those of its streams. NULL after telling
 * why not. */
struct run_system *run_system_new(const struct run_system_options *options, unsigned xlen, struct run_stream *stream,
                                  ntr_encoder_config *config);
void run_system_free(struct run_system *system);

/* The classifier's blocks go to this hart of the system. */
void run_system_attach(struct run_system *system, unsigned hart, ntr_classifier_config *classifier);

/* What runs is not seen until the hart's next block. */
ntr_status run_system_leave(struct run_system *system, unsigned hart, uint64_t next);

/* The clock: a cycle for every instruction that any hart retires. */
uint64_t run_system_now(const struct run_system *system);
ntr_status run_system_step(struct run_system *system, uint64_t cycles);

/* What a tick of TSTAMP is: "cycle", "16 cycles"; NULL: there are no timestamps. */
const char *run_system_tick(const struct run_system *system);

/* Whether the hart's trace goes to the stream, and with which SRC. */
bool run_system_source(const struct run_system *system, unsigned hart, uint16_t *src);

/* Switch everything off; what RAM sinks hold goes to the stream. Returns CLI_OK, or CLI_FAILED after telling why. */
int run_system_finish(struct run_system *system);

/* What did not arrive; one line each, which lives as long as the system. NULL past the last. */
const char *run_system_loss(const struct run_system *system, size_t index);

/* "te1: hart 1 is stalled for good": why a call failed; "" when none did. */
const char *run_system_error(const struct run_system *system);

#endif
