/* Encoder: ingress blocks in, N-Trace messages out. N-Trace 1.0 section 13.
 *
 * Every message is given whole to the sink; nothing partial is ever emitted. */
#ifndef NTRACE_ENCODER_H
#define NTRACE_ENCODER_H

#include <ntrace/allocator.h>
#include <ntrace/ingress.h>
#include <ntrace/params.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_encoder ntr_encoder;

typedef enum ntr_inst_mode { NTR_INST_MODE_BTM = 3, NTR_INST_MODE_HTM = 6 } ntr_inst_mode; /* trTeInstMode */

/* Takes one whole message. Anything but NTR_OK is given back by the call that made the message. */
typedef ntr_status (*ntr_message_sink)(void *user, const uint8_t *bytes, size_t size);

typedef struct ntr_encoder_config {
    size_t size;       /* sizeof(ntr_encoder_config) */
    ntr_params params; /* what a reader of the stream will have to know */
    uint16_t src_id;
    uint8_t mode;      /* ntr_inst_mode */
    uint8_t icnt_bits; /* 0: 22 */
    uint8_t hist_bits; /* with the stop-bit; 0: 32 */
    const ntr_allocator *allocator;
    ntr_message_sink sink;
    void *sink_user;
} ntr_encoder_config;

NTR_API void ntr_encoder_config_init(ntr_encoder_config *config);
NTR_API ntr_encoder *ntr_encoder_new(const ntr_encoder_config *config, ntr_status *status);
NTR_API void ntr_encoder_free(ntr_encoder *encoder);

/* Feed one block. Errors: NTR_E_INGRESS (inconsistent; the encoder's state is unchanged), the sink's. */
NTR_API ntr_status ntr_encoder_push(ntr_encoder *encoder, const ntr_ingress *block);

/* End of the run: emit what is pending and the ProgTraceCorrelation with this EVCODE. `next` is the
 * address execution stopped at. */
NTR_API ntr_status ntr_encoder_stop(ntr_encoder *encoder, uint64_t next, unsigned evcode);

#ifdef __cplusplus
}
#endif
#endif
