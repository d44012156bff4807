/* The classifier's state, shared by its two doors: code blocks and program counters. */
#ifndef NTR_FLOW_CLASSIFIER_H
#define NTR_FLOW_CLASSIFIER_H

#include <ntrace/encoder.h>
#include <ntrace/ingress.h>

typedef struct pc_list pc_list;

struct ntr_classifier {
    ntr_classifier_config config;
    ntr_ingress record;      /* sent again and again, with what changes filled in */
    ntr_code_block held;     /* executed; what followed is not known yet */
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

#endif
