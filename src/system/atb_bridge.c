/* ATB bridge: sends the trace as ATB transfers with one trace ID (Trace Control section 9): to another component, or
 * out of the system. */
#include "system/component.h"

typedef struct atb_bridge {
    trace_component base;
    uint32_t sent; /* number of bytes of the oldest message that were sent */
} atb_bridge;

static void rules(trace_component *component) {
    page_flag(&component->page, NTR_BITS_ATB_ID, true);
}

static void reset(trace_component *component) {
    ((atb_bridge *)component)->sent = 0;
}

/* With a reserved trace ID the bridge sends nothing. */
static bool has_id(const trace_component *component) {
    const uint32_t id = GET(&component->page, ATB_ID);
    return id != NTR_ATB_ID_NULL && id < NTR_ATB_ID_RESERVED;
}

/* One transfer with the handshake ATVALID and ATREADY. Returns false when the receiver is not ready; the same transfer
 * is offered again later. */
static bool transfer(const trace_component *component, const uint8_t *bytes, uint32_t size) {
    const ntr_system_config *config = component->config;
    const uint32_t id = GET(&component->page, ATB_ID);
    if (!config->outputs.transfer) return true;
    return config->outputs.transfer(config->user, component->index, id, bytes, size);
}

static void finish_message(atb_bridge *bridge, const uint8_t *bytes, uint32_t size) {
    const ntr_system_config *config = bridge->base.config;
    if (config->outputs.message) config->outputs.message(config->user, bridge->base.index, bytes, size);
    queue_pop(&bridge->base.inputs[0]);
    bridge->sent = 0;
}

/* Returns false when the rest of the message has to wait. */
static bool transfer_message(atb_bridge *bridge, const uint8_t *bytes, uint32_t size) {
    const uint32_t width = (uint32_t)OPTION(&bridge->base.options, ATB_WIDTH);
    while (bridge->sent < size) {
        const uint32_t left = size - bridge->sent, part = left < width ? left : width;
        if (part > bridge->base.allowed || !transfer(&bridge->base, bytes + bridge->sent, part)) return false;
        component_spend(&bridge->base, part);
        bridge->sent += part;
    }
    finish_message(bridge, bytes, size);
    return true;
}

/* With a receiver, a message is passed on as a whole. */
static void pass_on(trace_component *component) {
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    for (uint32_t size; (size = component_peek(component, 0, bytes)) > 0; queue_pop(&component->inputs[0])) {
        if (!component_send(component, (uint8_t)GET(&component->page, ATB_ID), bytes, size)) return;
        component_spend(component, size);
    }
}

static void pass(trace_component *component) {
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    uint32_t size;
    if (!has_id(component)) return;
    if (component->output_count) {
        pass_on(component);
        return;
    }
    while ((size = queue_peek(&component->inputs[0], bytes)) > 0)
        if (!transfer_message((atb_bridge *)component, bytes, size)) return;
}

const component_ops ntr_atb_component = {
    .kind = NTR_COMPONENT_ATB,
    .size = sizeof(atb_bridge),
    .rules = rules,
    .reset = reset,
    .pass = pass,
};
