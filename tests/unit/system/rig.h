/* One encoder with a hart controlled by the test, and the messages from an ATB bridge. */
#ifndef TEST_SYSTEM_RIG_H
#define TEST_SYSTEM_RIG_H

#include "topologies.h"

#include <ntrace/message.h>

enum { TE = 0, FUNNEL = 0x1000, ATB = 0x2000, RIG_STREAM = 1 << 20 };
enum { TE_ON = NTR_TE_CONTROL, ACTIVE = 1, ENABLE = 2, TRACING = 4, MODE_BTM = 3 << 4, TRIG_ENABLE = 1 << 11 };

typedef struct system_rig {
    ntr_system_config config;
    ntr_system *system;
    size_t size;       /* of the stream */
    unsigned fired[8]; /* external trigger outputs */
    uint8_t stream[RIG_STREAM];
} system_rig;

static inline void rig_message(void *user, unsigned component, const uint8_t *bytes, size_t size) {
    system_rig *r = user;
    (void)component;
    assert_true(r->size + size <= RIG_STREAM);
    memcpy(r->stream + r->size, bytes, size);
    r->size += size;
}

static inline void rig_fired(void *user, unsigned component, unsigned output) {
    system_rig *r = user;
    assert_int_equal(component, 0);
    r->fired[output]++;
}

/* A maximal encoder; `options` is JSON behind a comma: "\"trap_depth\":3". All components are active, the others
 * enabled. */
static inline void rig_open(system_rig *r, const char *options) {
    char json[512];
    memset(r, 0, sizeof *r);
    snprintf(json, sizeof json,
             "{\"components\":[{\"name\":\"te\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"preset\":\"maximal\","
             "\"to\":\"f\",\"ts_source\":\"f\"%s%s},{\"name\":\"f\",\"type\":\"funnel\",\"base\":4096,"
             "\"preset\":\"maximal\",\"to\":\"a\"},{\"name\":\"a\",\"type\":\"atb\",\"base\":8192}]}",
             *options ? "," : "", options);
    r->config.user = r;
    r->config.outputs.message = rig_message;
    r->config.outputs.trigger = rig_fired;
    r->system = new_system(json, &r->config);
    write32(r->system, ATB, ACTIVE);
    write32(r->system, ATB, ACTIVE | ENABLE | 1 << 8);
    write32(r->system, FUNNEL, ACTIVE);
    write32(r->system, FUNNEL, ACTIVE | ENABLE);
    write32(r->system, TE, ACTIVE);
}

static inline void rig_close(system_rig *r) {
    ntr_system_free(r->system);
}

/* Enable the encoder in BTM with these bits of its Control, then begin to trace. */
static inline void rig_trace(system_rig *r, uint32_t control) {
    write32(r->system, TE, ACTIVE | MODE_BTM | control);
    write32(r->system, TE, ACTIVE | MODE_BTM | control | ENABLE);
    write32(r->system, TE, ACTIVE | MODE_BTM | control | ENABLE | TRACING);
    assert_int_equal(read32(r->system, TE) & (ENABLE | TRACING), ENABLE | TRACING);
}

static inline ntr_encoder_status rig_status(system_rig *r) {
    ntr_system_component info;
    assert_int_equal(ntr_system_component_get(r->system, 0, &info), NTR_OK);
    return info.encoder;
}

/* A block that may be followed by any other: it ends in a jump that cannot be inferred. */
static inline ntr_ingress rig_block(uint64_t iaddr, unsigned halfwords) {
    return (ntr_ingress){
        .iaddr = iaddr, .iretire = halfwords, .itype = NTR_ITYPE_OTHER_INDIRECT, .cycle = true, .priv = NTR_PRIV_M};
}

/* Whether the block is in the trace, as the encoder counts. */
static inline bool rig_push(system_rig *r, const ntr_ingress *block) {
    const uint64_t before = rig_status(r).halfwords;
    if (ntr_system_push(r->system, 0, block) != NTR_OK) fail_msg("%s", ntr_system_error(r->system));
    return rig_status(r).halfwords != before;
}

/* Blocks of one instruction at `addresses`, 0 ends them; 'x' for each that is traced. */
static inline void rig_walk(system_rig *r, const uint64_t *addresses, const char *expected) {
    char got[64] = "";
    for (size_t i = 0; addresses[i]; i++) {
        const ntr_ingress block = rig_block(addresses[i], 1);
        got[i] = rig_push(r, &block) ? 'x' : '.';
    }
    assert_string_equal(got, expected);
}

static inline void rig_stop(system_rig *r) {
    write32(r->system, TE, read32(r->system, TE) & ~(uint32_t)(ENABLE | TRACING));
    ntr_system_step(r->system, 100);
    assert_int_equal(read32(r->system, TE) & 0xa, 8);
}

/* Messages so far, one after the other: call with *at = 0 first. False: no more. */
static inline bool rig_next(const system_rig *r, const ntr_params *params, size_t *at, ntr_message *message) {
    size_t end = *at;
    if (end == r->size) return false;
    while ((r->stream[end++] & 3) != 3) assert_true(end < r->size);
    assert_int_equal(ntr_message_decode(params, (ntr_bytes){r->stream + *at, end - *at}, message), NTR_OK);
    *at = end;
    return true;
}

static inline ntr_params rig_params(system_rig *r) {
    ntr_params params;
    assert_int_equal(ntr_system_params(r->system, 0, &params), NTR_OK);
    return params;
}

/* How many synchronizing messages have this SYNC. */
static inline unsigned rig_syncs(system_rig *r, unsigned sync) {
    const ntr_params params = rig_params(r);
    ntr_message m;
    unsigned count = 0;
    ntr_system_step(r->system, 1); /* what the last block made leaves */
    for (size_t at = 0; rig_next(r, &params, &at, &m);) count += ntr_tcode_is_sync(m.tcode) && m.sync == sync;
    return count;
}

#endif
