#include "base/allocator.h"
#include "base/config.h"
#include "message/sets.h"
#include "transport/transports.h"

#include <ntrace/frames.h>
#include <ntrace/reader.h>

#include <string.h>

enum {
    FRAMES_IDS = 128,
    SRC_MOST = 12,
    SRC_VALUES = 1 << SRC_MOST,
    LANE_BYTES = 256,
    FRAMES_OUT = 8192,
    PUSH_BEATS = 1024
};

/* How the data of a trace ID continue. */
enum lane_place { LANE_START, LANE_BETWEEN, LANE_INSIDE, LANE_CUT };

struct lane {
    enum lane_place place;
    bool first;    /* the message is the first one: it must be one that a trace begins with */
    uint16_t size;
    uint8_t bytes[LANE_BYTES];
    uint64_t total;
};

struct ntr_frames {
    ntr_frames_options options;
    ntr_transport_reader *reader;
    ntr_frames_totals totals;
    ntr_frames_sink sink;
    void *user;
    unsigned skip;
    ntr_status status; /* of the sink, in a note */
    bool any;          /* data since the last restart */
    struct lane lanes[FRAMES_IDS];
    uint64_t sources[FRAMES_IDS][SRC_VALUES / 64]; /* the 12 bits after TCODE, by trace ID */
    size_t out_size;
    uint8_t out[FRAMES_OUT];
};

/* ---- output */

static ntr_status pass_out(ntr_frames *f) {
    const size_t size = f->out_size;

    f->out_size = 0;
    return size ? f->sink(f->user, f->out, size) : NTR_OK;
}

static ntr_status put(ntr_frames *f, const uint8_t *bytes, size_t size) {
    if (size > FRAMES_OUT - f->out_size) TRY(pass_out(f));
    memcpy(f->out + f->out_size, bytes, size);
    f->out_size += size;
    return NTR_OK;
}

/* ---- messages */

static bool may_begin_trace(uint8_t byte) {
    const unsigned tcode = byte >> 2;

    return !(byte & 3) && (ntr_has_role(tcode, NTR_ROLE_SYNC) || ntr_has_role(tcode, NTR_ROLE_CONTEXT) ||
                           ntr_has_role(tcode, NTR_ROLE_LOSS));
}

/* TCODE fills the first byte of a message; SRC has the low bits of the next ones. */
static void note_source(ntr_frames *f, unsigned id, const struct lane *lane) {
    unsigned source = lane->size > 1 ? lane->bytes[1] >> 2 : 0;

    if (lane->size > 2 && !(lane->bytes[1] & 3)) source |= (unsigned)(lane->bytes[2] >> 2) << 6;
    f->sources[id][source / 64] |= UINT64_C(1) << source % 64;
}

static ntr_status end_message(ntr_frames *f, unsigned id, struct lane *lane) {
    const bool cut = lane->place == LANE_CUT || (lane->first && !may_begin_trace(lane->bytes[0]));

    lane->place = LANE_BETWEEN;
    lane->first = false;
    if (cut) {
        f->totals.left_out += lane->size;
        lane->size = 0;
        return NTR_OK;
    }
    note_source(f, id, lane);
    f->totals.messages++;
    ntr_status status = put(f, lane->bytes, lane->size);
    lane->size = 0;
    return status;
}

/* A message that is longer than any: the reader of messages reports it. */
static ntr_status too_long(ntr_frames *f, struct lane *lane) {
    const bool cut = lane->place == LANE_CUT || lane->first;
    const size_t size = lane->size;

    lane->size = 0;
    if (cut) f->totals.left_out += size;
    return cut ? NTR_OK : put(f, lane->bytes, size);
}

static ntr_status take_data(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    ntr_frames *f = user;
    struct lane *lane = &f->lanes[id % FRAMES_IDS];

    if (f->options.id && id != f->options.id) return NTR_OK;
    if (size && !lane->total) f->totals.ids++;
    f->any |= size != 0;
    lane->total += size;
    for (size_t i = 0; i < size; i++) {
        bool inside = lane->place == LANE_INSIDE || lane->place == LANE_CUT;
        if (message_byte(&inside, bytes[i]) == BYTE_IDLE) continue;
        if (lane->place == LANE_START) lane->first = !f->options.whole;
        if (lane->place != LANE_CUT) lane->place = LANE_INSIDE;
        lane->bytes[lane->size++] = bytes[i];
        if (!inside)
            TRY(end_message(f, id % FRAMES_IDS, lane));
        else if (lane->size == LANE_BYTES)
            TRY(too_long(f, lane));
    }
    return NTR_OK;
}

/* MSEO 10 at the beginning of a message, which nothing else has: all sources have a gap. */
static ntr_status put_damage(ntr_frames *f) {
    static const uint8_t damage[] = {0x02, 0x03};

    return put(f, damage, sizeof damage);
}

/* What follows the barrier begins anywhere. */
static ntr_status take_barrier(ntr_frames *f) {
    const bool before = f->any;

    for (unsigned id = 0; id < FRAMES_IDS; id++) {
        struct lane *lane = &f->lanes[id];
        f->totals.left_out += lane->size;
        lane->size = 0;
        lane->place = LANE_CUT;
    }
    f->totals.barriers += before;
    return before ? put_damage(f) : NTR_OK;
}

static void take_note(void *user, const ntr_transport_note *note) {
    ntr_frames *f = user;

    if (note->kind == NTR_NOTE_UNKNOWN_ID) f->totals.left_out += note->value;
    if (note->kind == NTR_NOTE_LOST) f->totals.incomplete++;
    if (note->kind == NTR_NOTE_BARRIER && f->status == NTR_OK) f->status = take_barrier(f);
}

/* ---- */

static ntr_status new_reader(ntr_frames *f) {
    ntr_reader_options reading;

    ntr_reader_options_init(&reading);
    reading.sink = take_data;
    reading.note = take_note;
    reading.user = f;
    reading.allocator = f->options.allocator;
    return ntr_transport_reader_new(ntr_transport_find("coresight"), &reading, &f->reader);
}

ntr_status ntr_frames_new(const ntr_frames_options *given, ntr_frames **out) {
    *out = NULL;
    ntr_frames_options options;

    ntr_frames_options_init(&options);
    ntr_status status = given ? ntr_config_load(&options, sizeof options, given) : NTR_OK;
    if (status == NTR_OK &&
        (options.id >= NTR_ATB_ID_RESERVED || options.skip >= NTR_FRAME_BYTES || (options.cut && options.whole)))
        status = NTR_E_INVALID;
    if (status != NTR_OK) return status;
    ntr_frames *f = ntr_alloc(options.allocator, 1, sizeof *f);
    if (!f) return NTR_E_MEMORY;
    f->options = options;
    f->skip = options.skip;
    for (unsigned id = 0; options.cut && id < FRAMES_IDS; id++) f->lanes[id].place = LANE_CUT;
    status = new_reader(f);
    if (status == NTR_OK)
        *out = f;
    else
        ntr_frames_free(f);
    return status;
}

ntr_status ntr_frames_restart(ntr_frames *f, bool cut, unsigned skip) {
    if (skip >= NTR_FRAME_BYTES) return NTR_E_INVALID;
    f->skip = skip;
    f->any = false;
    for (unsigned id = 0; id < FRAMES_IDS; id++) {
        struct lane *lane = &f->lanes[id];
        f->totals.left_out += lane->size; /* the rest is missing */
        lane->size = 0;
        lane->first = false;
        lane->place = cut ? LANE_CUT : LANE_START;
    }
    ntr_transport_reader_free(f->reader);
    return new_reader(f);
}

void ntr_frames_free(ntr_frames *f) {
    if (!f) return;
    ntr_transport_reader_free(f->reader);
    ntr_dealloc(f->options.allocator, f);
}

ntr_status ntr_frames_feed(ntr_frames *f, const uint8_t *bytes, size_t size, ntr_frames_sink sink, void *user) {
    uint16_t beats[PUSH_BEATS];
    const size_t skip = f->skip < size ? f->skip : size;

    f->sink = sink;
    f->user = user;
    f->totals.bytes += size;
    f->skip -= (unsigned)skip;
    for (size_t at = skip; at < size;) {
        size_t count = 0;
        while (count < PUSH_BEATS && at < size) beats[count++] = bytes[at++];
        TRY(ntr_transport_reader_feed(f->reader, beats, count));
        TRY(f->status);
    }
    return pass_out(f);
}

ntr_status ntr_frames_finish(ntr_frames *f, ntr_frames_sink sink, void *user) {
    f->sink = sink;
    f->user = user;
    TRY(ntr_transport_reader_finish(f->reader));
    for (unsigned id = 0; id < FRAMES_IDS; id++) {
        struct lane *lane = &f->lanes[id];
        if (!lane->size) continue;
        f->totals.left_out += lane->size; /* the rest is missing */
        lane->size = 0;
    }
    return pass_out(f);
}

void ntr_frames_totals_get(const ntr_frames *f, ntr_frames_totals *totals) {
    *totals = f->totals;
}

uint64_t ntr_frames_id_bytes(const ntr_frames *f, unsigned id) {
    return id < FRAMES_IDS ? f->lanes[id].total : 0;
}

bool ntr_frames_mixed(const ntr_frames *f, unsigned src_bits, unsigned ids[2]) {
    const unsigned mask = src_bits < SRC_MOST ? (1u << src_bits) - 1 : SRC_VALUES - 1;
    uint8_t owner[SRC_VALUES] = {0}; /* a trace ID, which is not 0 */

    for (unsigned id = 1; id < FRAMES_IDS; id++) {
        if (!f->lanes[id].total) continue;
        for (unsigned source = 0; source < SRC_VALUES; source++) {
            if (!(f->sources[id][source / 64] >> source % 64 & 1)) continue;
            uint8_t *of = &owner[source & mask];
            if (*of && *of != id) {
                ids[0] = *of;
                ids[1] = id;
                return true;
            }
            *of = (uint8_t)id;
        }
    }
    return false;
}

unsigned ntr_frames_src_bits(const ntr_frames *f) {
    enum { MESSAGES_MIN = 64 };
    unsigned differ = SRC_VALUES; /* bits that are not the same in all messages of an ID */

    if (f->totals.messages < MESSAGES_MIN) return 0;
    for (unsigned id = 1; id < FRAMES_IDS; id++) {
        unsigned any = 0, all = SRC_VALUES - 1;
        if (!f->lanes[id].total) continue;
        for (unsigned source = 0; source < SRC_VALUES; source++) {
            if (!(f->sources[id][source / 64] >> source % 64 & 1)) continue;
            any |= source;
            all &= source;
        }
        differ |= any & ~all;
    }
    return (unsigned)__builtin_ctz(differ) & ~1u;
}

/* ---- recognition */

enum { SAMPLE_MAX = 64 << 10, FEW_IDS = 32, FRAMES_MIN = 2, POOR_SHARE = 100 /* of 1000 */ };

/* Returns whether trace IDs are where frames have them. */
static bool has_ids(const uint8_t *bytes, size_t size) {
    static const uint8_t sync[4] = {0xff, 0xff, 0xff, 0x7f};
    bool known[FRAMES_IDS] = {false};
    unsigned ids = 0, frames = 0;

    for (size_t at = 0; size - at >= NTR_FRAME_BYTES;) {
        const uint8_t *frame = bytes + at;
        const bool word = memcmp(frame, sync, sizeof sync) == 0;
        at += word ? sizeof sync : NTR_FRAME_BYTES;
        bool any = false;
        for (unsigned i = 0; !word && i < NTR_FRAME_BYTES; i += 2) {
            const unsigned id = frame[i] >> 1;
            any |= frame[i] || frame[i + 1];
            if (!(frame[i] & 1) || known[id]) continue;
            if (id >= NTR_ATB_ID_RESERVED && id != NTR_ATB_ID_FLUSH && id != NTR_ATB_ID_TRIGGER) return false;
            known[id] = true;
            if (id && ++ids > FEW_IDS) return false;
        }
        frames += any;
    }
    return ids && frames >= FRAMES_MIN;
}

/* The share of defects, in 1000, when the bytes are read as messages. */
static unsigned defects(const uint8_t *bytes, size_t size) {
    ntr_params params;
    ntr_reader reader;
    ntr_message message;
    unsigned good = 0, bad = 0;

    ntr_params_init(&params, NULL);
    if (!size || ntr_reader_init(&reader, &params) != NTR_OK) return 1000;
    ntr_reader_seek_start(&reader);
    ntr_reader_feed(&reader, bytes, size, false);
    while (ntr_reader_next(&reader, &message) == NTR_OK)
        *(message.defect || ntr_tcode_is_reserved(params.dialect, message.tcode) ? &bad : &good) += 1;
    return good + bad ? 1000 * bad / (good + bad) : 1000;
}

struct sample {
    size_t size;
    uint8_t bytes[SAMPLE_MAX];
};

static ntr_status keep(void *user, const uint8_t *bytes, size_t size) {
    struct sample *s = user;
    const size_t some = size < SAMPLE_MAX - s->size ? size : SAMPLE_MAX - s->size;

    memcpy(s->bytes + s->size, bytes, some);
    s->size += some;
    return NTR_OK;
}

static unsigned defects_inside(const uint8_t *bytes, size_t size, struct sample *s) {
    ntr_frames *f;
    ntr_frames_new(NULL, &f);
    unsigned share = 1000;

    s->size = 0;
    if (f && ntr_frames_feed(f, bytes, size, keep, s) == NTR_OK) share = defects(s->bytes, s->size);
    ntr_frames_free(f);
    return share;
}

enum { MANY_BYTES = 16 * NTR_FRAME_BYTES, CLEARLY = 4 };

/* Damaged messages are not taken for frames: what is inside of frames must be much better messages, and of a few whole
 * frames all must be good. */
static bool is_clear(size_t size, unsigned at, unsigned plain, unsigned inside) {
    if (size >= MANY_BYTES) return inside < plain / CLEARLY && inside < POOR_SHARE;
    return at == 0 && size % NTR_FRAME_BYTES == 0 && inside == 0 && plain >= POOR_SHARE;
}

/* The share of defects when frames are read as messages. 0 for raw streams, which are read most: they have few bytes
 * where frames have trace IDs, and no defect in the first bytes; in 256 frames there are always some. */
static unsigned defects_outside(const uint8_t *bytes, size_t size) {
    enum { EXAMINED = 256 * NTR_FRAME_BYTES };

    if (size > EXAMINED && !defects(bytes, EXAMINED)) return 0;
    return defects(bytes, size);
}

bool ntr_frames_seen(ntr_bytes beginning, unsigned *skip) {
    const size_t size = beginning.size < SAMPLE_MAX ? beginning.size : SAMPLE_MAX;
    struct sample *s = NULL;
    bool seen = false, known = false;
    unsigned plain = 0;

    *skip = 0;
    for (unsigned at = 0; beginning.data && at < NTR_FRAME_BYTES && at < size && !seen; at++) {
        if (!has_ids(beginning.data + at, size - at)) continue;
        if (!known) plain = defects_outside(beginning.data, size);
        known = true;
        if (!plain) break;
        *skip = at;
        if (!is_clear(size, at, plain, 0)) continue;
        if (!s) s = ntr_alloc(NULL, 1, sizeof *s);
        if (!s) break;
        seen = is_clear(size, at, plain, defects_inside(beginning.data + at, size - at, s));
    }
    ntr_dealloc(NULL, s);
    return seen;
}
