/* Frames: the stream is cut into parts of equal size, and no message crosses the end of one. The space that is left is
 * idle. docs/dialects.md section 6.8. Invariant: `frame_used` bytes of the current frame have been given to the sink.
 *
 * Example: frames of 64 bytes, of which 60 are used, and a message of 6: four idle bytes, then the message. */
#include "encoder/state.h"
#include "message/sets.h"
#include "wire/framing.h"

#include <string.h>

enum { FILL = 64 };

ntr_status ntr_enc_frame_end(ntr_encoder *e) {
    uint8_t idle[FILL];
    memset(idle, NTR_IDLE, sizeof idle);
    while (e->frame_used) {
        uint32_t left = e->config.frame_bytes - e->frame_used, now = left < FILL ? left : FILL;
        ntr_status status = e->config.sink(e->config.sink_user, idle, now);
        if (status != NTR_OK) return status;
        e->frame_used = (e->frame_used + now) % e->config.frame_bytes;
    }
    return NTR_OK;
}

/* Returns whether the message goes into the next frame. With frame_closes there must also be space for a largest one
 * after it. */
static bool is_full(const ntr_encoder *e, size_t size) {
    enum { LARGEST = 32 };
    const uint32_t frame = e->config.frame_bytes;
    return frame && e->frame_used + size + (e->config.frame_closes ? LARGEST : 0) > frame;
}

ntr_status ntr_enc_deliver(ntr_encoder *e, const uint8_t *bytes, size_t size) {
    uint32_t frame = e->config.frame_bytes;
    ntr_status status = is_full(e, size) ? ntr_enc_frame_end(e) : NTR_OK;
    if (status != NTR_OK) return status;
    status = e->config.sink(e->config.sink_user, bytes, size);
    if (status == NTR_OK && frame) e->frame_used = (uint32_t)((e->frame_used + size) % frame);
    return status;
}

/* docs/dialects.md section 6.1. */
static unsigned strays_after(const ntr_encoder *e, const ntr_message *m) {
    bool history =
        ntr_tcode_in(ntr_tcodes_with_field(NTR_FIELD_HIST) & ntr_tcodes_with_field(NTR_FIELD_BTYPE), e->tcode_before);
    if (m->tcode == NTR_TCODE_RESOURCE_FULL) return 1;
    if (m->tcode != NTR_TCODE_OWNERSHIP || !history || e->trapped) return 0;
    return NTR_HAS(m, TSTAMP) ? 1 : 2;
}

uint32_t ntr_enc_add_strays(ntr_encoder *e, const ntr_message *m, uint8_t *bytes, uint32_t size) {
    enum { STRAY = 3 }; /* MDO 0, MSEO 11 */
    for (unsigned i = e->dialect->any_end_idle ? strays_after(e, m) : 0; i; i--) bytes[size++] = STRAY;
    e->tcode_before = m->tcode;
    return size;
}
