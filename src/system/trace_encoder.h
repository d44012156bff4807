/* Trace encoder: an ntr_encoder behind registers. */
#ifndef NTR_SYSTEM_TRACE_ENCODER_H
#define NTR_SYSTEM_TRACE_ENCODER_H

#include "system/component.h"
#include "system/filters.h"
#include "system/timestamp.h"

typedef struct trace_encoder {
    trace_component base;
    ntr_encoder *encoder;
    timestamp_unit time;
    filter_state filters;
    bool enable_wanted;     /* enabled as soon as what is left of the last run has gone */
    bool tracing_seen;      /* trTeInstTracing when external outputs were last looked at */
    bool hart_halted;
    uint64_t cycles_pushed; /* by ingress, and not yet by the system's clock */
    uint64_t stalled;       /* cycles that the last block waited inside the encoder */
    uint64_t closing;        /* cycles since tracing ended while a jump still waits for its target */
} trace_encoder;

/* One block of the hart. */
ntr_status trace_encoder_push(trace_encoder *encoder, const ntr_ingress *block);

/* The hart goes where its ingress port does not see it. */
ntr_status trace_encoder_leave(trace_encoder *encoder, uint64_t next);

/* A pulse on an external trigger input. */
ntr_status trace_encoder_trigger(trace_encoder *encoder, unsigned input);

/* What the registers say of the encoder's configuration. */
void trace_encoder_config(const trace_encoder *encoder, ntr_encoder_config *config);

#endif
