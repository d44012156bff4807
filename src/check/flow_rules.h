/* The execution that a checked stream tells of: a decoder beside the reader. */
#ifndef NTR_CHECK_FLOW_RULES_H
#define NTR_CHECK_FLOW_RULES_H

#include <ntrace/check.h>

typedef struct ntr_check_flow ntr_check_flow;

/* The decoder's defect (a negative ntr_status), or NTR_OK for a return that needed no message, and where. */
typedef struct ntr_flow_finding {
    int reason;
    uint16_t src;
    uint64_t offset, message, address;
    bool has_address;
} ntr_flow_finding;

ntr_check_flow *ntr_check_flow_new(const ntr_check_config *config, ntr_status *status);
void ntr_check_flow_free(ntr_check_flow *flow);

/* As ntr_decoder_feed: everything before must have been taken. */
ntr_status ntr_check_flow_feed(ntr_check_flow *flow, const uint8_t *data, size_t size, bool last);

/* The next finding up to this message. */
bool ntr_check_flow_next(ntr_check_flow *flow, uint64_t message, ntr_flow_finding *finding);

/* NTR_OK, or why it cannot go on. */
ntr_status ntr_check_flow_status(const ntr_check_flow *flow);

#endif
