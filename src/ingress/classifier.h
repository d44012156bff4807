/* State of the classifier, shared by its two inputs: code blocks (classifier.c) and program counters (pc_list.c). */
#ifndef NTR_INGRESS_CLASSIFIER_H
#define NTR_INGRESS_CLASSIFIER_H

#include "ingress/code_block.h"
#include "encoder/quick.h"

typedef struct pc_list pc_list;

struct ntr_classifier {
    ntr_classifier_config config;
    ntr_ingress record;      /* reused for every record */
    ntr_code_block held;     /* executed, but its successor is not known yet; valid if `holds` */
    bool holds;
    bool timed;              /* record.time was given for the next record */
    uint8_t constant;        /* register that LUI or AUIPC directly before the held block wrote; 0: none */
    ntr_hart_state state;    /* applies to the next block */
    bool state_changed;
    pc_list *pcs;            /* NULL without a program */
    char error[160];
    uint64_t number; /* of the first program counter of the block that is entered from the list, from 1; else 0 */
    uint64_t discontinuities;
    ntr_discontinuity first; /* of them */
};

/* Sends the trap, in the record of the held block if it fits there. `itype`: exception or interrupt. */
ntr_status ntr_classifier_emit_trap(ntr_classifier *c, unsigned itype, uint64_t epc, uint64_t cause, uint64_t tval);

/* Execution ends: sends the held block if `send`. `*next`: where execution would continue. */
ntr_status ntr_classifier_end(ntr_classifier *c, bool send, uint64_t *next);

/* The synthetic time (docs/ingress.md, "Time"): sets the time of the next record, which has `halfwords` halfwords, to
 * when its last instruction has retired. A record without halfwords (a trap) has the time of the one before. */
static inline void ntr_classifier_pass_time(ntr_classifier *c, uint32_t halfwords) {
    if (!c->timed) c->record.time += halfwords;
    c->timed = false;
}

/* Fast path of ntr_classifier_enter: the held block leads to `block` without a trap, and the encoder only counts it.
 * Returns false, without effect, otherwise. */
static inline bool ntr_classifier_enter_fast(ntr_classifier *c, const ntr_code_block *block) {
    const ntr_code_block *held = &c->held;
    ntr_encoder *e = c->config.encoder;
    if (!e || !c->holds || c->state_changed) return false;
    bool straight = block->start == ntr_code_block_end(held);
    bool to_target = block->start == held->target;
    switch (held->flow) {
    case NTR_FLOW_BRANCH:
        if (!(straight || to_target) || !ntr_enc_quick(e, held->halfwords, !straight)) return false;
        break;
    case NTR_FLOW_LINEAR:
        if (!straight || !ntr_enc_quick(e, held->halfwords, -1)) return false;
        break;
    case NTR_FLOW_DIRECT_JUMP:
        if (!to_target || e->params.all_jumps || !ntr_enc_quick(e, held->halfwords, -1)) return false;
        break;
    default: return false;
    }
    c->constant = held->flow == NTR_FLOW_LINEAR ? held->constant_register : 0;
    ntr_classifier_pass_time(c, held->halfwords);
    c->held = *block;
    return true;
}

#endif
