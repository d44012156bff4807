/* A trial: how well a stream decodes with given parameters. For infer.c. */
#ifndef NTR_INFER_TRIAL_H
#define NTR_INFER_TRIAL_H

#include <ntrace/bytes.h>
#include <ntrace/decoder.h>

enum { NTR_TRIAL_PARTS = 8 };

typedef struct ntr_infer_trial {
    ntr_params params;
    uint64_t instructions, spans;
    uint64_t followed;       /* messages that led to executed code */
    bool ran_away;           /* stopped after TRIAL_SPANS_MAX spans: did not see the complete stream */
    uint64_t contradictions; /* notes, and gaps that do not occur with the right parameters */
    uint64_t without_image;  /* gaps because of missing code */
    uint64_t implicit_returns; /* messages with returns that have none of their own */
    uint64_t implicit_jumps;   /* messages with other register jumps that have none, co-routine swaps among them */
    uint64_t implicit_early;    /* returns without a message whose call is reported by the same message */
    uint64_t redundant_returns; /* reported by a message although the return address was known */
    uint64_t redundant_early;   /* those whose call is reported by the same message */
    uint64_t counted_traps;     /* ECALLs that the encoder counted in I-CNT */
    uint64_t span_hash;         /* hash of all spans: equal for equal executions */
    uint64_t followed_by[NTR_TRIAL_PARTS]; /* followed up to the end of each part of the stream */
} ntr_infer_trial;

/* Decode `stream`. A message cut at its end is not counted as contradiction. With wrong parameters a few bytes may
 * stand for any number of instructions, so a trial ends after TRIAL_SPANS_MAX spans. It also ends where it follows next
 * to nothing of what `best`, a trial with few failures (NULL: none), follows up to there: no later part makes it
 * better. Errors: NTR_E_MEMORY. */
ntr_status ntr_infer_trial_run(const ntr_decoder_config *config, ntr_bytes stream, const ntr_infer_trial *best,
                               ntr_infer_trial *trial);

/* Returns whether `a` explains the stream clearly better than `b`. */
bool ntr_infer_trial_better(const ntr_infer_trial *a, const ntr_infer_trial *b);

/* Returns the number of gaps and notes that speak against the parameters. */
static inline uint64_t ntr_infer_failures(const ntr_infer_trial *t) {
    return t->contradictions + t->without_image;
}

/* Returns whether `b` follows next to nothing of what `a`, which has few failures, follows. */
static inline bool ntr_infer_follows_little(const ntr_infer_trial *a, const ntr_infer_trial *b) {
    return b->followed * 8 <= a->followed && ntr_infer_failures(a) * 8 <= a->followed;
}

/* Returns whether both trials decoded the same execution. */
static inline bool ntr_infer_trial_same(const ntr_infer_trial *a, const ntr_infer_trial *b) {
    return a->span_hash == b->span_hash && a->instructions == b->instructions && a->contradictions == b->contradictions;
}

#endif
