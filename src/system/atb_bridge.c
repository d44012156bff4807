/* ATB bridge: the trace as ATB transfers with one trace ID (Trace Control section 9). */
#include "system/component.h"
#include "system/system.h"

#include <string.h>

enum { WIDTH_MAX = 16 };

typedef struct atb_bridge {
    trace_component base;
    message_queue queue;
    uint64_t credit, allowed;
    uint8_t message[QUEUE_MESSAGE_MAX]; /* that is on its way */
    uint32_t size, at;
} atb_bridge;

static atb_bridge *self(trace_component *component) {
    return (atb_bridge *)component;
}

static ntr_status start(trace_component *component) {
    page_flag(&component->page, NTR_BITS_ATB_ID, true);
    page_reset(&component->page);
    return queue_init(&self(component)->queue, (uint32_t)OPTION(&component->options, FIFO),
                      component->system->config.allocator) ? NTR_E_MEMORY : NTR_OK;
}

static void release(trace_component *component) {
    queue_release(&self(component)->queue, component->system->config.allocator);
}

static void reset(trace_component *component) {
    atb_bridge *bridge = self(component);
    component_discard_queue(component, &bridge->queue);
    if (bridge->at < bridge->size) component_lose(component, bridge->size - bridge->at);
    bridge->at = bridge->size = 0;
    bridge->credit = bridge->allowed = 0;
}

static bool empty(const trace_component *component) {
    const atb_bridge *bridge = (const atb_bridge *)component;
    return queue_empty(&bridge->queue) && bridge->at == bridge->size;
}

/* ---- transfers */

/* ATVALID and ATREADY: a receiver that is not ready is offered the same transfer again. */
static bool transfer(atb_bridge *bridge, uint32_t size) {
    const ntr_system_config *config = &bridge->base.system->config;
    const uint32_t id = GET(&bridge->base.page, ATB_ID);
    if (!config->outputs.transfer) return true;
    return config->outputs.transfer(config->user, bridge->base.index, id, bridge->message + bridge->at, size);
}

static bool fetch(atb_bridge *bridge) {
    const ntr_system_config *config = &bridge->base.system->config;
    if (bridge->at < bridge->size) return true;
    bridge->at = 0;
    bridge->size = queue_peek(&bridge->queue, bridge->message);
    if (!bridge->size) return false;
    queue_pop(&bridge->queue);
    if (config->outputs.message)
        config->outputs.message(config->user, bridge->base.index, bridge->message, bridge->size);
    return true;
}

/* With a reserved trace ID nothing leaves. */
static bool has_id(const trace_component *component) {
    const uint32_t id = GET(&component->page, ATB_ID);
    return id != NTR_ATB_ID_NULL && id < NTR_ATB_ID_RESERVED;
}

static void transfer_all(atb_bridge *bridge) {
    const uint32_t width = (uint32_t)OPTION(&bridge->base.options, ATB_WIDTH);
    while (has_id(&bridge->base) && fetch(bridge)) {
        const uint32_t left = bridge->size - bridge->at, size = left < width ? left : width;
        if (size > bridge->allowed || !transfer(bridge, size)) return;
        if (bridge->allowed != UINT64_MAX) bridge->allowed -= size;
        bridge->at += size;
    }
}

static void pump(trace_component *component) {
    atb_bridge *bridge = self(component);
    const uint64_t allowed = bridge->allowed;
    if (OPTION(&component->options, RATE) && component->enabled) return;
    bridge->allowed = UINT64_MAX;
    transfer_all(bridge);
    bridge->allowed = allowed;
}

static void step(trace_component *component, uint64_t cycles) {
    atb_bridge *bridge = self(component);
    const uint64_t more = component_allowance(component, cycles, &bridge->credit);
    if (more != UINT64_MAX && component->enabled) {
        bridge->allowed = empty(component) ? 0 : bridge->allowed + more;
        transfer_all(bridge);
    }
    pump(component);
}

static bool accepts(const trace_component *component, unsigned input) {
    (void)input;
    return component->enabled;
}

static bool room(const trace_component *component, unsigned input, uint32_t size) {
    (void)input;
    return queue_room(&((const atb_bridge *)component)->queue, size);
}

static void take(trace_component *component, unsigned input, const uint8_t *bytes, uint32_t size) {
    (void)input;
    queue_put(&self(component)->queue, bytes, size);
    pump(component);
}

static void enable(trace_component *component) {
    component->enabled = true;
}

static void disable(trace_component *component) {
    component->enabled = false;
    pump(component);
}

const component_ops ntr_atb_component = {
    .kind = NTR_COMPONENT_ATB,
    .size = sizeof(atb_bridge),
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
};
