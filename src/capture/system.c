#include "capture/system.h"
#include "io/input.h"
#include "options/diagnostics.h"
#include "capture/sink_memory.h"

#include <ntrace/system.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOPOLOGY_MAX = 1 << 20, HARTS = 4096, LOSSES = 256, PATIENCE = 1 << 20 }; /* cycles that a hart may be stalled */

/* Where a classifier's blocks go. */
struct entrance {
    struct run_system *system;
    unsigned hart;
};

struct run_system {
    ntr_system *system;
    struct run_memory memory;
    struct run_stream *stream;
    const char *sink;
    uint64_t now;
    struct entrance entrances[HARTS];
    size_t encoder_of[HARTS]; /* index of the component, one more; 0: the hart's trace is not in the stream */
    bool untraced;            /* a hart without such an encoder ran */
    char *losses[LOSSES + 1];
    size_t loss_count;
    char error[256];
};

const struct cli_option run_system_rows[] = {
    CLI_STRING(0, "system", "FILE", struct run_system_options, topology,
               "trace through the system that this topology (JSON) describes"),
    CLI_STRING(0, "sink", "NAME", struct run_system_options, sink, "keep what this sink holds (default: all of them)"),
    {0},
};

/* ---- losses ------------------------------------------------------------------------------------------ */

static void __attribute__((format(printf, 2, 3))) lose(struct run_system *s, const char *format, ...) {
    va_list arguments;
    char line[256];

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (s->loss_count < LOSSES && (s->losses[s->loss_count] = strdup(line))) s->loss_count++;
}

const char *run_system_loss(const struct run_system *system, size_t index) {
    return index < system->loss_count ? system->losses[index] : NULL;
}

/* ---- components ------------------------------------------------------------------------------------------ */

static bool get(const struct run_system *s, size_t index, ntr_system_component *component) {
    return ntr_system_component_get(s->system, index, component) == NTR_OK;
}

static bool is_sink(const ntr_system_component *component) {
    return component->kind == NTR_COMPONENT_RAM || component->kind == NTR_COMPONENT_PIB ||
           component->kind == NTR_COMPONENT_ATB;
}

static bool is_wanted(const struct run_system *s, const ntr_system_component *component) {
    return is_sink(component) && (!s->sink || strcmp(s->sink, component->name) == 0);
}

/* How many of the wanted sinks trace of the encoder gets to. */
static unsigned sinks_of(const struct run_system *s, size_t encoder) {
    ntr_system_component one;
    unsigned count = 0;

    for (size_t i = 0; get(s, i, &one); i++) count += is_wanted(s, &one) && ntr_system_leads(s->system, encoder, i);
    return count;
}

static uint32_t field(const struct run_system *s, const ntr_system_component *encoder, uint32_t offset, uint32_t mask,
                      unsigned shift) {
    uint32_t word;

    ntr_system_read32(s->system, encoder->base + offset, &word);
    return (word & mask) >> shift;
}
#define FIELD(s, component, id) field(s, component, NTR_##id##_OFFSET, NTR_##id##_MASK, NTR_##id##_SHIFT)

/* ---- one stream of all harts ---------------------------------------------------------------------------------------
 */

static bool shares_source(const struct run_system *s, const ntr_system_component *encoder, const ntr_params *params) {
    ntr_system_component other;

    for (unsigned hart = 0; hart < HARTS; hart++) {
        if (!s->encoder_of[hart] || !get(s, s->encoder_of[hart] - 1, &other)) continue;
        if (!params->src_bits || FIELD(s, &other, TE_SRC_ID) == FIELD(s, encoder, TE_SRC_ID)) return true;
    }
    return false;
}

static int add_encoder(struct run_system *s, size_t index, const ntr_system_component *encoder, unsigned xlen,
                       ntr_encoder_config *config, bool *first) {
    unsigned sinks = sinks_of(s, index);
    ntr_params params;

    if (!sinks) return CLI_OK;
    if (sinks > 1)
        return cli_fail("%s: its trace goes to %u sinks; choose one of them with --sink", encoder->name, sinks);
    ntr_system_params(s->system, (unsigned)encoder->hart, &params);
    if (params.xlen != xlen)
        return cli_fail("%s: expected \"xlen\": %u as in the program, found %u", encoder->name, xlen, params.xlen);
    if (!*first && ntr_params_difference(&params, &config->params))
        return cli_fail("%s: it is configured otherwise than the encoder before it; a stream has one set of parameters",
                        encoder->name);
    if (shares_source(s, encoder, &params))
        return cli_fail("%s: its source ID is that of another encoder (trTeSrcID, trTeSrcBits)", encoder->name);
    if (*first) config->mode = (uint8_t)FIELD(s, encoder, TE_INST_MODE);
    config->params = params;
    *first = false;
    s->encoder_of[encoder->hart] = index + 1;
    return CLI_OK;
}

static int add_encoders(struct run_system *s, unsigned xlen, ntr_encoder_config *config) {
    ntr_system_component one;
    bool first = true;
    int status = CLI_OK;

    for (size_t i = 0; status == CLI_OK && get(s, i, &one); i++)
        if (one.kind == NTR_COMPONENT_ENCODER) status = add_encoder(s, i, &one, xlen, config, &first);
    if (status != CLI_OK || !first) return status;
    return s->sink ? cli_fail("--sink: expected the name of a sink that an encoder leads to, found '%s'", s->sink)
                   : cli_fail("the topology has no encoder that leads to a sink");
}

/* ---- life ------------------------------------------------------------------------------------------ */

static bool write_memory(void *user, uint64_t address, const uint8_t *bytes, size_t size) {
    return run_memory_write(&((struct run_system *)user)->memory, address, bytes, size);
}

static bool read_memory(void *user, uint64_t address, uint8_t *out, size_t size) {
    run_memory_read(&((struct run_system *)user)->memory, address, out, size);
    return true;
}

/* From a PIB sink or an ATB bridge. */
static void take_message(void *user, unsigned index, const uint8_t *bytes, size_t size) {
    struct run_system *s = user;
    ntr_system_component component;

    if (get(s, index, &component) && is_wanted(s, &component)) run_stream_put(s->stream, bytes, size);
}

static int build(struct run_system *s, const char *path) {
    char why[256] = "";
    ntr_status status;
    ntr_system_config config = {.size = sizeof config,
                                .memory_read = read_memory,
                                .memory_write = write_memory,
                                .outputs = {.message = take_message},
                                .user = s,
                                .error = why,
                                .error_size = sizeof why};
    size_t size;
    char *text = cli_input_whole(path, TOPOLOGY_MAX, &size);

    if (!text) return CLI_FAILED;
    config.topology = (ntr_bytes){(const uint8_t *)text, size};
    s->system = ntr_system_new(&config, &status);
    free(text);
    if (!s->system) return cli_fail("%s: %s", path, *why ? why : ntr_status_text(status));
    return ntr_system_start(s->system) == NTR_OK ? CLI_OK : cli_fail("%s: %s", path, ntr_system_error(s->system));
}

struct run_system *run_system_new(const struct run_system_options *options, unsigned xlen, struct run_stream *stream,
                                  ntr_encoder_config *config) {
    struct run_system *s = calloc(1, sizeof *s);

    if (!s) {
        cli_fail("out of memory");
        return NULL;
    }
    s->stream = stream;
    s->sink = options->sink;
    if (build(s, options->topology) == CLI_OK && add_encoders(s, xlen, config) == CLI_OK) return s;
    run_system_free(s);
    return NULL;
}

void run_system_free(struct run_system *s) {
    if (!s) return;
    ntr_system_free(s->system);
    run_memory_release(&s->memory);
    for (size_t i = 0; i < s->loss_count; i++) free(s->losses[i]);
    free(s);
}

/* ---- harts and time ------------------------------------------------------------------------------------------ */

/* A hart that has to wait makes time go by. */
static ntr_status push(void *user, const ntr_ingress *block) {
    const struct entrance *entrance = user;
    struct run_system *s = entrance->system;
    ntr_status status;
    unsigned waited = 0;

    if (*s->error) return NTR_E_STATE;
    while ((status = ntr_system_push(s->system, entrance->hart, block)) == NTR_NEED_MORE && waited++ < PATIENCE)
        run_system_step(s, 1);
    if (status == NTR_NEED_MORE)
        snprintf(s->error, sizeof s->error, "hart %u is stalled for good: nothing takes its trace", entrance->hart);
    else if (status != NTR_OK)
        snprintf(s->error, sizeof s->error, "%s", ntr_system_error(s->system));
    return status == NTR_NEED_MORE ? NTR_E_STATE : status;
}

void run_system_attach(struct run_system *s, unsigned hart, ntr_classifier_config *classifier) {
    ntr_system_component encoder;

    if (!s->encoder_of[hart]) s->untraced = true;
    s->entrances[hart] = (struct entrance){s, hart};
    classifier->sink = push;
    classifier->sink_user = &s->entrances[hart];
    if (s->encoder_of[hart] && get(s, s->encoder_of[hart] - 1, &encoder))
        classifier->itype_width = (uint8_t)encoder.itype_width;
}

ntr_status run_system_leave(struct run_system *s, unsigned hart, uint64_t next) {
    return ntr_system_leave(s->system, hart, next);
}

uint64_t run_system_now(const struct run_system *s) {
    return s->now;
}

ntr_status run_system_step(struct run_system *s, uint64_t cycles) {
    s->now += cycles;
    return ntr_system_step(s->system, cycles);
}

const char *run_system_tick(const struct run_system *s) {
    static const char *const ticks[] = {"cycle", "4 cycles", "16 cycles", "64 cycles"};
    enum { EXTERNAL = 1 };
    ntr_system_component encoder;

    for (unsigned hart = 0; hart < HARTS; hart++) {
        if (!s->encoder_of[hart] || !get(s, s->encoder_of[hart] - 1, &encoder)) continue;
        if (!FIELD(s, &encoder, TS_ENABLE)) return NULL;
        return FIELD(s, &encoder, TS_MODE) == EXTERNAL ? ticks[0] : ticks[FIELD(s, &encoder, TS_PRESCALE)];
    }
    return NULL;
}

bool run_system_source(const struct run_system *s, unsigned hart, uint16_t *src) {
    ntr_system_component encoder;

    if (hart >= HARTS || !s->encoder_of[hart] || !get(s, s->encoder_of[hart] - 1, &encoder)) return false;
    *src = FIELD(s, &encoder, TE_SRC_BITS) ? (uint16_t)FIELD(s, &encoder, TE_SRC_ID) : 0;
    return true;
}

const char *run_system_error(const struct run_system *s) {
    return s->error;
}

/* ---- the end ------------------------------------------------------------------------------------------ */

struct content {
    uint8_t *bytes;
    size_t size, capacity;
};

static ntr_status collect(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    struct content *content = user;

    (void)id;
    if (size > content->capacity - content->size) {
        size_t larger = 2 * (content->size + size);
        uint8_t *moved = realloc(content->bytes, larger);
        if (!moved) return NTR_E_MEMORY;
        content->bytes = moved;
        content->capacity = larger;
    }
    memcpy(content->bytes + content->size, bytes, size);
    content->size += size;
    return NTR_OK;
}

static bool ends_message(uint8_t byte) {
    return (byte & 3) == 3;
}

/* Whole messages only, so that what another sink holds may follow. */
static void put_whole(struct run_system *s, const struct content *content, bool cut) {
    size_t from = 0, to = content->size;

    if (cut)
        while (from < to && !ends_message(content->bytes[from++])) continue;
    while (to > from && !ends_message(content->bytes[to - 1])) to--;
    while (from < to) {
        size_t part = to - from < 65536 ? to - from : 65536;
        run_stream_put(s->stream, content->bytes + from, part);
        from += part;
    }
}

static int read_ram(struct run_system *s, size_t index, const char *name) {
    struct content content = {0};
    bool cut;
    ntr_status status = ntr_system_read_ram(s->system, index, collect, &content, &cut);

    if (status == NTR_OK) {
        put_whole(s, &content, cut);
        if (cut) lose(s, "%s: wrapped; it holds the last %zu bytes", name, content.size);
    }
    free(content.bytes);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", name, ntr_status_text(status));
}

static void tell_losses(struct run_system *s) {
    ntr_system_component one;

    if (s->untraced) lose(s, "the program had more threads than the system has encoders; the others were not traced");
    for (size_t i = 0; get(s, i, &one); i++) {
        if (one.encoder.overflows)
            lose(s, "%s: overflowed %" PRIu64 " times; %" PRIu64 " halfwords of code are counted by no message",
                 one.name, one.encoder.overflows, one.encoder.lost_halfwords);
        else if (one.counts.lost_bytes)
            lose(s, "%s: discarded %" PRIu64 " bytes", one.name, one.counts.lost_bytes);
    }
}

/* A sink that stopped when it was full keeps the others from becoming empty: what waits there is lost, no more. */
int run_system_finish(struct run_system *s) {
    ntr_system_component one;

    if (ntr_system_stop(s->system) != NTR_OK) lose(s, "%s", ntr_system_error(s->system));
    for (size_t i = 0; get(s, i, &one); i++)
        if (one.kind == NTR_COMPONENT_RAM && is_wanted(s, &one) && read_ram(s, i, one.name) != CLI_OK)
            return CLI_FAILED;
    tell_losses(s);
    return CLI_OK;
}
