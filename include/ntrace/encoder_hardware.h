/* What registers do with an encoder: for models of trace hardware. */
#ifndef NTRACE_ENCODER_HARDWARE_H
#define NTRACE_ENCODER_HARDWARE_H

#include <ntrace/encoder.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets trTeEnable. Clearing it also clears trTeInstTracing (TC-6); setting it clears trTeInstStallOrOverflow (TC-7).
 * Errors: those of the sink. */
NTR_API ntr_status ntr_encoder_set_enable(ntr_encoder *encoder, bool on);

/* Lets cycles without ingress pass: the FIFO drains and cycles are counted. Errors: those of the sink. */
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
