/* Shorthand for tests of synchronization: the sideband signals of a hart. */
#ifndef NTR_ENCODER_SIDEBAND_H
#define NTR_ENCODER_SIDEBAND_H

#include "rig.h"

#include <ntrace/encoder_hardware.h>

static inline void enable(rig *r) {
    assert_int_equal(ntr_encoder_set_tracing(r->encoder, true), NTR_OK);
}
static inline void disable(rig *r) {
    assert_int_equal(ntr_encoder_set_tracing(r->encoder, false), NTR_OK);
}

static inline void sideband(rig *r, ntr_ingress b) {
    b.cycle = true;
    assert_int_equal(ntr_encoder_push(r->encoder, &b), NTR_OK);
}

static inline void enter_debug(rig *r, uint64_t dpc) {
    sideband(r, (ntr_ingress){.halted = true, .iaddr = dpc});
}

static inline void open_untraced(rig *r, const char *options) {
    rig_open(r, options);
    disable(r);
}

#endif
