#include "parallel/splitter.h"

#include "base/allocator.h"
#include "message/reader.h"
#include "message/sets.h"
#include "trace/flow_tables.h"
#include "trace/mode.h"
#include "trace/ownership.h"
#include "wire/ends.h"

#include <ntrace/framer.h>

/* What a message of each TCODE means to the splitter. */
enum { PLAIN, BTM, HTM, HISTORY, OWNERSHIP, STOP, ACCESS, LOSS, SYNC };

#define KIND_OF(role, flags, row)                                                                                      \
    ((role) == NTR_ROLE_SYNC       ? SYNC                                                                              \
     : (role) == NTR_ROLE_STOP     ? STOP                                                                              \
     : (role) == NTR_ROLE_CONTEXT  ? OWNERSHIP                                                                         \
     : (role) == NTR_ROLE_ACCESS   ? ACCESS                                                                            \
     : (role) == NTR_ROLE_LOSS     ? LOSS                                                                              \
     : (role) == NTR_ROLE_RESOURCE ? HISTORY                                                                           \
     : (role) != NTR_ROLE_BRANCH   ? PLAIN                                                                             \
     : (flags) & NTR_FLAG_DIRECT   ? BTM                                                                               \
     : (row) >> NTR_FIELD_HIST & 1 ? HTM                                                                               \
                                   : PLAIN)

#define NTR_MESSAGE(id, tcode, text, set, role, flags, ...) [tcode] = KIND_OF(NTR_ROLE_##role, flags, NTR_ROW_##id),
#define NTR_MESSAGE_ALSO(...) /* the guess is checked anyhow */
static const uint8_t kinds[64] = {
#include <ntrace/messages.def>
};
#undef NTR_MESSAGE
#undef NTR_MESSAGE_ALSO
#undef KIND_OF

/* Maximum number of pre-sync messages of a chunk, in all and for each source, because a single thread decodes them and
 * holds their output. For each source: twice the usual distance of synchronizing messages. */
enum { EARLY_MAX = 1 << 16, EARLY_EACH = 1 << 13 };

static size_t pre_sync_limit(const ntr_splitter *splitter) {
    size_t limit = (size_t)EARLY_EACH * splitter->seen_count;
    return limit < EARLY_MAX ? limit : EARLY_MAX;
}

ntr_status ntr_splitter_start(ntr_splitter *splitter, const ntr_decoder_config *config) {
    ntr_status status;
    *splitter = (ntr_splitter){.config = config, .inside = config->mid_stream, .seeking = config->mid_stream};
    status = ntr_decoder_new(config, &splitter->scratch);
    if (!splitter->scratch) return status;
    splitter->params = *ntr_snapshot_params(splitter->scratch);
    splitter->quick = ntr_quick_best();
    splitter->sources = ntr_alloc(config->allocator, (size_t)1 << splitter->params.src_bits, sizeof *splitter->sources);
    splitter->seen = ntr_alloc(config->allocator, (size_t)1 << splitter->params.src_bits, sizeof *splitter->seen);
    return splitter->sources && splitter->seen ? NTR_OK : NTR_E_MEMORY;
}

void ntr_splitter_end(ntr_splitter *splitter) {
    if (!splitter->config) return;
    const ntr_allocator *allocator = splitter->config->allocator;
    for (uint32_t i = 0; i < splitter->seen_count; i++) ntr_dealloc(allocator, splitter->sources[splitter->seen[i]]);
    ntr_dealloc(allocator, splitter->sources);
    ntr_dealloc(allocator, splitter->seen);
    ntr_dealloc(allocator, splitter->pre_sync.messages);
    ntr_decoder_free(splitter->scratch);
}

/* ---- sources */

static ntr_splitter_source *add_source(ntr_splitter *splitter, uint16_t src) {
    ntr_splitter_source *s = ntr_alloc(splitter->config->allocator, 1, sizeof *s);
    if (!s) return NULL;
    *s = (ntr_splitter_source){.current = {.src = src, .context.prv = NTR_PRV_UNKNOWN}, .in_chunk = true};
    splitter->seen[splitter->seen_count++] = src;
    return splitter->sources[src] = s;
}

static ntr_splitter_source *get_source(ntr_splitter *splitter, uint16_t src) {
    ntr_splitter_source *s = splitter->sources[src];
    if (!s) return add_source(splitter, src);
    splitter->unsynced += s->seen_before && !s->in_chunk && !s->synced;
    s->in_chunk = true;
    return s;
}

/* ---- messages that change the guess */

static void decode_sync(ntr_splitter *splitter, ntr_splitter_source *s, const ntr_message *m) {
    s->current.address = ntr_message_address(&splitter->params, m, NTR_FIELD_FADDR);
    s->current.stopped = s->waits = false;
    s->begun = true;
    s->current.first = splitter->number + 1;
    ntr_clock_follow(&s->current.clock, &splitter->params, m);
}

static void decode_access(const ntr_splitter *splitter, ntr_splitter_source *s, const ntr_message *m) {
    uint64_t address;
    if (NTR_HAS(m, DADDR)) ntr_data_reference_follow(&s->current.data, &splitter->params, m, &address);
    ntr_clock_follow(&s->current.clock, &splitter->params, m);
}

/* Times are followed in synchronizing messages only: in a stream with timestamps, the time at a stop is not known, and
 * a message that lacks its time is reported at the place before the stop. Returns whether the state is known. */
static bool decode_stop(ntr_splitter *splitter, ntr_splitter_source *s) {
    s->current.mode = NTR_MODE_UNKNOWN;
    s->current.stopped = s->begun && !s->current.clock.known && splitter->params.timestamps != NTR_TIMESTAMPS_ON;
    s->current.first = splitter->number + 1;
    return s->current.stopped;
}

/* A message that a decoder may read in another way when it does not know what was before the stop. */
static bool use_stop(ntr_splitter *splitter, ntr_splitter_source *s) {
    splitter->stop_used |= s->waits;
    s->current.stopped = false;
    return false;
}

/* Decode a message and apply it to the guess. Returns whether the state of the source is known after it: a
 * synchronizing message, or a stop. */
static bool decode_message(ntr_splitter *splitter, ntr_splitter_source *s, const uint8_t *data, size_t size,
                           unsigned kind) {
    ntr_message m;
    if (ntr_message_decode(&splitter->params, (ntr_bytes){data, size}, &m) != NTR_OK) return use_stop(splitter, s);
    if (s->current.stopped && kind != OWNERSHIP && kind != STOP && kind != SYNC) use_stop(splitter, s);
    s->current.mode = ntr_mode_follow(s->current.mode, &m);
    switch (kind) {
    case PLAIN:
    case BTM:
    case HTM:
    case HISTORY: return false;
    case OWNERSHIP:
        if (!ntr_ownership_follow(&splitter->params, &s->current.context, m.process)) use_stop(splitter, s);
        return false;
    case STOP: return decode_stop(splitter, s);
    case ACCESS: decode_access(splitter, s, &m); return false;
    case LOSS: s->current.data.known = false; return false;
    default: decode_sync(splitter, s, &m); return true;
    }
}

/* Apply a message to the trace mode. Returns whether the message must be decoded. */
static bool update_mode(ntr_splitter_source *s, unsigned kind) {
    if (kind == BTM) s->current.mode = NTR_MODE_BTM;
    if (kind == HTM) s->current.mode = NTR_MODE_HTM;
    return kind > HISTORY || s->current.stopped || (kind == HISTORY && s->current.mode != NTR_MODE_HTM);
}

/* The source has synchronized in this chunk: the rest of its state is known. */
static void mark_synced(ntr_splitter_source *s) {
    s->synced = true;
    s->waits = s->current.stopped;
    s->at_sync = s->current;
}

static ntr_status add_to_pre_sync(ntr_splitter *splitter, ntr_splitter_source *s, uint64_t offset, size_t size) {
    ntr_pre_sync *pre_sync = &splitter->pre_sync;
    s->has_pre_sync = true;
    splitter->pre_sync_full |= pre_sync->count >= pre_sync_limit(splitter);
    if (splitter->pre_sync_full) return NTR_OK;
    if (ntr_reserve(splitter->config->allocator, (void **)&pre_sync->messages, &pre_sync->capacity, pre_sync->count + 1,
                    sizeof *pre_sync->messages))
        return NTR_E_MEMORY;
    pre_sync->messages[pre_sync->count++] =
        (ntr_pre_sync_message){.number = splitter->number, .offset = (size_t)(offset - splitter->begin), .size = size};
    return NTR_OK;
}

static void mark_damaged(ntr_splitter *splitter, uint64_t offset) {
    if (!splitter->damaged) splitter->damaged_at = offset;
    splitter->damaged = true;
}

/* Process the message at `data`. Returns whether the state of its source is known after it. */
static bool scan_message(ntr_splitter *splitter, uint64_t offset, const uint8_t *data, size_t size, bool broken,
                         ntr_status *status) {
    int32_t src = ntr_source_of_bytes(splitter->params.src_bits, data, size);
    if (broken || src < 0) {
        mark_damaged(splitter, offset);
        return false;
    }
    if (splitter->config->one_source && src != splitter->config->source) return false;
    ntr_splitter_source *s = get_source(splitter, (uint16_t)src);
    if (!s) {
        *status = NTR_E_MEMORY;
        return false;
    }
    unsigned kind = kinds[data[0] >> NTR_MSEO_BITS];
    if (s->seen_before && !s->synced) *status = add_to_pre_sync(splitter, s, offset, size);
    if (!update_mode(s, kind) || !decode_message(splitter, s, data, size, kind)) return false;
    splitter->latest = s;
    if (!s->seen_before || s->synced) return true;
    if (s->current.stopped) return false; /* only at the beginning of a chunk the place before the stop is known */
    splitter->unsynced--;
    mark_synced(s);
    return true;
}

/* ---- framing */

/* Skip the rest of a message that was cut. */
static size_t skip_rest(ntr_splitter *splitter, const uint8_t *data, size_t size) {
    bool broken;
    size_t end = ntr_find_end_checked(data, size, &broken);
    if (end == size) return size;
    splitter->inside = false;
    if (!splitter->seeking) splitter->number++;
    splitter->seeking = false;
    return end + 1;
}

static bool is_idle(const ntr_splitter *splitter, uint8_t byte) {
    return byte == NTR_IDLE || (byte == 0 && splitter->params.dialect->zero_idle);
}

/* Pass over messages that do not change the guess, as far as they are short and there is one source only. Returns the
 * number of bytes. */
static size_t pass_irrelevant(ntr_splitter *splitter, const uint8_t *data, size_t size) {
    const ntr_splitter_source *s = splitter->params.src_bits ? NULL : splitter->sources[0];
    if (!s || !s->in_chunk || s->current.stopped || (s->seen_before && !s->synced)) return 0;
    ntr_quick_progress passed = splitter->quick->pass(ntr_mode_tcodes(s->current.mode), data, size);
    splitter->number += passed.messages;
    return passed.at;
}

size_t ntr_splitter_scan(ntr_splitter *splitter, const uint8_t *data, size_t size, size_t least, bool *found,
                         ntr_status *status) {
    *found = false;
    splitter->latest = NULL;
    size_t at = splitter->inside ? skip_rest(splitter, data, size) : 0;
    while (at < size && !*found && *status == NTR_OK) {
        at += pass_irrelevant(splitter, data + at, size - at);
        if (at == size) break;
        if (is_idle(splitter, data[at])) {
            at++;
            continue;
        }
        bool broken;
        size_t end = at + ntr_find_end_checked(data + at, size - at, &broken);
        if (end == size) break;
        broken |= ntr_mseo_of(data[at]) != NTR_MSEO_MORE;
        splitter->number++;
        bool sync = scan_message(splitter, splitter->offset + at, data + at, end + 1 - at, broken, status);
        at = end + 1;
        *found = sync && at >= least && !splitter->unsynced;
    }
    if (!*found) splitter->latest = NULL;
    splitter->offset += at;
    return at;
}

void ntr_splitter_pass(ntr_splitter *splitter, size_t size) {
    splitter->offset += size;
    splitter->inside = true;
    splitter->latest = NULL;
}

/* ---- guesses */

/* Returns whether the chunk before cannot decode the source's pre-sync messages: it is guessed, and without messages of
 * this source it does not know its state. */
static bool is_new_to_previous(const ntr_splitter_source *s, bool guessed) {
    return guessed && s->has_pre_sync && !s->in_previous;
}

/* Returns whether damaged bytes leave the guess valid. Damage of unknown source opens a gap for every source: the
 * thread must know all of them. */
static bool damage_is_harmless(const ntr_splitter *splitter, uint32_t silent) {
    const ntr_pre_sync *pre_sync = &splitter->pre_sync;
    if (!splitter->damaged) return true;
    if (silent) return false;
    return !pre_sync->count || splitter->damaged_at > splitter->begin + pre_sync->messages[pre_sync->count - 1].offset;
}

/* Collect the guesses of the sources that synchronize. Returns their number, 0 when the chunk cannot be begun with
 * them. */
static size_t collect_guesses(const ntr_splitter *splitter, bool guessed, bool last, ntr_snapshot_guess *guesses,
                              uint32_t *silent) {
    size_t count = 0;
    bool stopped = false;
    *silent = 0;
    for (uint32_t i = 0; i < splitter->seen_count; i++) {
        const ntr_splitter_source *s = splitter->sources[splitter->seen[i]];
        *silent += s->seen_before && !s->in_chunk;
        if (!s->synced || !s->in_chunk) continue;
        stopped |= s->at_sync.stopped;
        if (is_new_to_previous(s, guessed)) return 0;
        guesses[count] = s->at_sync;
        guesses[count++].first += splitter->number_shift;
    }
    if (splitter->stop_used || (stopped && splitter->damaged)) return 0;
    if (last && *silent) return 0; /* the end of the stream may close a gap of theirs */
    return damage_is_harmless(splitter, *silent) ? count : 0;
}

ntr_status ntr_splitter_guess(ntr_splitter *splitter, bool guessed, bool last, ntr_snapshot **guess) {
    *guess = NULL;
    if (ntr_flow_tables_exist(&splitter->config->params)) return NTR_OK; /* what they hold cannot be guessed */
    /* with `strict`, the first defect may be in a pre-sync message */
    bool may_stop = splitter->config->strict && splitter->pre_sync.count;
    bool known = splitter->at_message && !splitter->unsynced && !splitter->pre_sync_full && splitter->seen_count;
    if (!known || may_stop) return NTR_OK;
    ntr_snapshot_guess *guesses = ntr_alloc(splitter->config->allocator, splitter->seen_count, sizeof *guesses);
    if (!guesses) return NTR_E_MEMORY;
    ntr_snapshot_position place = {.offset = splitter->begin,
                                   .number = splitter->begin_number + splitter->number_shift};
    size_t count = collect_guesses(splitter, guessed, last, guesses, &place.silent);
    if (count) *guess = ntr_snapshot_predict(splitter->scratch, &place, guesses, count);
    ntr_dealloc(splitter->config->allocator, guesses);
    return count && !*guess ? NTR_E_MEMORY : NTR_OK;
}

void ntr_splitter_next_chunk(ntr_splitter *splitter) {
    for (uint32_t i = 0; i < splitter->seen_count; i++) {
        ntr_splitter_source *s = splitter->sources[splitter->seen[i]];
        s->in_previous = s->in_chunk;
        s->seen_before = true;
        s->in_chunk = s->synced = s->has_pre_sync = s->waits = false;
        if (!s->current.stopped) continue;
        s->current.first = splitter->number + 1;
        mark_synced(s);
    }
    splitter->begin = splitter->offset;
    splitter->begin_number = splitter->number;
    splitter->at_message = !splitter->inside;
    splitter->damaged = splitter->pre_sync_full = splitter->stop_used = false;
    splitter->unsynced = 0;
    splitter->pre_sync.count = 0;
    if (!splitter->latest) return;
    splitter->latest->in_chunk = true;
    mark_synced(splitter->latest);
}
