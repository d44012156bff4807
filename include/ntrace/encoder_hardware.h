/* The control of an encoder by registers, for models of trace hardware. */
#ifndef NTRACE_ENCODER_HARDWARE_H
#define NTRACE_ENCODER_HARDWARE_H

#include <ntrace/encoder.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets trTeEnable. Clearing it also clears trTeInstTracing (TC-6); setting it clears trTeInstStallOrOverflow (TC-7).
 * Errors: as the sink. */
NTR_API ntr_status ntr_encoder_set_enable(ntr_encoder *encoder, bool on);

/* Sets trTeInstTracing. Switching it off takes effect at the next block if a jump is pending, whose target is sent
 * first; else at once. Errors: NTR_E_STATE (trTeEnable is 0), errors of the sink. */
NTR_API ntr_status ntr_encoder_set_tracing(ntr_encoder *encoder, bool on);

/* External trigger between two blocks. `actions` is an NTR_TRIGGER_* set; notify makes a message with SYNC=0. On and
 * off have an effect only with `trigger_enable`. Errors: as the sink. */
NTR_API ntr_status ntr_encoder_trigger(ntr_encoder *encoder, unsigned actions);

/* Requests a synchronizing message with this reason (NTR_SYNC_*) at the next block. Errors: NTR_E_RANGE (above 15). */
NTR_API ntr_status ntr_encoder_request_sync(ntr_encoder *encoder, unsigned reason);

/* Lets cycles without ingress pass: the FIFO drains and cycles are counted. Errors: as the sink. */
NTR_API ntr_status ntr_encoder_tick(ntr_encoder *encoder, uint64_t cycles);

/* Replaces the configuration; `sink`, `sink_user` and `allocator` stay. Errors: NTR_E_STATE (the encoder is enabled
 * or not empty), those of ntr_encoder_config_check, NTR_E_MEMORY. */
NTR_API ntr_status ntr_encoder_reconfigure(ntr_encoder *encoder, const ntr_encoder_config *config);

/* Clears trTeInstStallOrOverflow, as a write of 1 to the register bit does. */
NTR_API void ntr_encoder_clear_overflow(ntr_encoder *encoder);

#ifdef __cplusplus
}
#endif
#endif
