/* Holds what was told against the truth, and one decoder against the other. */
#ifndef NTRACE_TESTS_JUDGE_H
#define NTRACE_TESTS_JUDGE_H

#include "gen/truth.h"
#include "told.h"
#include <ntrace/encoder.h>

typedef struct verdict {
    bool good;
    char why[300];
    uint64_t halfwords; /* of the truth that was told, also those that ResourceFull told in vain before a loss */
} verdict;

/* `told` of source `src` against what was executed, as an encoder with this configuration has to report it.
 * `eager`: instructions may be told in pieces, as counts and histories come in. */
verdict judge_truth(const transcript *told, unsigned src, const gen_truth *truth, const ntr_encoder_config *config,
                    bool eager);

/* Both decoders tell the same. */
verdict judge_same(const transcript *oracle, const transcript *decoder, unsigned src);

#endif
