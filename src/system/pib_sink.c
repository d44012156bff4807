/* PIB sink: trace on pins (Trace Control section 8). */
#include "system/component.h"

#include <string.h>

enum { MODE_MANCHESTER = 4, MODE_UART = 5, MODE_PARALLEL = 8, MODES = 13 };

/* BEATS_WAITING: the beats of one message and of the idle time before it, in the worst case. */
enum { BEATS_WAITING = 2048, BEATS_OUT = 256 };

/* The transport of each trPibMode. */
static const char *const transports[MODES] = {
    [MODE_MANCHESTER] = "swt-manchester",
    [MODE_UART] = "swt-uart",
    [8] = "pib1",
    [9] = "pib2",
    [10] = "pib4",
    [11] = "pib8",
    [12] = "pib16",
};

typedef struct pib_sink {
    trace_component base;
    uint32_t mode;
    ntr_transport_writer *writer; /* converts messages to beats of `mode` */
    uint64_t cycles;              /* elapsed cycles of the current beat */
    size_t waiting_at, waiting_count;
    uint16_t waiting[BEATS_WAITING];
    size_t out_count;
    uint16_t out[BEATS_OUT];
} pib_sink;

static pib_sink *self(trace_component *component) {
    return (pib_sink *)component;
}

/* ---- creation and state */

static void rules(trace_component *component) {
    const option_values *o = &component->options;
    register_page *page = &component->page;
    const uint32_t modes = (uint32_t)OPTION(o, PIB_MODES), parallel = modes >> MODE_PARALLEL;
    page_choose(page, NTR_BITS_PIB_MODE, modes, (uint32_t)__builtin_ctz(modes));
    page_flag(page, NTR_BITS_PIB_CLK_CENTER, OPTION(o, CLK_CENTER) && parallel);
    page_flag(page, NTR_BITS_PIB_CALIBRATE, OPTION(o, CALIBRATE));
    page_allow(page, NTR_BITS_PIB_DIVIDER, (1u << OPTION(o, DIVIDER_BITS)) - 1,
               (uint32_t)OPTION(o, DIVIDER_RESET) & ((1u << OPTION(o, DIVIDER_BITS)) - 1));
}

static void release(trace_component *component) {
    ntr_transport_writer_free(self(component)->writer);
}

static void reset(trace_component *component) {
    pib_sink *sink = self(component);
    sink->waiting_at = sink->waiting_count = 0;
    sink->cycles = 0;
}

static bool busy(const trace_component *component) {
    const pib_sink *sink = (const pib_sink *)component;
    return sink->waiting_at != sink->waiting_count;
}

/* ---- beats */

static void flush_out(pib_sink *sink) {
    const ntr_system_config *config = sink->base.config;
    if (sink->out_count && config->outputs.beats)
        config->outputs.beats(config->user, sink->base.index, sink->out, sink->out_count);
    sink->out_count = 0;
}

static void give_beat(pib_sink *sink, uint16_t beat) {
    sink->out[sink->out_count++] = beat;
    if (sink->out_count == BEATS_OUT) flush_out(sink);
}

static ntr_status wait_beats(void *user, const uint16_t *beats, size_t count) {
    pib_sink *sink = user;
    if (count > BEATS_WAITING - sink->waiting_count) return NTR_E_SPACE;
    memcpy(sink->waiting + sink->waiting_count, beats, count * sizeof beats[0]);
    sink->waiting_count += count;
    return NTR_OK;
}

static ntr_status open_writer(pib_sink *sink) {
    ntr_writer_options options = {.size = sizeof options, .sink = wait_beats, .user = sink};
    ntr_status status;
    options.allocator = sink->base.config->allocator;
    ntr_transport_writer_free(sink->writer);
    status = ntr_transport_writer_new(ntr_transport_find(transports[sink->mode]), &options, &sink->writer);
    return status;
}

/* Converts the next message to beats. In 16-bit mode an incomplete beat is completed by the next message, if any. */
static void convert_message(pib_sink *sink) {
    const ntr_system_config *config = sink->base.config;
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    message_queue *queue = &sink->base.inputs[0];
    const uint32_t size = queue_peek(queue, bytes);
    queue_pop(queue);
    if (config->outputs.message) config->outputs.message(config->user, sink->base.index, bytes, size);
    ntr_transport_writer_put(sink->writer, 0, bytes, size);
    if (queue_empty(queue)) ntr_transport_writer_idle(sink->writer, 0);
}

/* Provides the next beats. Returns false when there are none: the pins are idle. */
static bool fill(pib_sink *sink) {
    if (sink->waiting_at < sink->waiting_count) return true;
    sink->waiting_at = sink->waiting_count = 0;
    if (GET(&sink->base.page, PIB_CALIBRATE) && sink->base.enabled)
        ntr_transport_writer_calibrate(sink->writer, 1);
    else if (!queue_empty(&sink->base.inputs[0]))
        convert_message(sink);
    return sink->waiting_count != 0;
}

static uint16_t idle_beat(const pib_sink *sink) {
    const ntr_transport *transport = ntr_transport_find(transports[sink->mode]);
    return (uint16_t)(transport->idle_level ? (1u << transport->beat_bits) - 1 : 0);
}

static uint64_t cycles_per_beat(const trace_component *component) {
    return (GET(&component->page, PIB_DIVIDER) + 1ull) << GET(&component->page, PIB_CLK_CENTER);
}

static void tick(trace_component *component) {
    pib_sink *sink = self(component);
    if (!component->enabled || ++sink->cycles < cycles_per_beat(component)) return;
    sink->cycles = 0;
    if (fill(sink))
        give_beat(sink, sink->waiting[sink->waiting_at++]);
    else
        give_beat(sink, idle_beat(sink));
    flush_out(sink);
}

static void pump(trace_component *component) {
    pib_sink *sink = self(component);
    if (component->enabled) return;
    while (fill(sink)) give_beat(sink, sink->waiting[sink->waiting_at++]);
    flush_out(sink);
}

/* Mode 0 drives no pins: the sink cannot be enabled. */
static void enable(trace_component *component) {
    pib_sink *sink = self(component);
    sink->mode = GET(&component->page, PIB_MODE);
    component->enabled = sink->mode && open_writer(sink) == NTR_OK;
}

/* trPibClkCenter applies to parallel modes only. The mode of an enabled or busy sink does not change. */
static void wrote(trace_component *component, ntr_register reg, unsigned number, uint32_t word) {
    pib_sink *sink = self(component);
    (void)number;
    (void)word;
    if (reg != NTR_REGISTER_PIB_CONTROL) return;
    if (component->enabled || !component_empty(component))
        PUT(&component->page, PIB_MODE, sink->mode);
    else
        sink->mode = GET(&component->page, PIB_MODE);
    if (sink->mode < MODE_PARALLEL) PUT(&component->page, PIB_CLK_CENTER, 0);
}

const component_ops ntr_pib_component = {
    .kind = NTR_COMPONENT_PIB,
    .size = sizeof(pib_sink),
    .rules = rules,
    .release = release,
    .reset = reset,
    .enable = enable,
    .pump = pump,
    .tick = tick,
    .busy = busy,
    .wrote = wrote,
};
