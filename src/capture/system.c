#include "capture/system.h"
#include "base/allocator.h"
#include "base/config.h"
#include "bundle/stream_write.h"
#include "capture/arrivals.h"
#include "capture/error.h"
#include "capture/sink_memory.h"
#include "system/system.h"

#include <ntrace/framer.h>
#include <ntrace/system.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- What is in the sinks of a modelled system when a capture ends: copied to the stream, with the offsets of its
 * messages. */

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
    bool wrapped; /* a buffer: its trace begins in the middle */
    bool adopted; /* `system` belongs to the caller */
    bool clogged; /* what was in the buffers has not reached a sink: one is full and has stopped */
    bool failed; /* a push has failed; `reason` says why */
};

/* A line for ntr_capture_system_loss. */
void __attribute__((format(printf, 2, 3))) ntr_capture_system_add_loss(struct ntr_capture_system *system,
                                                                       const char *format, ...);

struct ram_content {
    const ntr_allocator *allocator;
    uint8_t *bytes;
    size_t size, capacity;
};

static ntr_status collect(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    struct ram_content *content = user;

    (void)id;
    if (ntr_reserve(content->allocator, (void **)&content->bytes, &content->capacity, content->size + size, 1))
        return NTR_E_MEMORY;
    memcpy(content->bytes + content->size, bytes, size);
    content->size += size;
    return NTR_OK;
}

/* Calls `take` for each message of a sink, with the offset in the sink at which it ends. */
static void each_message(struct ntr_capture_system *s, const struct ram_content *content, bool cut,
                         void (*take)(struct ntr_capture_system *s, ntr_bytes message, uint64_t end, void *user),
                         void *user) {
    ntr_framer framer;
    ntr_slice slice;

    ntr_framer_init(&framer, false);
    if (cut) ntr_framer_seek_start(&framer);
    ntr_framer_feed(&framer, content->bytes, content->size, true);
    while (ntr_framer_next(&framer, &slice) == NTR_OK)
        if (slice.defect == NTR_OK) take(s, slice.raw, slice.offset + slice.size, user);
}

static void count_message(struct ntr_capture_system *s, ntr_bytes message, uint64_t end, void *user) {
    uint64_t *counts = user;

    (void)end;
    counts[ntr_capture_arrivals_source(&s->arrivals, message)]++;
}

static void put_arrival(struct ntr_capture_system *s, ntr_bytes message, uint64_t end, void *user) {
    const uint64_t *base = user;

    ntr_capture_arrivals_put(&s->arrivals, message, *base + end);
}

static bool ntr_capture_system_get(const struct ntr_capture_system *s, size_t index, ntr_system_component *component) {
    return ntr_system_component_get(s->system, index, component) == NTR_OK;
}

/* A bridge or a TMC that passes the trace on is no sink. */
static bool is_sink(const struct ntr_capture_system *s, size_t index, ntr_component kind) {
    const char *to;
    unsigned input;
    const bool may_be = kind == NTR_COMPONENT_RAM || kind == NTR_COMPONENT_PIB || kind == NTR_COMPONENT_ATB ||
                        kind == NTR_COMPONENT_TMC;
    return may_be && ntr_system_link_get(s->system, index, 0, &to, &input) == NTR_END;
}

/* A sink of the system that is part of the stream. */
static bool ntr_capture_system_wants(const struct ntr_capture_system *s, size_t index,
                                     const ntr_system_component *component) {
    return is_sink(s, index, component->kind) && (!s->sink || strcmp(s->sink, component->name) == 0);
}

/* The sink has wrapped: of each encoder that leads to it, the newest messages are there. `cut`: the content begins
 * inside a message. */
static bool skip_lost(struct ntr_capture_system *s, size_t sink, const struct ram_content *content, bool cut) {
    uint64_t *counts = ntr_alloc(s->allocator, NTR_ARRIVALS_SOURCES, sizeof *counts);
    ntr_system_component encoder;
    uint16_t src;

    if (!counts) return false;
    each_message(s, content, cut, count_message, counts);
    for (unsigned hart = 0; hart < SYSTEM_HARTS; hart++) {
        if (!ntr_capture_system_source(s, hart, &src) || !ntr_capture_system_get(s, s->encoder_of[hart] - 1, &encoder))
            continue;
        if (!ntr_system_leads(s->system, s->encoder_of[hart] - 1, sink) || encoder.encoder.messages < counts[src])
            continue;
        ntr_capture_arrivals_skip(&s->arrivals, src, encoder.encoder.messages - counts[src], s->stream->offset);
    }
    ntr_dealloc(s->allocator, counts);
    return true;
}

/* What stands for the messages of the sink in the stream, which ends where they will be written: put_whole leaves out
 * what is in front of the first whole message. */
static ntr_status note_arrivals(struct ntr_capture_system *s, size_t sink, const struct ram_content *content,
                                bool wrapped, bool cut) {
    uint64_t base = s->stream->offset;
    size_t front = 0;

    if (wrapped && !skip_lost(s, sink, content, cut)) return NTR_E_MEMORY;
    if (cut)
        while (front < content->size && !ntr_ends_message(content->bytes[front++])) continue;
    base -= front;
    each_message(s, content, cut, put_arrival, &base);
    return NTR_OK;
}

static uint32_t field(const struct ntr_capture_system *s, const ntr_system_component *component, uint32_t offset,
                      uint32_t mask, unsigned shift) {
    uint32_t word;

    ntr_system_read32(s->system, component->base + offset, &word);
    return (word & mask) >> shift;
}
#define FIELD(s, component, id) field(s, component, NTR_##id##_OFFSET, NTR_##id##_MASK, NTR_##id##_SHIFT)

/* Write whole messages only, so that the content of another sink can follow. `cut`: the first message has lost its
 * beginning. */
static void put_whole(struct ntr_capture_system *s, const struct ram_content *content, bool cut) {
    size_t from = 0, to = content->size;

    if (cut)
        while (from < to && !ntr_ends_message(content->bytes[from++])) continue;
    while (to > from && !ntr_ends_message(content->bytes[to - 1])) to--;
    while (from < to) {
        size_t part = to - from < 65536 ? to - from : 65536;
        ntr_bundle_writer_put(s->stream, content->bytes + from, part);
        from += part;
    }
}

static ntr_status read_sink(struct ntr_capture_system *s, size_t index, const ntr_system_component *sink) {
    struct ram_content content = {.allocator = s->allocator};
    bool cut, failed = false;
    ntr_status status = ntr_system_read_ram(s->system, index, collect, &content, &cut);
    bool wrapped = cut;

    if (sink->kind == NTR_COMPONENT_TMC) { /* its content is whole messages, also when it has wrapped */
        wrapped = FIELD(s, sink, TMC_FULL);
        failed = FIELD(s, sink, TMC_MEM_ERR);
    }
    if (status == NTR_OK) status = note_arrivals(s, index, &content, wrapped, cut);
    if (status == NTR_OK) {
        put_whole(s, &content, cut);
        s->wrapped |= wrapped;
        if (wrapped)
            ntr_capture_system_add_loss(s, "%s: wrapped; it holds the last %zu bytes", sink->name, content.size);
        if (failed) ntr_capture_system_add_loss(s, "%s: a write to memory failed (tmcMemErr)", sink->name);
    }
    ntr_dealloc(content.allocator, content.bytes);
    return status == NTR_OK ? NTR_OK
                            : ntr_capture_fail(s->reason, status, "%s: %s", sink->name, ntr_status_text(status));
}

static void list_losses(struct ntr_capture_system *s) {
    ntr_system_component one;

    if (s->untraced)
        ntr_capture_system_add_loss(
            s, "the program had more threads than the system has encoders; the others were not traced");
    for (size_t i = 0; ntr_capture_system_get(s, i, &one); i++) {
        if (one.encoder.overflows)
            ntr_capture_system_add_loss(
                s, "%s: overflowed %" PRIu64 " times; %" PRIu64 " halfwords of code are counted by no message",
                one.name, one.encoder.overflows, one.encoder.lost_halfwords);
        else if (one.counts.lost_bytes)
            ntr_capture_system_add_loss(s, "%s: discarded %" PRIu64 " bytes", one.name, one.counts.lost_bytes);
        if (one.kind == NTR_COMPONENT_ENCODER && one.encoder.misplaced_returns)
            ntr_capture_system_add_loss(
                s,
                "%s: %" PRIu64 " returns did not go behind their calls (signal handlers, longjmp, "
                "exceptions), which trTeInstImplicitReturnMode=1 takes for granted; the trace is "
                "wrong after each of them, up to the next synchronizing message",
                one.name, one.encoder.misplaced_returns);
    }
}

ntr_status ntr_capture_system_finish(struct ntr_capture_system *s) {
    ntr_system_component one;

    /* Behind a sink that stopped because it was full, other components do not become empty: what they hold is lost. */
    if (ntr_system_stop(s->system) != NTR_OK) ntr_capture_system_add_loss(s, "%s", ntr_system_error(s->system));
    for (size_t i = 0; ntr_capture_system_get(s, i, &one); i++) {
        if (one.kind != NTR_COMPONENT_RAM && one.kind != NTR_COMPONENT_TMC) continue;
        if (!ntr_capture_system_wants(s, i, &one)) continue;
        ntr_status status = read_sink(s, i, &one);
        if (status != NTR_OK) return status;
    }
    ntr_capture_arrivals_finish(&s->arrivals, s->stream->offset);
    list_losses(s);
    return NTR_OK;
}

/* ---- losses */

void ntr_capture_system_add_loss(struct ntr_capture_system *s, const char *format, ...) {
    va_list arguments;

    if (s->loss_count == LOSSES) return;
    va_start(arguments, format);
    vsnprintf(s->losses[s->loss_count++], LOSS_TEXT, format, arguments);
    va_end(arguments);
}

bool ntr_capture_system_wrapped(const struct ntr_capture_system *system) {
    return system->wrapped;
}

const char *ntr_capture_system_loss(const struct ntr_capture_system *system, size_t index) {
    return index < system->loss_count ? system->losses[index] : NULL;
}

/* ---- components */

/* How many of the wanted sinks receive the trace of this encoder. */
static unsigned sinks_of(const struct ntr_capture_system *s, size_t encoder) {
    ntr_system_component one;
    unsigned count = 0;

    for (size_t i = 0; ntr_capture_system_get(s, i, &one); i++)
        count += ntr_capture_system_wants(s, i, &one) && ntr_system_leads(s->system, encoder, i);
    return count;
}

/* ---- all encoders write one stream: they must agree on its parameters */

static bool shares_source(const struct ntr_capture_system *s, const ntr_system_component *encoder,
                          const ntr_params *params) {
    ntr_system_component other;

    for (unsigned hart = 0; hart < SYSTEM_HARTS; hart++) {
        if (!s->encoder_of[hart] || !ntr_capture_system_get(s, s->encoder_of[hart] - 1, &other)) continue;
        if (!params->src_bits || FIELD(s, &other, TE_SRC_ID) == FIELD(s, encoder, TE_SRC_ID)) return true;
    }
    return false;
}

static ntr_status add_encoder(struct ntr_capture_system *s, size_t index, const ntr_system_component *encoder,
                              unsigned xlen, ntr_encoder_config *config, bool *first) {
    unsigned sinks = sinks_of(s, index);
    ntr_params params;

    if (!sinks) return NTR_OK;
    if (sinks > 1)
        return ntr_capture_fail(s->reason, NTR_E_INVALID,
                                "%s: its trace goes to %u sinks; choose one of them with --sink", encoder->name, sinks);
    ntr_system_params(s->system, (unsigned)encoder->hart, &params);
    if (params.xlen != xlen)
        return ntr_capture_fail(s->reason, NTR_E_INVALID, "%s: expected \"xlen\": %u as in the program, found %u",
                                encoder->name, xlen, params.xlen);
    if (!*first && ntr_params_difference(&params, &config->params))
        return ntr_capture_fail(
            s->reason, NTR_E_INVALID,
            "%s: it is configured otherwise than the encoder before it; a stream has one set of parameters",
            encoder->name);
    if (shares_source(s, encoder, &params))
        return ntr_capture_fail(s->reason, NTR_E_INVALID,
                                "%s: its source ID is that of another encoder (trTeSrcID, trTeSrcBits)", encoder->name);
    if (*first) config->mode = (uint8_t)FIELD(s, encoder, TE_INST_MODE);
    const bool sends = FIELD(s, encoder, TE_CONTEXT);
    if (*first || !sends) config->ownership = sends ? NTR_OWNERSHIP_SCONTEXT : NTR_OWNERSHIP_OFF;
    config->params = params;
    *first = false;
    s->encoder_of[encoder->hart] = index + 1;
    return NTR_OK;
}

static ntr_status add_encoders(struct ntr_capture_system *s, unsigned xlen, ntr_encoder_config *config) {
    ntr_system_component one;
    bool first = true;
    ntr_status status = NTR_OK;

    for (size_t i = 0; status == NTR_OK && ntr_capture_system_get(s, i, &one); i++)
        if (one.kind == NTR_COMPONENT_ENCODER) status = add_encoder(s, i, &one, xlen, config, &first);
    if (status != NTR_OK || !first) return status;
    return s->sink
               ? ntr_capture_fail(s->reason, NTR_E_INVALID,
                                  "--sink: expected the name of a sink that an encoder leads to, found '%s'", s->sink)
               : ntr_capture_fail(s->reason, NTR_E_INVALID, "the topology has no encoder that leads to a sink");
}

/* ---- life */

static bool write_memory(void *user, uint64_t address, const uint8_t *bytes, size_t size) {
    return ntr_capture_memory_write(&((struct ntr_capture_system *)user)->memory, address, bytes, size);
}

static bool read_memory(void *user, uint64_t address, uint8_t *out, size_t size) {
    ntr_capture_memory_read(&((struct ntr_capture_system *)user)->memory, address, out, size);
    return true;
}

/* From a PIB sink or an ATB bridge. */
static void put_message(void *user, unsigned index, const uint8_t *bytes, size_t size) {
    struct ntr_capture_system *s = user;
    ntr_system_component component;

    if (!ntr_capture_system_get(s, index, &component) || !ntr_capture_system_wants(s, index, &component)) return;
    ntr_bundle_writer_put(s->stream, bytes, size);
    ntr_capture_arrivals_put(&s->arrivals, (ntr_bytes){bytes, size}, s->stream->offset);
}

static bool sends_contexts(const ntr_capture_config *capture) {
    ntr_capture_machine_config machine;

    return ntr_config_load(&machine, sizeof machine, capture->machine) == NTR_OK && !machine.no_ownership;
}

/* Returns the name of an ETR that is to be read and has no memory, or NULL. */
static const char *without_buffer(const struct ntr_capture_system *s) {
    ntr_system_component one;

    for (size_t i = 0; ntr_capture_system_get(s, i, &one); i++) {
        if (one.kind != NTR_COMPONENT_TMC || !ntr_capture_system_wants(s, i, &one)) continue;
        const option_values *o = &s->system->components[i]->options;
        if (OPTION(o, TMC_TYPE) == TMC_ETR && OPTION(o, TMC_START) == OPTION_NONE) return one.name;
    }
    return NULL;
}

static ntr_status build(struct ntr_capture_system *s, const ntr_capture_config *capture) {
    const char *name = capture->topology_name ? capture->topology_name : "topology";
    char why[256] = "";
    ntr_status status;
    ntr_system_config config = {.size = sizeof config,
                                .topology = capture->topology,
                                .memory_read = read_memory,
                                .memory_write = write_memory,
                                .outputs = {.message = put_message},
                                .user = s,
                                .error = why,
                                .error_size = sizeof why};

    status = ntr_system_new(&config, &s->system);
    if (!s->system) return ntr_capture_fail(s->reason, status, "%s: %s", name, *why ? why : ntr_status_text(status));
    const char *etr = without_buffer(s);
    if (etr)
        return ntr_capture_fail(s->reason, NTR_E_INVALID,
                                "%s: %s stores trace in system memory: give it \"smem_start\" and \"smem_size\"", name,
                                etr);
    if (capture->machine) status = ntr_system_prefer(s->system, NTR_BITS_TE_CONTEXT, sends_contexts(capture));
    if (status == NTR_OK) status = ntr_system_start(s->system);
    const char *error = ntr_system_error(s->system);
    return status == NTR_OK
               ? status
               : ntr_capture_fail(s->reason, status, "%s: %s", name, *error ? error : ntr_status_text(status));
}

ntr_status ntr_capture_system_new(struct ntr_capture_system **system, const ntr_capture_config *capture, unsigned xlen,
                                  struct ntr_bundle_writer *stream, ntr_encoder_config *config,
                                  struct ntr_capture_reason *reason) {
    struct ntr_capture_system *s = ntr_alloc(capture->allocator, 1, sizeof *s);

    if (!s) return ntr_capture_fail_memory(reason);
    s->allocator = s->memory.allocator = s->arrivals.allocator = capture->allocator;
    s->reason = reason;
    s->stream = stream;
    s->sink = capture->sink;
    ntr_status status = build(s, capture);
    if (status == NTR_OK) status = add_encoders(s, xlen, config);
    s->arrivals.src_bits = config->params.src_bits;
    if (status == NTR_OK)
        *system = s;
    else
        ntr_capture_system_free(s);
    return status;
}

ntr_status ntr_capture_system_adopt(struct ntr_capture_system **system, ntr_system *existing,
                                    const ntr_allocator *allocator, struct ntr_capture_reason *reason) {
    struct ntr_capture_system *s = ntr_alloc(allocator, 1, sizeof *s);
    ntr_system_component one;

    if (!s) return ntr_capture_fail_memory(reason);
    s->allocator = s->memory.allocator = allocator;
    s->reason = reason;
    s->system = existing;
    s->adopted = true;
    for (size_t i = 0; ntr_capture_system_get(s, i, &one); i++)
        if (one.kind == NTR_COMPONENT_ENCODER && one.hart >= 0 && one.hart < SYSTEM_HARTS)
            s->encoder_of[one.hart] = i + 1;
    *system = s;
    return NTR_OK;
}

void ntr_capture_system_free(struct ntr_capture_system *s) {
    if (!s) return;
    if (!s->adopted) ntr_system_free(s->system);
    ntr_capture_memory_release(&s->memory);
    ntr_capture_arrivals_release(&s->arrivals);
    ntr_dealloc(s->allocator, s);
}

/* ---- harts and time */

/* While a hart is stalled, time passes. */
static ntr_status push(void *user, const ntr_ingress *block) {
    const struct port *port = user;
    struct ntr_capture_system *s = port->system;
    ntr_status status;
    unsigned waited = 0;
    const unsigned most = s->adopted ? STALL_ADOPTED : STALL_MAX;

    if (s->failed) return NTR_E_STATE;
    while ((status = ntr_system_push(s->system, port->hart, block)) == NTR_NEED_MORE && waited++ < most)
        ntr_capture_system_step(s, 1);
    s->failed = status != NTR_OK && !s->adopted;
    if (s->adopted && status < 0) ntr_capture_fail(s->reason, status, "%s", ntr_system_error(s->system));
    if (s->adopted) return NTR_OK;
    if (status == NTR_NEED_MORE)
        return ntr_capture_fail(s->reason, NTR_E_STATE, "hart %u stays stalled: nothing takes its trace", port->hart);
    return s->failed ? ntr_capture_fail(s->reason, status, "%s", ntr_system_error(s->system)) : NTR_OK;
}

void ntr_capture_system_attach(struct ntr_capture_system *s, unsigned hart, ntr_classifier_config *classifier) {
    ntr_system_component encoder;

    if (!s->encoder_of[hart]) s->untraced = true;
    s->ports[hart] = (struct port){s, hart};
    classifier->sink = push;
    classifier->sink_user = &s->ports[hart];
    if (s->encoder_of[hart] && ntr_capture_system_get(s, s->encoder_of[hart] - 1, &encoder))
        classifier->itype_width = (uint8_t)encoder.itype_width;
}

ntr_status ntr_capture_system_leave(struct ntr_capture_system *s, unsigned hart, uint64_t next) {
    return ntr_system_leave(s->system, hart, next);
}

uint64_t ntr_capture_system_now(const struct ntr_capture_system *s) {
    return s->now;
}

ntr_status ntr_capture_system_step(struct ntr_capture_system *s, uint64_t cycles) {
    s->now += cycles;
    return ntr_system_step(s->system, cycles);
}

const char *ntr_capture_system_tick(const struct ntr_capture_system *s) {
    static const char *const ticks[] = {"cycle", "4 cycles", "16 cycles", "64 cycles"};
    enum { EXTERNAL = 1 };
    ntr_system_component encoder;

    for (unsigned hart = 0; hart < SYSTEM_HARTS; hart++) {
        if (!s->encoder_of[hart] || !ntr_capture_system_get(s, s->encoder_of[hart] - 1, &encoder)) continue;
        if (!FIELD(s, &encoder, TS_ENABLE)) return NULL;
        return FIELD(s, &encoder, TS_MODE) == EXTERNAL ? ticks[0] : ticks[FIELD(s, &encoder, TS_PRESCALE)];
    }
    return NULL;
}

bool ntr_capture_system_source(const struct ntr_capture_system *s, unsigned hart, uint16_t *src) {
    ntr_system_component encoder;

    if (hart >= SYSTEM_HARTS || !s->encoder_of[hart] || !ntr_capture_system_get(s, s->encoder_of[hart] - 1, &encoder))
        return false;
    *src = FIELD(s, &encoder, TE_SRC_BITS) ? (uint16_t)FIELD(s, &encoder, TE_SRC_ID) : 0;
    return true;
}

uint64_t ntr_capture_system_mark(struct ntr_capture_system *s, unsigned hart) {
    ntr_system_component encoder;
    uint16_t src;

    if (s->adopted || !ntr_capture_system_source(s, hart, &src) ||
        !ntr_capture_system_get(s, s->encoder_of[hart] - 1, &encoder))
        return 0;
    return ntr_capture_arrivals_mark(&s->arrivals, src, encoder.encoder.messages);
}

static bool is_alone(const struct ntr_capture_system *s, unsigned hart) {
    for (unsigned other = 0; other < SYSTEM_HARTS; other++)
        if (other != hart && s->encoder_of[other]) return false;
    return true;
}

/* Marks of other harts come first: later marks are never in front of them (ntr_capture_arrivals_finish). */
uint64_t ntr_capture_system_barrier(struct ntr_capture_system *s, unsigned hart) {
    if (s->adopted || is_alone(s, hart)) return ntr_capture_system_mark(s, hart);
    for (unsigned waited = 0; !s->clogged && !ntr_system_drained(s->system); waited++) {
        s->clogged = waited == STALL_MAX;
        ntr_capture_system_step(s, 1);
    }
    for (unsigned other = 0; other < SYSTEM_HARTS; other++)
        if (other != hart) ntr_capture_system_mark(s, other);
    return ntr_capture_system_mark(s, hart);
}

void ntr_capture_system_resolve(void *user, uint64_t *position) {
    ntr_capture_arrivals_resolve(&((struct ntr_capture_system *)user)->arrivals, position);
}
