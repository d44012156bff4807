#include "parallel/cutter.h"

#include "flow/decoder_state.h"
#include "flow/ownership.h"
#include "wire/mdo.h"
#include "wire/scan.h"

/* What a message of this TCODE is to the cutter. */
enum { PLAIN, BTM, HTM, HISTORY, OWNERSHIP, STOP, SYNC, HTM_SYNC };

static const uint8_t kinds[64] = {
    [NTR_TCODE_OWNERSHIP] = OWNERSHIP,
    [NTR_TCODE_ERROR] = STOP,
    [NTR_TCODE_PROG_TRACE_CORRELATION] = STOP,
    [NTR_TCODE_DIRECT_BRANCH] = BTM,
    [NTR_TCODE_INDIRECT_BRANCH_HIST] = HTM,
    [NTR_TCODE_RESOURCE_FULL] = HISTORY,
    [NTR_TCODE_PROG_TRACE_SYNC] = SYNC,
    [NTR_TCODE_DIRECT_BRANCH_SYNC] = SYNC,
    [NTR_TCODE_INDIRECT_BRANCH_SYNC] = SYNC,
    [NTR_TCODE_INDIRECT_BRANCH_HIST_SYNC] = HTM_SYNC,
};

ntr_status ntr_cutter_start(ntr_cutter *c, const ntr_decoder_config *config) {
    ntr_status status;
    *c = (ntr_cutter){.config = config, .inside = config->mid_stream, .seeking = config->mid_stream, .stopped = true};
    c->known.context.prv = NTR_PRV_UNKNOWN;
    c->scratch = ntr_decoder_new(config, &status);
    if (c->scratch) c->params = *ntr_baton_params(c->scratch);
    return status;
}

void ntr_cutter_end(ntr_cutter *c) {
    ntr_decoder_free(c->scratch);
}

/* ---- messages that matter */

/* Whether the message is the one source's that is looked at. */
static bool is_ours(ntr_cutter *c, const ntr_message *m) {
    uint16_t src = c->params.src_bits ? (uint16_t)m->src : 0;
    if (c->config->one_source) return src == c->config->source;
    if (c->has_source && src != c->source) c->many = true;
    c->has_source = true;
    c->source = src;
    return true;
}

static void learn_sync(ntr_cutter *c, const ntr_message *m, unsigned kind) {
    if (c->stopped) c->known.mode = NTR_MODE_UNKNOWN;
    else if (kind == HTM_SYNC) c->known.mode = NTR_MODE_HTM;
    c->stopped = false;
    ntr_clock_follow(&c->known.clock, &c->params, m);
}

/* Learn from a message. Returns whether it is a synchronizing one behind which the stream may be cut. */
static bool learn(ntr_cutter *c, const uint8_t *data, size_t size, unsigned kind, ntr_message *m) {
    if (ntr_message_decode(&c->params, (ntr_bytes){data, size}, m) != NTR_OK) return false;
    if (!is_ours(c, m)) return false;
    switch (kind) {
    case HISTORY:
        if (m->rcode != 0) c->known.mode = NTR_MODE_HTM;
        return false;
    case OWNERSHIP: ntr_ownership_follow(&c->known.context, m->process); return false;
    case STOP: c->stopped = true; return false;
    default: learn_sync(c, m, kind); return true;
    }
}

/* What is to be known of the mode, of this message. Returns whether it has to be looked into. */
static bool glance(ntr_cutter *c, unsigned kind) {
    if (kind == BTM) c->known.mode = NTR_MODE_BTM;
    if (kind == HTM) c->known.mode = NTR_MODE_HTM;
    return kind > HISTORY || (kind == HISTORY && c->known.mode != NTR_MODE_HTM);
}

/* ---- framing */

/* Most messages are short. Index of the first byte with MSEO 11, or `size`. */
static inline size_t find_end(const uint8_t *data, size_t size) {
    enum { NEAR = 16 };
    size_t near = size < NEAR ? size : NEAR;
    for (size_t i = 0; i < near; i++)
        if ((data[i] & 3) == NTR_MSEO_MESSAGE) return i;
    return near + ntr_scan_end(data + near, size - near);
}

/* Get out of a message that was cut. */
static size_t leave(ntr_cutter *c, const uint8_t *data, size_t size) {
    size_t end = find_end(data, size);
    if (end == size) return size;
    c->inside = false;
    if (!c->seeking) c->known.number++;
    c->seeking = false;
    return end + 1;
}

static bool is_idle(const ntr_cutter *c, uint8_t byte) {
    return byte == NTR_IDLE || (byte == 0 && c->params.dialect->zero_idle);
}

size_t ntr_cutter_look(ntr_cutter *c, const uint8_t *data, size_t size, size_t least, ntr_baton **guess,
                       ntr_status *status) {
    ntr_message m;
    bool sync = false;
    *guess = NULL;
    size_t at = c->inside ? leave(c, data, size) : 0;
    while (at < size && !sync) {
        if (is_idle(c, data[at])) {
            at++;
            continue;
        }
        size_t end = at + find_end(data + at, size - at);
        if (end == size) break;
        unsigned kind = kinds[data[at] >> 2];
        c->known.number++;
        bool matters = glance(c, kind) && learn(c, data + at, end + 1 - at, kind, &m);
        m.offset = c->offset + at;
        m.size = end + 1 - at;
        at = end + 1;
        sync = matters && at >= least && !c->many;
    }
    c->offset += at;
    if (!sync) return at;
    ntr_baton_guess known = c->known;
    known.number += c->shift;
    *guess = ntr_baton_guessed(c->scratch, &m, &known);
    if (!*guess) *status = NTR_E_MEMORY;
    return at;
}

void ntr_cutter_pass(ntr_cutter *c, size_t size) {
    c->offset += size;
    c->inside = true;
}
