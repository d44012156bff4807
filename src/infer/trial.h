/* How well a stream decodes with certain parameters. For infer.c. */
#ifndef NTR_INFER_TRIAL_H
#define NTR_INFER_TRIAL_H

#include <ntrace/bytes.h>
#include <ntrace/decoder.h>

typedef struct ntr_infer_trial {
    ntr_params params;
    uint64_t instructions, spans;
    uint64_t followed;       /* messages that led to an execution */
    bool ran_away;           /* too many spans: it did not see the whole stream */
    uint64_t contradictions; /* gaps that right parameters do not make; notes */
    uint64_t without_image;  /* gaps where code is missing */
    uint64_t implicit_returns, implicit_jumps;
    uint64_t redundant_returns; /* told by a message although the caller was known */
    uint64_t counted_traps;    /* ECALLs that the encoder counted */
    uint64_t span_hash;              /* hash of all spans: equal for equal executions */
} ntr_infer_trial;

/* Decode `stream`. A message cut at its end is no contradiction. Wrong parameters can make a few bytes stand for any
 * number of instructions, so a trial ends after a bounded number of spans. Errors: NTR_E_MEMORY. */
ntr_status ntr_infer_trial_run(const ntr_decoder_config *config, ntr_bytes stream, ntr_infer_trial *trial);

/* Whether `a` explains the stream clearly better than `b`. */
bool ntr_infer_trial_better(const ntr_infer_trial *a, const ntr_infer_trial *b);

static inline uint64_t ntr_infer_failures(const ntr_infer_trial *t) {
    return t->contradictions + t->without_image;
}

/* Whether both tell the same execution. */
static inline bool ntr_infer_trial_same(const ntr_infer_trial *a, const ntr_infer_trial *b) {
    return a->span_hash == b->span_hash && a->instructions == b->instructions && a->contradictions == b->contradictions;
}

#endif
