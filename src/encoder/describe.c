/* DeviceID, and Config: how the encoder is configured, for decoders that know nothing else of the stream.
 * docs/dialects.md section 12.5. */
#include "encoder/state.h"

enum { VERSION = 1, CONFIG_BTM = 3, CONFIG_HTM = 6, SHARED_TIME = 1 };

/* The features as in CAPS and ENAB. */
static uint64_t features(const ntr_encoder *e) {
    const ntr_encoder_config *c = &e->config;
    return (uint64_t)(c->params.implicit_return != NTR_RETURN_OFF) << 0 | (uint64_t)c->repeated_history << 1 |
           (uint64_t)(c->icnt_bits > 8) << 2 | (uint64_t)e->repeat_branch << 3 |
           (uint64_t)(e->tables.targets != NULL) << 4 | (uint64_t)(e->tables.counters != NULL) << 5 |
           (uint64_t)c->params.sequential_jump << 6 | (uint64_t)(c->ownership != NTR_OWNERSHIP_OFF) << 7 |
           UINT64_C(1) << 8 | (uint64_t)e->timestamps << 15 | (uint64_t)c->repeat_instruction << 9 |
           (uint64_t)(c->device_id != 0) << 19 | UINT64_C(1) << 21 | (uint64_t)(c->params.xlen == 64) << 23;
}

static void send_device_id(ntr_encoder *e) {
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_DEVICE_ID);
    NTR_SET(m, DEVID, devid, e->config.device_id);
    ntr_enc_send(e, m, e->now);
}

void ntr_enc_describe(ntr_encoder *e) {
    const ntr_encoder_config *c = &e->config;
    if (c->device_id) send_device_id(e);
    unsigned src_bits = e->params.src_bits, inhibited = src_bits == 0, depth = c->params.return_stack & 31;
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_CONFIG);
    NTR_SET(m, CFGVER, cfgver, VERSION);
    NTR_SET(m, CAPS, caps, features(e));
    NTR_SET(m, ENAB, enab, features(e));
    NTR_SET(m, P0, p0, src_bits | (inhibited ? 0u : (unsigned)c->src_id << 4));
    NTR_SET(m, P1, p1,
            inhibited << 11 | (unsigned)c->sync_max << 7 | (unsigned)c->sync_mode << 3 |
                (e->htm ? CONFIG_HTM : CONFIG_BTM));
    NTR_SET(m, P2, p2,
            (c->params.ts_width & 63u) << 6 | (unsigned)c->ts_prescale << 4 | SHARED_TIME << 1 | e->timestamps);
    NTR_SET(m, P3, p3, depth << 8 | (unsigned)c->params.branch_predictor << 4 | c->params.jump_cache);
    ntr_enc_send(e, m, e->now);
}
