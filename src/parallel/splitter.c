#include "parallel/splitter.h"

#include "base/allocator.h"
#include "message/sets.h"
#include "trace/mode.h"
#include "trace/ownership.h"
#include "wire/ends.h"

#include <ntrace/framer.h>

/* What a message of this TCODE is to the cutter. */
enum { PLAIN, BTM, HTM, HISTORY, OWNERSHIP, STOP, SYNC };

#define KIND_OF(role, flags, row)                                  \
    ((role) == NTR_ROLE_SYNC                              ? SYNC      \
     : (role) == NTR_ROLE_STOP                            ? STOP      \
     : (role) == NTR_ROLE_CONTEXT                         ? OWNERSHIP \
     : (role) == NTR_ROLE_RESOURCE                        ? HISTORY   \
     : (role) != NTR_ROLE_BRANCH                          ? PLAIN     \
     : (flags) & NTR_IS_DIRECT                            ? BTM       \
     : (row) >> NTR_FIELD_HIST & 1                        ? HTM       \
                                                          : PLAIN)

#define NTR_MESSAGE(id, tcode, text, set, role, flags, ...) [tcode] = KIND_OF(NTR_ROLE_##role, flags, NTR_ROW_##id),
static const uint8_t kinds[64] = {
#include <ntrace/messages.def>
};
#undef NTR_MESSAGE
#undef KIND_OF

/* Messages of a seam at most: it is decoded by one thread. */
enum { SEAM_MOST = 1 << 16 };

ntr_status ntr_splitter_start(ntr_splitter *c, const ntr_decoder_config *config) {
    ntr_status status;
    *c = (ntr_splitter){.config = config, .inside = config->mid_stream, .seeking = config->mid_stream};
    c->scratch = ntr_decoder_new(config, &status);
    if (!c->scratch) return status;
    c->params = *ntr_snapshot_params(c->scratch);
    c->quick = ntr_quick_best();
    c->sources = ntr_alloc(config->allocator, (size_t)1 << c->params.src_bits, sizeof *c->sources);
    c->seen = ntr_alloc(config->allocator, (size_t)1 << c->params.src_bits, sizeof *c->seen);
    return c->sources && c->seen ? NTR_OK : NTR_E_MEMORY;
}

void ntr_splitter_end(ntr_splitter *c) {
    if (!c->config) return;
    const ntr_allocator *allocator = c->config->allocator;
    for (uint32_t i = 0; i < c->seen_count; i++) ntr_dealloc(allocator, c->sources[c->seen[i]]);
    ntr_dealloc(allocator, c->sources);
    ntr_dealloc(allocator, c->seen);
    ntr_dealloc(allocator, c->pre_sync.messages);
    ntr_decoder_free(c->scratch);
}

/* ---- sources */

static ntr_splitter_source *add_source(ntr_splitter *c, uint16_t src) {
    ntr_splitter_source *s = ntr_alloc(c->config->allocator, 1, sizeof *s);
    if (!s) return NULL;
    *s = (ntr_splitter_source){.known = {.src = src, .context.prv = NTR_PRV_UNKNOWN}, .touched = true};
    c->seen[c->seen_count++] = src;
    return c->sources[src] = s;
}

static ntr_splitter_source *touch(ntr_splitter *c, uint16_t src) {
    ntr_splitter_source *s = c->sources[src];
    if (!s) return add_source(c, src);
    c->waiting += s->old && !s->touched;
    s->touched = true;
    return s;
}

/* The message's SRC, or -1 when it has none. */
static int32_t source_of(const ntr_splitter *c, const uint8_t *data, size_t size) {
    unsigned bits = c->params.src_bits, at = 1;
    uint32_t src = 0;
    for (unsigned done = 0; done < bits; done += NTR_MDO_BITS, at++) {
        if (at >= size || ntr_mseo_of(data[at - 1]) != NTR_MSEO_MORE) return -1;
        src |= (uint32_t)(data[at] >> NTR_MSEO_BITS) << done;
    }
    return (int32_t)(src & ((1u << bits) - 1));
}

/* ---- messages that matter */

static void learn_sync(ntr_splitter *c, ntr_splitter_source *s, const ntr_message *m) {
    s->known.address = ntr_message_address(&c->params, m, NTR_FIELD_FADDR);
    s->known.first = c->number + 1;
    ntr_clock_follow(&s->known.clock, &c->params, m);
}

/* Learn from a message. Returns whether it is a synchronizing one. */
static bool learn(ntr_splitter *c, ntr_splitter_source *s, const uint8_t *data, size_t size, unsigned kind) {
    ntr_message m;
    if (ntr_message_decode(&c->params, (ntr_bytes){data, size}, &m) != NTR_OK) return false;
    s->known.mode = ntr_mode_follow(s->known.mode, &m);
    switch (kind) {
    case HISTORY: return false;
    case OWNERSHIP: ntr_ownership_follow(&s->known.context, m.process); return false;
    case STOP: s->known.mode = NTR_MODE_UNKNOWN; return false;
    default: learn_sync(c, s, &m); return true;
    }
}

/* What is to be known of the mode, of this message. Returns whether it has to be looked into. */
static bool glance(ntr_splitter_source *s, unsigned kind) {
    if (kind == BTM) s->known.mode = NTR_MODE_BTM;
    if (kind == HTM) s->known.mode = NTR_MODE_HTM;
    return kind > HISTORY || (kind == HISTORY && s->known.mode != NTR_MODE_HTM);
}

/* It has begun anew, and all that is left to know is known. */
static void join(ntr_splitter_source *s) {
    s->joined = true;
    s->join = s->known;
}

static ntr_status add_to_pre_sync(ntr_splitter *c, ntr_splitter_source *s, uint64_t offset, size_t size) {
    ntr_pre_sync *pre_sync = &c->pre_sync;
    s->late = true;
    c->too_much |= pre_sync->count == SEAM_MOST;
    if (c->too_much) return NTR_OK;
    if (ntr_reserve(c->config->allocator, (void **)&pre_sync->messages, &pre_sync->room, pre_sync->count + 1,
                    sizeof *pre_sync->messages))
        return NTR_E_MEMORY;
    pre_sync->messages[pre_sync->count++] =
        (ntr_pre_sync_message){.number = c->number, .offset = (size_t)(offset - c->begin), .size = size};
    return NTR_OK;
}

static void mark_damaged(ntr_splitter *c, uint64_t offset) {
    if (!c->damaged) c->damaged_at = offset;
    c->damaged = true;
}

/* Take in the message at `data`. Returns whether it is a synchronizing one. */
static bool take(ntr_splitter *c, uint64_t offset, const uint8_t *data, size_t size, bool broken, ntr_status *status) {
    int32_t src = source_of(c, data, size);
    if (broken || src < 0) {
        mark_damaged(c, offset);
        return false;
    }
    if (c->config->one_source && src != c->config->source) return false;
    ntr_splitter_source *s = touch(c, (uint16_t)src);
    if (!s) {
        *status = NTR_E_MEMORY;
        return false;
    }
    unsigned kind = kinds[data[0] >> NTR_MSEO_BITS];
    if (s->old && !s->joined) *status = add_to_pre_sync(c, s, offset, size);
    if (!glance(s, kind) || !learn(c, s, data, size, kind)) return false;
    c->latest = s;
    if (!s->old || s->joined) return true;
    c->waiting--;
    join(s);
    return true;
}

/* ---- framing */

/* Get out of a message that was cut. */
static size_t leave(ntr_splitter *c, const uint8_t *data, size_t size) {
    bool broken;
    size_t end = ntr_find_end_checked(data, size, &broken);
    if (end == size) return size;
    c->inside = false;
    if (!c->seeking) c->number++;
    c->seeking = false;
    return end + 1;
}

static bool is_idle(const ntr_splitter *c, uint8_t byte) {
    return byte == NTR_IDLE || (byte == 0 && c->params.dialect->zero_idle);
}

/* Messages that say nothing new to the splitter, by the trace mode that it knows: messages of flow, without those that
 * may show another mode. */
static uint64_t irrelevant_tcodes(uint8_t mode) {
    uint64_t flow = ntr_tcodes_of_flow(), branches = ntr_tcodes_of_role(NTR_ROLE_BRANCH);
    uint64_t btm = branches & ntr_tcodes_with(NTR_IS_DIRECT);
    uint64_t htm = ntr_tcodes_of_role(NTR_ROLE_RESOURCE) | (branches & ntr_tcodes_with_field(NTR_FIELD_HIST));
    switch (mode) {
    case NTR_MODE_BTM: return flow & ~htm;
    case NTR_MODE_HTM: return flow & ~btm;
    default: return flow & ~(btm | htm);
    }
}

/* Pass over them, as far as they are short and the only source's. Returns how many bytes. */
static size_t pass_irrelevant(ntr_splitter *c, const uint8_t *data, size_t size) {
    const ntr_splitter_source *s = c->params.src_bits ? NULL : c->sources[0];
    if (!s || !s->touched || (s->old && !s->joined)) return 0;
    ntr_quick_progress passed = c->quick->pass(irrelevant_tcodes(s->known.mode), data, size);
    c->number += passed.messages;
    return passed.at;
}

size_t ntr_splitter_scan(ntr_splitter *c, const uint8_t *data, size_t size, size_t least, bool *found,
                         ntr_status *status) {
    *found = false;
    c->latest = NULL;
    size_t at = c->inside ? leave(c, data, size) : 0;
    while (at < size && !*found && *status == NTR_OK) {
        at += pass_irrelevant(c, data + at, size - at);
        if (at == size) break;
        if (is_idle(c, data[at])) {
            at++;
            continue;
        }
        bool broken;
        size_t end = at + ntr_find_end_checked(data + at, size - at, &broken);
        if (end == size) break;
        broken |= ntr_mseo_of(data[at]) != NTR_MSEO_MORE;
        c->number++;
        bool sync = take(c, c->offset + at, data + at, end + 1 - at, broken, status);
        at = end + 1;
        *found = sync && at >= least && !c->waiting;
    }
    if (!*found) c->latest = NULL;
    c->offset += at;
    return at;
}

void ntr_splitter_pass(ntr_splitter *c, size_t size) {
    c->offset += size;
    c->inside = true;
    c->latest = NULL;
}

/* ---- guesses */

/* What the piece in front does not know of a source that is late: it was silent there. */
static bool is_strange(const ntr_splitter_source *s, bool guessed) {
    return guessed && s->late && !s->before;
}

/* Whether spoilt bytes leave the guess alone: they may be anybody's, whoever decodes them must know all sources. */
static bool survives(const ntr_splitter *c, uint32_t silent) {
    const ntr_pre_sync *pre_sync = &c->pre_sync;
    if (!c->damaged) return true;
    return !silent && (!pre_sync->count || c->damaged_at > c->begin + pre_sync->messages[pre_sync->count - 1].offset);
}

/* The sources that join. Returns how many, or 0 when the piece cannot be begun with them. */
static size_t joining(const ntr_splitter *c, bool guessed, bool last, ntr_snapshot_guess *joins, uint32_t *silent) {
    size_t count = 0;
    *silent = 0;
    for (uint32_t i = 0; i < c->seen_count; i++) {
        const ntr_splitter_source *s = c->sources[c->seen[i]];
        *silent += s->old && !s->touched;
        if (!s->joined) continue;
        if (is_strange(s, guessed)) return 0;
        joins[count] = s->join;
        joins[count++].first += c->shift;
    }
    if (last && *silent) return 0; /* they may have something to tell at the end of the stream */
    return survives(c, *silent) ? count : 0;
}

ntr_status ntr_splitter_guess(ntr_splitter *c, bool guessed, bool last, ntr_snapshot **guess) {
    *guess = NULL;
    bool early = c->config->strict && c->pre_sync.count; /* the first defect may be in it */
    if (!c->whole || c->waiting || c->too_much || early || !c->seen_count) return NTR_OK;
    ntr_snapshot_guess *joins = ntr_alloc(c->config->allocator, c->seen_count, sizeof *joins);
    if (!joins) return NTR_E_MEMORY;
    ntr_snapshot_position place = {.offset = c->begin, .number = c->begin_number + c->shift};
    size_t count = joining(c, guessed, last, joins, &place.silent);
    if (count) *guess = ntr_snapshot_predict(c->scratch, &place, joins, count);
    ntr_dealloc(c->config->allocator, joins);
    return count && !*guess ? NTR_E_MEMORY : NTR_OK;
}

void ntr_splitter_turn(ntr_splitter *c) {
    for (uint32_t i = 0; i < c->seen_count; i++) {
        ntr_splitter_source *s = c->sources[c->seen[i]];
        s->before = s->touched;
        s->old = true;
        s->touched = s->joined = s->late = false;
    }
    c->begin = c->offset;
    c->begin_number = c->number;
    c->whole = !c->inside;
    c->damaged = c->too_much = false;
    c->waiting = 0;
    c->pre_sync.count = 0;
    if (!c->latest) return;
    c->latest->touched = true;
    join(c->latest);
}
