/* The source of a message. */
#ifndef NTR_DECODER_MESSAGE_SOURCE_H
#define NTR_DECODER_MESSAGE_SOURCE_H

#include <ntrace/message.h>
#include <ntrace/params.h>

/* Returns SRC, or 0 in a stream without SRC. */
static inline uint16_t ntr_message_source(const ntr_params *params, const ntr_message *m) {
    return params->src_bits ? (uint16_t)m->src : 0;
}

/* Returns whether the source of a defective message is known. It is when only a field is wrong, but not when the
 * framing is: the bytes may belong to any source. */
static inline bool ntr_message_source_is_known(const ntr_params *params, const ntr_message *m) {
    bool framing = m->defect == NTR_E_MSEO_RESERVED || m->defect == NTR_E_MSEO_SEQUENCE || m->defect == NTR_E_IDLE ||
                   m->defect == NTR_E_MESSAGE_LONG;
    return !framing && (params->src_bits == 0 || NTR_HAS(m, SRC));
}

#endif
