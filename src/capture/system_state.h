/* The state of a modelled system of a capture: system.c, system_sinks.c. */
#ifndef NTR_CAPTURE_SYSTEM_STATE_H
#define NTR_CAPTURE_SYSTEM_STATE_H

#include "bundle/stream_write.h"
#include "capture/arrivals.h"
#include "capture/error.h"
#include "capture/sink_memory.h"
#include "system/system.h"

#include <ntrace/system.h>

enum {
    SYSTEM_HARTS = 4096,
    LOSSES = 256,
    LOSS_TEXT = 256,
    STALL_MAX = 1 << 20, /* cycles that a hart may be stalled */
    STALL_ADOPTED = 1 << 16, /* the same, when a debugger can end the stall */
};

/* The sink of a classifier: a hart of the system. */
struct port {
    struct ntr_capture_system *system;
    unsigned hart;
};

struct ntr_capture_system {
    const ntr_allocator *allocator;
    struct ntr_capture_reason *reason; /* of the session */
    ntr_system *system;
    struct ntr_capture_memory memory;
    struct ntr_capture_arrivals arrivals;
    struct ntr_bundle_writer *stream;
    const char *sink;
    uint64_t now;
    struct port ports[SYSTEM_HARTS];
    size_t encoder_of[SYSTEM_HARTS]; /* 1 + index of the component; 0: the hart's trace is not in the stream */
    bool untraced;            /* a hart without such an encoder executed something */
    char losses[LOSSES][LOSS_TEXT];
    size_t loss_count;
    bool adopted; /* `system` belongs to the caller */
    bool clogged; /* what was in the buffers has not reached a sink: one is full and has stopped */
    bool failed; /* a push has failed; `reason` says why */
};

bool ntr_capture_system_get(const struct ntr_capture_system *system, size_t index, ntr_system_component *component);
/* A sink of the system that is part of the stream. */
bool ntr_capture_system_wants(const struct ntr_capture_system *system, const ntr_system_component *component);
/* A line for ntr_capture_system_loss. */
void __attribute__((format(printf, 2, 3))) ntr_capture_system_add_loss(struct ntr_capture_system *system,
                                                                       const char *format, ...);

#endif
