/* Decodes a checked stream, to find defects of the execution that it describes. */
#ifndef NTR_CHECK_FLOW_RULES_H
#define NTR_CHECK_FLOW_RULES_H

#include <ntrace/check.h>

typedef struct ntr_check_flow ntr_check_flow;

typedef enum ntr_flow_kind {
    NTR_FLOW_GAP,         /* the decoder lost the flow: `reason` */
    NTR_FLOW_NOTE,        /* a defect that it read over: `reason` */
    NTR_FLOW_PREDICTABLE, /* a return with a message could have been inferred */
    NTR_FLOW_EARLY,       /* a return was inferred in the message that also reports its call */
} ntr_flow_kind;

typedef struct ntr_flow_finding {
    uint8_t kind; /* ntr_flow_kind */
    int reason;   /* a negative ntr_status, or 0 */
    uint16_t src;
    uint64_t offset, message, address;
    bool has_address;
} ntr_flow_finding;

ntr_check_flow *ntr_check_flow_new(const ntr_check_config *config, ntr_status *status);
void ntr_check_flow_free(ntr_check_flow *flow);

/* Passes bytes as ntr_decoder_feed does. All findings of earlier bytes must have been taken. Errors: those of
 * ntr_decoder_feed. */
ntr_status ntr_check_flow_feed(ntr_check_flow *flow, const uint8_t *data, size_t size, bool last);

/* Stores the next finding up to message number `message`. Returns false when there is none. */
bool ntr_check_flow_next(ntr_check_flow *flow, uint64_t message, ntr_flow_finding *finding);

/* Returns NTR_OK, or the error that stopped the decoder. */
ntr_status ntr_check_flow_status(const ntr_check_flow *flow);

#endif
