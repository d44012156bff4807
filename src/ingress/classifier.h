/* The classifier's state, shared by its two doors: code blocks and program counters. */
#ifndef NTR_INGRESS_CLASSIFIER_H
#define NTR_INGRESS_CLASSIFIER_H

#include "ingress/code_block.h"
#include "encoder/quick.h"

typedef struct pc_list pc_list;

struct ntr_classifier {
    ntr_classifier_config config;
    ntr_ingress record;      /* sent again and again, with what changes filled in */
    ntr_code_block held;     /* executed; what followed is not known yet */
    uint32_t passed;         /* halfwords of the last record, which are not in record.time yet */
    bool holds;
    uint8_t constant;        /* register that the instruction before the held block made constant; 0: none */
    ntr_hart_state state;    /* from the next block on */
    bool state_changed;
    pc_list *pcs;            /* NULL without program */
    char error[160];
};

/* pc_list.c */
ntr_status ntr_pc_list_new(ntr_classifier *c);
void ntr_pc_list_free(ntr_classifier *c);
ntr_status ntr_pc_list_finish(ntr_classifier *c); /* enter the block that was met only in part */
void ntr_pc_list_forget(ntr_classifier *c);       /* the code may look different now */

/* A record of so many halfwords is next. What has none bears the time of the one before: a trap takes no time. */
static inline void ntr_classifier_pass_time(ntr_classifier *c, uint32_t halfwords) {
    c->record.time += c->passed;
    c->passed = halfwords;
}

/* Enter `block` if the held one led straight to it and the encoder has nothing to do but count. */
static inline bool ntr_classifier_enter_quickly(ntr_classifier *c, const ntr_code_block *block) {
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
