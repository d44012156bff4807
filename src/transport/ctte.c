/* A stream of CEDARtools.TraceEncoder that says in a Config message how the encoder is configured. docs/dialects.md
 * section 12.
 *
 * Config itself has SRC, so the width of SRC must be known to read it: each width is tried, and that one is right for
 * which Config says the same width. What comes before Config (idle bytes, rests of the session before, DeviceID) is no
 * part of the decision. Config is sent before the first synchronizing message, so the beginning of the stream is
 * enough. */
#include "message/sets.h"
#include "transport/container.h"
#include "wire/mdo.h"

#include <ntrace/message.h>
#include <ntrace/message_end.h>
#include <stdio.h>

enum { SRC_BITS_MOST = 4, RETURN_DEPTH = 8, PREDICTOR = 4, MESSAGES_CHECKED = 4 };

/* Bits of CAPS and ENAB. */
enum {
    BIT_IMPLICIT_RETURN = 0,
    BIT_JUMP_CACHE = 4,
    BIT_PREDICTION = 5,
    BIT_SEQUENTIAL_JUMP = 6,
    BIT_DATA_XOR = 21,
    BIT_64 = 23,
};

static unsigned bits(uint64_t value, unsigned first, unsigned count) {
    return (unsigned)(value >> first) & ((1u << count) - 1);
}

/* Returns whether the message is a Config of an encoder that sends SRC with so many bits. */
static bool fits(const ntr_message *m, unsigned src_bits) {
    unsigned mode = bits(m->p1, 0, 3);
    bool inhibited = bits(m->p1, 11, 1);
    if (m->cfgver == 0 || m->caps >> 24 || m->enab >> 24 || m->p0 >> 16 || m->p1 >> 12 || m->p2 >> 12 || m->p3 >> 13)
        return false;
    if (mode != 3 && mode != 6) return false;
    if (!inhibited && src_bits && m->src != bits(m->p0, 4, 12)) return false;
    return src_bits == (inhibited ? 0 : bits(m->p0, 0, 4));
}

#define SAY(id, member, v) (c->params.member = (v), c->given |= 1u << NTR_PARAMETER_##id)

static void take(const ntr_message *m, unsigned src_bits, ntr_container *c) {
    unsigned width = bits(m->p2, 6, 6), depth = bits(m->p3, RETURN_DEPTH, 5);
    bool returns = m->enab >> BIT_IMPLICIT_RETURN & 1, cache = m->enab >> BIT_JUMP_CACHE & 1;
    bool predicts = m->enab >> BIT_PREDICTION & 1;
    SAY(SRC_BITS, src_bits, (uint8_t)src_bits);
    SAY(IMPLICIT_RETURN, implicit_return, returns ? NTR_RETURN_FULL : NTR_RETURN_OFF);
    SAY(SEQUENTIAL_JUMP, sequential_jump, m->caps >> BIT_SEQUENTIAL_JUMP & 1);
    SAY(XLEN, xlen, m->caps >> BIT_64 & 1 ? 64 : 32);
    SAY(BRANCH_PREDICTOR, branch_predictor, (uint8_t)(predicts ? bits(m->p3, PREDICTOR, 4) : 0));
    SAY(JUMP_CACHE, jump_cache, (uint8_t)(cache ? bits(m->p3, 0, 4) : 0));
    if (returns && depth) SAY(RETURN_STACK, return_stack, depth);
    if (width) SAY(TS_WIDTH, ts_width, (uint8_t)width);
    if (m->enab >> BIT_DATA_XOR & 1) SAY(DATA_ADDRESS, data_address, NTR_DATA_ADDRESS_XOR);
    snprintf(c->facts, sizeof c->facts, "%s, %s%s%s%s", bits(m->p1, 0, 3) == 3 ? "BTM" : "HTM",
             c->params.xlen == 64 ? "64 bits" : "32 bits", returns ? ", implicit returns" : "",
             predicts ? ", branch prediction" : "", cache ? ", jump target cache" : "");
}

/* Returns the bytes of the message that begins here; none when its end is not among them. */
static ntr_bytes message_at(ntr_bytes bytes, size_t at) {
    for (size_t end = at; end < bytes.size && end - at < NTR_MESSAGE_BYTES_MAX; end++)
        if (ntr_ends_message(bytes.data[end])) return (ntr_bytes){bytes.data + at, end + 1 - at};
    return (ntr_bytes){NULL, 0};
}

/* Returns whether the next messages, as far as they are here, can be decoded: random bytes may look like one Config. */
static bool stream_follows(ntr_bytes bytes, size_t at, const ntr_params *params) {
    for (unsigned count = 0; count < MESSAGES_CHECKED; count++) {
        ntr_message m;
        while (at < bytes.size && bytes.data[at] == NTR_IDLE) at++;
        ntr_bytes raw = message_at(bytes, at);
        if (!raw.size) return true;
        if (ntr_message_decode(params, raw, &m) != NTR_OK) return false;
        at += raw.size;
    }
    return true;
}

static bool is_config(const ntr_params *params, ntr_bytes raw, ntr_message *m) {
    const ntr_status status = ntr_message_decode(params, raw, m);
    return status == NTR_OK || (status == NTR_E_FIELD_EXTRA && ntr_may_have_more_fields(m));
}

/* Returns whether there is a Config at this place, and takes what it says. */
static bool take_config(ntr_bytes bytes, size_t at, ntr_container *c) {
    ntr_bytes raw = message_at(bytes, at);
    for (unsigned src_bits = 0; raw.size && src_bits <= SRC_BITS_MOST; src_bits++) {
        ntr_params params = c->params;
        ntr_message m;
        params.src_bits = (uint8_t)src_bits;
        if (!is_config(&params, raw, &m) || !fits(&m, src_bits)) continue;
        if (!stream_follows(bytes, at + raw.size, &params)) continue;
        take(&m, src_bits, c);
        return true;
    }
    return false;
}

static ntr_status find(ntr_bytes beginning, ntr_container *c) {
    enum { FIRST_BYTE = NTR_TCODE_CONFIG << 2 }; /* MDO is TCODE, and MSEO is 0 */
    size_t last = beginning.size < NTR_CONTAINER_HEADER_MAX ? beginning.size : NTR_CONTAINER_HEADER_MAX;
    for (size_t at = 0; at < last; at++) {
        if (beginning.data[at] != FIRST_BYTE || (at && !ntr_ends_message(beginning.data[at - 1]))) continue;
        if (take_config(beginning, at, c)) return NTR_OK;
    }
    return NTR_END;
}

const container_ops ntr_container_ctte = {
    .name = "ctte", .producer = "CEDARtools.TraceEncoder", .dialect = "ctte", .find = find};
