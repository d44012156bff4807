/* Fragments, message by message: where another process begins to run or mappings change, a piece ends.
 *
 * With a clock, the time of each message decides. Without one, a fragment is one piece, and only Ownership messages
 * with known contexts divide it (owners.c).
 *
 * A piece begins with an Ownership message for each source of its buffer, whose scontext is the space of the process;
 * every Ownership message of the trace gets it too. Where something is missing, an Error message opens a gap in the
 * sources of the buffer. If the trace has no SRC but several buffers, SRC is inserted: TCODE fills the first byte of a
 * message, so that a SRC of 6 or 12 bits is one or two bytes behind it. */
#include "perf/scan.h"
#include "perf/state.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "message/sets.h"
#include "trace/ownership.h"
#include "wire/mdo.h"

#define NO_SPACE UINT64_MAX

/* ---- output */

static ntr_status put(struct ntr_perf_scan *s, const void *bytes, size_t size) {
    struct ntr_perf_buffer *b = s->buffer;

    if (ntr_reserve(s->data->allocator, (void **)&b->out, &b->out_capacity, b->out_size + size, 1)) return NTR_E_MEMORY;
    if (size) memcpy(b->out + b->out_size, bytes, size);
    b->out_size += size;
    return NTR_OK;
}

static ntr_status put_message(struct ntr_perf_scan *s, const ntr_message *m) {
    uint8_t bytes[64];
    int size = ntr_message_encode(s->out, m, bytes, sizeof bytes);

    return size < 0 ? NTR_OK : put(s, bytes, (size_t)size);
}

/* A message of our own for this source. */
static ntr_message make(const struct ntr_perf_scan *s, unsigned tcode, unsigned src) {
    ntr_message m = {.tcode = (uint8_t)tcode};

    if (s->out->src_bits) m.present |= (ntr_fields)1 << NTR_FIELD_SRC;
    m.src = s->data->sources ? s->buffer->src : src;
    return m;
}

static ntr_status put_loss(struct ntr_perf_scan *s, unsigned src) {
    ntr_message m = make(s, NTR_TCODE_ERROR, src);

    m.present |= (ntr_fields)1 << NTR_FIELD_ETYPE | (ntr_fields)1 << NTR_FIELD_ECODE;
    m.etype = NTR_ETYPE_OVERRUN;
    m.ecode = 0;
    return put_message(s, &m);
}

static ntr_status put_owner(struct ntr_perf_scan *s, unsigned src, uint64_t process) {
    ntr_message m = make(s, NTR_TCODE_OWNERSHIP, src);
    uint64_t mode = process & ((1u << NTR_PROCESS_CONTEXT) - 1) & ~3u;

    m.present |= (ntr_fields)1 << NTR_FIELD_PROCESS;
    m.process = NTR_FORMAT_SCONTEXT | mode | ntr_perf_space(s->pid, s->generation) << NTR_PROCESS_CONTEXT;
    return put_message(s, &m);
}

static ntr_status put_with_source(struct ntr_perf_scan *s, ntr_bytes raw) {
    const unsigned count = s->out->src_bits / NTR_MDO_BITS, end = raw.data[0] & 3;
    uint8_t head[3] = {raw.data[0] & (uint8_t)~3u};

    for (unsigned i = 0; i < count; i++) {
        unsigned mdo = s->buffer->src >> NTR_MDO_BITS * i & 63;
        head[1 + i] = (uint8_t)(mdo << NTR_MSEO_BITS | (i + 1 == count ? end : 0));
    }
    TRY(put(s, head, 1 + count));
    return put(s, raw.data + 1, raw.size - 1);
}

/* SRC is behind the 6 bits of TCODE; each byte has 6 bits, and 2 that say where a field ends. */
static ntr_status put_replaced(struct ntr_perf_scan *s, ntr_bytes raw) {
    const size_t at = s->buffer->out_size, last = (s->out->src_bits + NTR_MDO_BITS - 1u) / NTR_MDO_BITS;

    if (raw.size <= last) return put_loss(s, s->source);
    TRY(put(s, raw.data, raw.size));
    uint8_t *bytes = s->buffer->out + at;
    for (unsigned i = 0; i < s->out->src_bits; i++) {
        const unsigned bit = i % NTR_MDO_BITS + NTR_MSEO_BITS;
        uint8_t *byte = &bytes[1 + i / NTR_MDO_BITS];
        *byte = (uint8_t)((*byte & ~(1u << bit)) | (s->buffer->src >> i & 1) << bit);
    }
    return NTR_OK;
}

static ntr_status copy(struct ntr_perf_scan *s, const ntr_message *m) {
    bool whole = m->size == m->raw.size && m->raw.size;

    if (s->data->sources == NTR_PERF_SOURCES_OWN && whole) return put(s, m->raw.data, m->raw.size);
    if (!whole || m->tcode == NTR_TCODE_NONE) return put_loss(s, s->source);
    return s->data->sources == NTR_PERF_SOURCES_ADDED ? put_with_source(s, m->raw) : put_replaced(s, m->raw);
}

/* ---- pieces */

static ntr_status begin_piece(struct ntr_perf_scan *s, uint64_t time) {
    struct ntr_perf_data *data = s->data;

    if (data->piece_count >= UINT32_MAX) return NTR_E_LIMIT;
    if (time < s->time) time = s->time;
    struct ntr_perf_piece *p = NTR_PERF_ADD(data, pieces, piece_count, piece_capacity);
    if (!p) return NTR_E_MEMORY;
    s->time = time;
    *p = (struct ntr_perf_piece){.time = time,
                                 .order = data->piece_count,
                                 .space = ntr_perf_space(s->pid, s->generation),
                                 .buffer = s->number,
                                 .at = s->buffer->out_size};
    return NTR_OK;
}

static void end_piece(struct ntr_perf_scan *s) {
    struct ntr_perf_data *data = s->data;
    struct ntr_perf_piece *p = data->piece_count ? &data->pieces[data->piece_count - 1] : NULL;

    if (p && p->buffer == s->number) p->size = s->buffer->out_size - p->at;
}

static ntr_status put_owners(struct ntr_perf_scan *s) {
    if (!s->data->bind || s->data->contexts_are_threads || s->pid == NTR_PERF_NOBODY) return NTR_OK;
    for (unsigned i = 0; i < s->seen_count; i++) TRY(put_owner(s, s->seen[i], s->process[s->seen[i]]));
    return NTR_OK;
}

/* The next time at which mappings change. */
static uint64_t next_change(const struct ntr_perf_data *data, uint64_t time) {
    size_t low = 0, high = data->change_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (data->changes[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low < data->change_count ? data->changes[low] : UINT64_MAX;
}

/* Who runs at this time, and until when the piece goes. */
static void look_up(struct ntr_perf_scan *s, uint64_t time) {
    uint64_t change = next_change(s->data, time), next = UINT64_MAX;

    if (!s->data->contexts_are_threads && s->buffer->cpu != NTR_PERF_NOBODY) {
        uint32_t pid = ntr_perf_running_at(s->data, s->buffer->cpu, time, &next);
        if (pid != NTR_PERF_NOBODY) s->pid = pid;
    }
    s->cut = next < change ? next : change;
    s->generation = ntr_perf_generation(s->data, s->pid, time);
}

static ntr_status change_piece(struct ntr_perf_scan *s, uint64_t time) {
    end_piece(s);
    TRY(begin_piece(s, time));
    return put_owners(s);
}

/* Where contexts are threads: processes of which a new generation begins. */
static ntr_status renew_owners(struct ntr_perf_scan *s, uint64_t time) {
    for (unsigned i = 0; i < s->seen_count; i++) {
        const unsigned source = s->seen[i];
        if (s->space[source] == NO_SPACE) continue;
        s->pid = (uint32_t)s->space[source];
        s->generation = ntr_perf_generation(s->data, s->pid, time);
        const uint64_t space = ntr_perf_space(s->pid, s->generation);
        if (space == s->space[source]) continue;
        s->space[source] = space;
        TRY(put_owner(s, source, s->process[source]));
    }
    return NTR_OK;
}

/* The message is later than the end of the piece. */
static ntr_status cut_before(struct ntr_perf_scan *s, uint64_t time) {
    uint64_t cut = s->cut;

    while (s->cut <= time) look_up(s, cut = s->cut);
    TRY(change_piece(s, cut));
    return s->data->contexts_are_threads ? renew_owners(s, cut) : NTR_OK;
}

/* ---- messages */

static uint64_t message_time(const struct ntr_perf_scan *s) {
    return s->timed && s->data->clock.known ? ntr_perf_clock_time(&s->data->clock, s->ticks) : s->time;
}

/* The context of a thread becomes that of its process. One of which the file has no record keeps its number, to which
 * no image is bound: numbers of generations are above those of threads. */
static ntr_status take_thread(struct ntr_perf_scan *s, const ntr_message *m) {
    const uint64_t tid = m->process >> NTR_PROCESS_CONTEXT, time = message_time(s);
    const uint32_t pid = ntr_perf_process_of(s->data, tid, time);

    s->space[s->source] = NO_SPACE;
    if (pid == NTR_PERF_NOBODY) return copy(s, m);
    s->pid = pid;
    s->generation = ntr_perf_generation(s->data, pid, time);
    s->space[s->source] = ntr_perf_space(pid, s->generation);
    return put_owner(s, s->source, m->process);
}

static ntr_status take_owner(struct ntr_perf_scan *s, const ntr_message *m) {
    s->process[s->source] = m->process;
    if (ntr_ownership_format(m->process) != NTR_FORMAT_SCONTEXT) return copy(s, m);
    if (s->data->contexts_are_threads) return take_thread(s, m);
    if (!s->data->clock.known) {
        uint32_t pid = ntr_perf_owner_of(s->data, m->process >> NTR_PROCESS_CONTEXT);
        bool other = pid != NTR_PERF_NOBODY && pid != s->pid;
        if (other) s->pid = pid;
        if (other) s->generation = ntr_perf_generation(s->data, pid, s->time);
        if (other) TRY(change_piece(s, s->time));
        if (other && s->data->bind) return NTR_OK; /* the piece begins with this Ownership message */
    }
    return s->pid == NTR_PERF_NOBODY || !s->data->bind ? copy(s, m) : put_owner(s, s->source, m->process);
}

static ntr_status take(struct ntr_perf_scan *s, const ntr_message *m) {
    bool repeat = m->tcode != NTR_TCODE_NONE && ntr_has_role(m->tcode, NTR_ROLE_REPEAT);
    const bool own = s->data->contexts_are_threads;
    uint64_t time = s->timed ? ntr_perf_clock_time(&s->data->clock, s->ticks) : 0;

    if (own && s->space[s->source] != NO_SPACE) TRY(ntr_perf_count_process(s->data, s->space[s->source], m->size));
    if (s->data->clock.known && s->timed && time >= s->cut && !repeat) TRY(cut_before(s, time));
    if (!own && s->is_new && s->data->bind && s->pid != NTR_PERF_NOBODY && !repeat)
        TRY(put_owner(s, s->source, s->process[s->source]));
    bool owner = !m->defect && ntr_has_role(m->tcode, NTR_ROLE_CONTEXT) && NTR_HAS(m, PROCESS);
    return owner ? take_owner(s, m) : copy(s, m);
}

/* ---- fragments */

static ntr_status begin_fragment(struct ntr_perf_scan *s, const struct ntr_perf_fragment *f) {
    if (f->pid != NTR_PERF_NOBODY && s->buffer->cpu == NTR_PERF_NOBODY) s->pid = f->pid;
    uint64_t time = f->begin;
    if (f->timed && s->data->clock.known) {
        uint64_t first = ntr_perf_clock_time(&s->data->clock, f->first_time);
        if (first > time) time = first;
    }
    s->time = s->data->contexts_are_threads ? time : s->time;
    look_up(s, time);
    if (s->pid == NTR_PERF_NOBODY) s->pid = f->pid;
    s->generation = ntr_perf_generation(s->data, s->pid, time);
    end_piece(s);
    TRY(begin_piece(s, time));
    if (s->lost)
        for (unsigned i = 0; i < s->seen_count; i++) TRY(put_loss(s, s->seen[i]));
    return put_owners(s);
}

static ntr_status make_pieces(struct ntr_perf_data *data, struct ntr_perf_scan *s) {
    const struct ntr_perf_fragment *f;
    ntr_message m;

    while ((f = ntr_perf_scan_fragment(s))) {
        TRY(begin_fragment(s, f));
        while (ntr_perf_scan_message(s, &m)) TRY(take(s, &m));
    }
    end_piece(s);
    (void)data;
    return NTR_OK;
}

ntr_status ntr_perf_pieces_make(struct ntr_perf_data *data, const ntr_params *params, const ntr_params *out) {
    struct ntr_perf_scan s = {0};
    ntr_status status = ntr_perf_scan_new(&s, data, params);

    s.out = out;
    for (size_t i = 0; i < data->buffer_count && status == NTR_OK; i++) {
        ntr_perf_scan_buffer(&s, i);
        status = make_pieces(data, &s);
    }
    ntr_perf_scan_release(&s);
    return status;
}
