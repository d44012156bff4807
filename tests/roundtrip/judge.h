/* Compares transcripts with the truth, and one decoder with the other. */
#ifndef NTRACE_TESTS_JUDGE_H
#define NTRACE_TESTS_JUDGE_H

#include "gen/truth.h"
#include "setup.h"
#include "transcript.h"
#include <ntrace/encoder.h>

typedef struct verdict {
    bool good;
    char why[300];
    uint64_t halfwords; /* of the truth that are in the reported, also those that ResourceFull reported before a loss
                           and that are unusable */
} verdict;

/* Compares the transcript of source `src` with the execution that an encoder with this configuration must report.
 * `eager`: instructions may be reported in parts, as counts and histories arrive. */
verdict judge_truth(const transcript *reported, unsigned src, const gen_truth *truth, const ntr_encoder_config *config,
                    bool eager);

/* The accesses of source `src` are those that its encoder was given, in order; some may be missing if it lost messages.
 */
verdict judge_accesses(const transcript *reported, unsigned src, const setup_stream *stream);

/* Both decoders report the same. */
verdict judge_same(const transcript *oracle, const transcript *decoder, unsigned src);

#endif
