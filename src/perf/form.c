/* Whose trace the AUX data is, and what encloses the messages. docs/perf.md, "Producers".
 *
 * The type number of AUXTRACE_INFO is not reliable: producers chose theirs before the kernel had one. The name of the
 * PMU and the bytes decide.
 *
 *   plain   the messages as the RAM sink had them
 *   blocks  each fragment begins with a header of 24 bytes (XuanTie's kernel)
 *   frames  CoreSight formatter frames of 16 bytes, with one ATB ID for each bridge */
#include "perf/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <inttypes.h>
#include <ntrace/reader.h>
#include <ntrace/transport.h>

/* ---- XuanTie: u32 size, inst_mode, src_bits, timestamp_bits, trace_ram_wrap, align */

enum { BLOCK_HEADER = 24, BLOCK_BTM = 3, BLOCK_HTM = 6 };

struct block_header {
    uint32_t size, mode, src_bits, timestamp_bits, wrapped, align;
};

static bool read_header(const struct ntr_perf_fragment *f, struct block_header *h) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(f->bytes, f->bytes ? (size_t)f->size : 0);

    *h = (struct block_header){.size = ntr_perf_u32(&c)};
    h->mode = ntr_perf_u32(&c);
    h->src_bits = ntr_perf_u32(&c);
    h->timestamp_bits = ntr_perf_u32(&c);
    h->wrapped = ntr_perf_u32(&c);
    h->align = ntr_perf_u32(&c);
    return !c.broken && h->size == BLOCK_HEADER && (h->mode == BLOCK_BTM || h->mode == BLOCK_HTM) &&
           h->src_bits <= 12 && h->timestamp_bits <= 64 && h->wrapped <= 1 && h->align == 0;
}

static ntr_status differ(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                         const struct ntr_perf_fragment *f) {
    return ntr_perf_lose(data,
                         "buffer %" PRIu32 ", byte 0x%" PRIx64
                         ": expected the header of a block, found none or another width of SRC; %" PRIu64
                         " bytes are left out",
                         buffer->index, f->offset, f->size);
}

static ntr_status take_header(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                              struct ntr_perf_fragment *f) {
    struct block_header h;

    if (!f->size) return NTR_OK;
    if (!read_header(f, &h) || h.src_bits != data->params.src_bits) {
        TRY(differ(data, buffer, f));
        f->size = 0;
        f->loss = true;
        return NTR_OK;
    }
    f->bytes += BLOCK_HEADER;
    f->size -= BLOCK_HEADER;
    f->apart = true;
    f->wrapped = h.wrapped;
    f->loss |= h.wrapped;
    return NTR_OK;
}

/* ---- every fragment of the file */

typedef ntr_status (*fragment_function)(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                                        struct ntr_perf_fragment *f);

static ntr_status for_each(struct ntr_perf_data *data, fragment_function function) {
    for (size_t i = 0; i < data->buffer_count; i++)
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++)
            TRY(function(data, &data->buffers[i], &data->buffers[i].fragments[k]));
    return NTR_OK;
}

static const struct ntr_perf_fragment *first_fragment(const struct ntr_perf_data *data) {
    for (size_t i = 0; i < data->buffer_count; i++)
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++)
            if (data->buffers[i].fragments[k].size) return &data->buffers[i].fragments[k];
    return NULL;
}

/* ---- CoreSight frames */

enum { ATB_IDS = 128 };

/* Messages of several IDs may be interleaved byte by byte. */
struct deframed {
    const ntr_allocator *allocator;
    struct payload {
        uint8_t *bytes;
        size_t size, capacity;
    } of[ATB_IDS];
    size_t size; /* of all */
};

static void release_payloads(struct deframed *from) {
    for (unsigned id = 0; id < ATB_IDS; id++) ntr_dealloc(from->allocator, from->of[id].bytes);
}

static ntr_status take_payload(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    struct deframed *to = user;
    struct payload *p = &to->of[id % ATB_IDS];

    if (ntr_reserve(to->allocator, (void **)&p->bytes, &p->capacity, p->size + size, 1)) return NTR_E_MEMORY;
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
    to->size += size;
    return NTR_OK;
}

/* The payload of one ID after the other, in new memory; SRC says which CPU sent a message. NULL: out of memory. */
static uint8_t *join_payloads(const struct deframed *from) {
    uint8_t *all = ntr_alloc(from->allocator, from->size + 1, 1), *at = all;

    for (unsigned id = 0; all && id < ATB_IDS; id++) {
        if (from->of[id].size) memcpy(at, from->of[id].bytes, from->of[id].size);
        at += from->of[id].size;
    }
    return all;
}

static ntr_status push_frames(ntr_transport_reader *reader, const struct ntr_perf_fragment *f) {
    enum { FRAME_BEATS = 256 };
    uint16_t beats[FRAME_BEATS];
    int held = -1;

    for (size_t at = 0; at < f->size; at += FRAME_BEATS) {
        size_t some = f->size - at < FRAME_BEATS ? (size_t)f->size - at : FRAME_BEATS;
        TRY(ntr_transport_reader_push(reader, beats, ntr_beats_unpack(8, &held, f->bytes + at, some, beats)));
    }
    return ntr_transport_reader_end(reader);
}

/* The bytes inside the frames, in new memory. */
static ntr_status deframe(const struct ntr_perf_data *data, const struct ntr_perf_fragment *f, uint8_t **bytes,
                          size_t *size) {
    ntr_reader_options options;
    struct deframed *to = ntr_alloc(data->allocator, 1, sizeof *to);
    ntr_status status = NTR_E_MEMORY;

    if (!to) return NTR_E_MEMORY;
    to->allocator = data->allocator;
    ntr_reader_options_init(&options);
    if (f->wrapped) options.begin = NTR_BEGIN_ANYWHERE;
    options.sink = take_payload;
    options.user = to;
    options.allocator = data->allocator;
    ntr_transport_reader *reader = ntr_transport_reader_new(ntr_transport_find("coresight"), &options, &status);
    if (reader) status = push_frames(reader, f);
    ntr_transport_reader_free(reader);
    *size = to->size;
    *bytes = status == NTR_OK ? join_payloads(to) : NULL;
    release_payloads(to);
    ntr_dealloc(data->allocator, to);
    return status == NTR_OK && !*bytes ? NTR_E_MEMORY : status;
}

static ntr_status take_frames(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                              struct ntr_perf_fragment *f) {
    uint8_t *bytes;
    size_t size;

    (void)buffer;
    if (!f->size) return NTR_OK;
    TRY(deframe(data, f, &bytes, &size));
    ntr_dealloc(data->allocator, f->copy);
    f->bytes = f->copy = bytes;
    f->size = size;
    return NTR_OK;
}

/* The share of defects, in 1000, when the bytes are read as messages. */
static unsigned defects(const ntr_params *params, const uint8_t *bytes, size_t size) {
    enum { SAMPLE_BYTES = 64 << 10 };
    ntr_reader reader;
    ntr_message message;
    unsigned good = 0, bad = 0;

    if (!bytes || ntr_reader_init(&reader, params) != NTR_OK) return 1000;
    ntr_reader_seek_start(&reader);
    ntr_reader_feed(&reader, bytes, size < SAMPLE_BYTES ? size : SAMPLE_BYTES, true);
    while (ntr_reader_next(&reader, &message) == NTR_OK)
        *(message.defect || ntr_tcode_is_reserved(params->dialect, message.tcode) ? &bad : &good) += 1;
    return good + bad ? 1000 * bad / (good + bad) : 1000;
}

/* Returns whether the bytes are better messages when frames are taken off. */
static ntr_status are_frames(const struct ntr_perf_data *data, bool *frames) {
    const struct ntr_perf_fragment *f = first_fragment(data);
    uint8_t *bytes;
    size_t size;

    *frames = false;
    if (!f || f->size % 16) return NTR_OK;
    TRY(deframe(data, f, &bytes, &size));
    *frames = defects(&data->params, bytes, size) < defects(&data->params, f->bytes, (size_t)f->size);
    ntr_dealloc(data->allocator, bytes);
    return NTR_OK;
}

/* ---- AUXTRACE_INFO */

static const char *const other_traces[] = {
    "", "Intel PT", "Intel BTS", "CoreSight (Arm ETM)", "Arm SPE", "s390 CPU measurement", "HiSilicon PTT"};

static void set_param(struct ntr_perf_data *data, unsigned parameter) {
    data->params_set |= 1u << parameter;
}

/* SpacemiT: per CPU, after the number of parameters: format, context, inhibit SRC, SRC bits, SRC ID. */
static void read_cpu_parameters(struct ntr_perf_data *data, struct ntr_perf_cursor *c) {
    enum { CPU_FORMAT, CPU_CONTEXT, CPU_INHIBIT, CPU_SRC_BITS, CPU_SRC_ID, CPU_USED };
    uint64_t values[CPU_USED] = {0};

    ntr_perf_u64(c); /* CPU */
    uint64_t count = ntr_perf_u64(c);
    for (uint64_t i = 0; i < count && !c->broken; i++) {
        uint64_t value = ntr_perf_u64(c);
        if (i < CPU_USED) values[i] = value;
    }
    if (c->broken || count < CPU_USED || values[CPU_SRC_BITS] > 12) return;
    data->params.src_bits = values[CPU_INHIBIT] ? 0 : (uint8_t)values[CPU_SRC_BITS];
    set_param(data, NTR_PARAMETER_SRC_BITS);
}

static ntr_status find_pmu(struct ntr_perf_data *data, const char **name) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(data->file.info.data, data->file.info.size);
    uint32_t type = ntr_perf_u32(&c);

    ntr_perf_u32(&c);
    uint64_t private = ntr_perf_u64(&c);
    *name = NULL;
    for (size_t i = 0; i < data->file.attr_count && !*name; i++) {
        const char *pmu = ntr_perf_pmu_name(&data->file, data->file.attrs[i].type);
        if (pmu && (strcmp(pmu, "rvtrace") == 0 || strcmp(pmu, "xuantie_ntrace") == 0)) *name = pmu;
    }
    if (data->file.info.data && !*name && type < sizeof other_traces / sizeof *other_traces)
        return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED, "%s: expected N-Trace, found %s", data->path,
                             type ? other_traces[type] : "no kind of trace");
    if (!c.broken && private >> 32 && ntr_perf_left(&c) >= 8) read_cpu_parameters(data, &c);
    return NTR_OK;
}

static ntr_status find_blocks(struct ntr_perf_data *data, const struct block_header *h) {
    const ntr_dialect *dialect = ntr_dialect_find("xuantie");

    data->form = NTR_PERF_BLOCKS;
    if (dialect) {
        ntr_params_init(&data->params, dialect);
        set_param(data, NTR_PARAMETER_DIALECT);
    }
    data->params.src_bits = (uint8_t)h->src_bits;
    data->params.timestamps = h->timestamp_bits ? NTR_TIMESTAMPS_ON : NTR_TIMESTAMPS_OFF;
    data->params.ts_width = (uint8_t)h->timestamp_bits;
    set_param(data, NTR_PARAMETER_SRC_BITS);
    set_param(data, NTR_PARAMETER_TIMESTAMPS);
    if (h->timestamp_bits) set_param(data, NTR_PARAMETER_TS_WIDTH);
    return for_each(data, take_header);
}

ntr_status ntr_perf_form_find(struct ntr_perf_data *data) {
    const struct ntr_perf_fragment *first = first_fragment(data);
    struct block_header h;
    const char *pmu;
    bool frames;

    TRY(find_pmu(data, &pmu));
    if (!first) return ntr_perf_fail(&data->file, NTR_E_FORMAT, "%s: expected AUX data, found none", data->path);
    data->producer = pmu ? pmu : "unknown PMU";
    if (read_header(first, &h)) return find_blocks(data, &h);
    TRY(are_frames(data, &frames));
    if (!frames) return NTR_OK;
    data->form = NTR_PERF_FRAMES;
    return for_each(data, take_frames);
}
