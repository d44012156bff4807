/* Funnel: whole messages of several inputs, one after the other in turn (Trace Control section 7). */
#include "system/component.h"
#include "system/queue.h"
#include "system/system.h"
#include "system/timestamp.h"

enum { INPUTS_MAX = 16 };

typedef struct trace_funnel {
    trace_component base;
    timestamp_unit time;
    unsigned turn; /* input that is looked at first */
    uint64_t credit;
    uint64_t allowed; /* bytes that may leave now */
    message_queue inputs[INPUTS_MAX];
} trace_funnel;

static unsigned input_count(const trace_component *component) {
    return (unsigned)OPTION(&component->options, INPUTS);
}

static ntr_status start(trace_component *component) {
    trace_funnel *f = (trace_funnel *)component;
    const unsigned inputs = input_count(component);
    if (OPTION(&component->options, DIS_INPUT))
        page_allow(&component->page, NTR_BITS_FUNNEL_DIS_INPUTS, (1u << inputs) - 1, 0);
    timestamp_start(component);
    page_reset(&component->page);
    for (unsigned i = 0; i < inputs; i++)
        if (queue_init(&f->inputs[i], (uint32_t)OPTION(&component->options, FIFO), component->system->config.allocator))
            return NTR_E_MEMORY;
    return NTR_OK;
}

static void release(trace_component *component) {
    trace_funnel *f = (trace_funnel *)component;
    for (unsigned i = 0; i < INPUTS_MAX; i++) queue_release(&f->inputs[i], component->system->config.allocator);
}

static void reset(trace_component *component) {
    trace_funnel *f = (trace_funnel *)component;
    for (unsigned i = 0; i < input_count(component); i++) component_discard_queue(component, &f->inputs[i]);
    timestamp_reset(&f->time);
    f->turn = 0;
    f->credit = f->allowed = 0;
}

static bool empty(const trace_component *component) {
    const trace_funnel *f = (const trace_funnel *)component;
    for (unsigned i = 0; i < input_count(component); i++)
        if (!queue_empty(&f->inputs[i])) return false;
    return true;
}

/* ---- messages */

static bool is_discarding(const trace_component *component, unsigned input) {
    return component->active && (GET(&component->page, FUNNEL_DIS_INPUTS) >> input & 1);
}

static bool accepts(const trace_component *component, unsigned input) {
    return component->enabled || is_discarding(component, input);
}

static bool room(const trace_component *component, unsigned input, uint32_t size) {
    return is_discarding(component, input) || queue_room(&((const trace_funnel *)component)->inputs[input], size);
}

/* Give the next message of this input away; false when there is none, or when it has to wait. */
static bool pass_one(trace_funnel *f, unsigned input) {
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    const uint32_t size = queue_peek(&f->inputs[input], bytes);
    if (!size || size > f->allowed || !component_send(&f->base, bytes, size)) return false;
    if (f->allowed != UINT64_MAX) f->allowed -= size;
    queue_pop(&f->inputs[input]);
    return true;
}

/* One message per input in turn, so that none starves. */
static void pass(trace_funnel *f) {
    const unsigned inputs = input_count(&f->base);
    for (unsigned idle = 0; idle < inputs; f->turn = (f->turn + 1) % inputs)
        idle = pass_one(f, f->turn) ? 0 : idle + 1;
}

/* Without a rate, and when flushing, nothing waits for time to go by. */
static void pump(trace_component *component) {
    trace_funnel *f = (trace_funnel *)component;
    const uint64_t allowed = f->allowed;
    if (OPTION(&component->options, RATE) && component->enabled) return;
    f->allowed = UINT64_MAX;
    pass(f);
    f->allowed = allowed;
}

static void take(trace_component *component, unsigned input, const uint8_t *bytes, uint32_t size) {
    trace_funnel *f = (trace_funnel *)component;
    if (is_discarding(component, input)) {
        component_lose(component, size);
        return;
    }
    queue_put(&f->inputs[input], bytes, size);
    pump(component);
}

static void step(trace_component *component, uint64_t cycles) {
    trace_funnel *f = (trace_funnel *)component;
    timestamp_step(component, &f->time, cycles, 0);
    const uint64_t more = component_allowance(component, cycles, &f->credit);
    if (more == UINT64_MAX || !component->enabled) {
        pump(component);
        return;
    }
    f->allowed = empty(component) ? 0 : f->allowed + more;
    pass(f);
}

/* ---- registers */

static void enable(trace_component *component) {
    component->enabled = true;
}

static void disable(trace_component *component) {
    component->enabled = false;
    pump(component);
}

static void refresh(trace_component *component, ntr_register reg) {
    (void)reg;
    timestamp_refresh(component, &((trace_funnel *)component)->time);
}

static void wrote(trace_component *component, ntr_register reg, unsigned number, uint32_t word) {
    (void)number;
    timestamp_wrote(component, &((trace_funnel *)component)->time, reg, word);
}

const timestamp_unit *funnel_timestamp(const trace_component *component) {
    return &((const trace_funnel *)component)->time;
}

const component_ops ntr_funnel_component = {
    .kind = NTR_COMPONENT_FUNNEL,
    .size = sizeof(trace_funnel),
    .start = start,
    .release = release,
    .reset = reset,
    .enable = enable,
    .disable = disable,
    .pump = pump,
    .step = step,
    .empty = empty,
    .accepts = accepts,
    .room = room,
    .take = take,
    .refresh = refresh,
    .wrote = wrote,
};
