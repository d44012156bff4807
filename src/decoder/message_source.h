/* Whose message it is. */
#ifndef NTR_DECODER_MESSAGE_SOURCE_H
#define NTR_DECODER_MESSAGE_SOURCE_H

#include <ntrace/message.h>
#include <ntrace/params.h>

static inline uint16_t ntr_message_source(const ntr_params *params, const ntr_message *m) {
    return params->src_bits ? (uint16_t)m->src : 0;
}

/* Whether it is known whose a defective message was: one with a bad field was its source's, bytes whose framing is
 * broken may have been anybody's. */
static inline bool ntr_message_source_is_known(const ntr_params *params, const ntr_message *m) {
    bool framing = m->defect == NTR_E_MSEO_RESERVED || m->defect == NTR_E_MSEO_SEQUENCE || m->defect == NTR_E_IDLE ||
                   m->defect == NTR_E_MESSAGE_LONG;
    return !framing && (params->src_bits == 0 || NTR_HAS(m, SRC));
}

#endif
