/* The execution that a decoder must report for a run: from the port's record and the settings of the trace encoder that
 * decide when it traces. Written from the port's and the protocol's rules (ingress port section 6; N-Trace
 * 1.0 sections 8 and 9), not from an encoder. */
#ifndef NTRACE_TESTS_TRUTH_H
#define NTRACE_TESTS_TRUTH_H

#include "port.h"

typedef enum truth_kind {
    TRUTH_PC, /* an instruction retired */
    TRUTH_TRAP, /* before `pc` */
    TRUTH_START, /* tracing starts at `pc`; a sync with one of `codes` */
    TRUTH_STOP, /* tracing stops before `pc`, EVCODE in `codes` */
    TRUTH_SYNC, /* a sync is due at `pc`; its reason is the first of `codes` by priority */
} truth_kind;

typedef struct truth_item {
    truth_kind kind;
    uint64_t pc;
    uint32_t codes; /* set of SYNC, EVCODE or (TRAP) itype */
    bool unsure; /* `pc` need not be known to a decoder */
    bool uninferable; /* PC: a register jump or trap return */
    uint8_t halfwords; /* PC */
    uint64_t from; /* not before this time */
    uint32_t context; /* index of the context it ran in */
    uint32_t op; /* of the run: what made it */
} truth_item;

typedef struct truth_context {
    uint8_t prv, v;
    uint64_t scontext, hcontext;
} truth_context;

typedef struct truth_options {
    bool trigger_enable;
    unsigned start_sync, stop_evcode;
} truth_options;

typedef struct gen_truth {
    truth_item *item;
    size_t items;
    truth_context *context; /* in the order in which they came; the same may come again */
    size_t contexts;
    uint64_t halfwords; /* retired while traced */
} gen_truth;

gen_truth *truth_new(const gen_run *run, const truth_options *options);
void truth_free(gen_truth *truth);

#endif
