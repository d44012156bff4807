#include "system/component.h"

#include "base/allocator.h"

static const common_bits bits_of[NTR_COMPONENT_COUNT] = {
#define COMMON(kind, prefix)                                                                                           \
    [NTR_COMPONENT_##                                                                                                  \
        kind] = {NTR_BITS_##prefix##_ACTIVE,     NTR_BITS_##prefix##_ENABLE,    NTR_BITS_##prefix##_EMPTY,             \
                 NTR_BITS_##prefix##_VER_MAJOR,  NTR_BITS_##prefix##_COMP_TYPE, NTR_BITS_##prefix##_VENDOR,            \
                 NTR_REGISTER_##prefix##_CONTROL}
    COMMON(ENCODER, TE),
    COMMON(FUNNEL, FUNNEL),
    COMMON(RAM, RAM),
    COMMON(PIB, PIB),
    COMMON(ATB, ATB),
#undef COMMON
#define NONE                                                                                                           \
    {NTR_BITS_COUNT, NTR_BITS_COUNT, NTR_BITS_COUNT, NTR_BITS_COUNT, NTR_BITS_COUNT, NTR_BITS_COUNT, NTR_REGISTER_COUNT}
    [NTR_COMPONENT_CSFUNNEL] = NONE,
    [NTR_COMPONENT_TMC] = NONE,
#undef NONE
};

const common_bits *component_bits(ntr_component kind) {
    return &bits_of[kind];
}

/* ---- creation and state */

ntr_status component_start(trace_component *component) {
    const component_ops *ops = component->ops;
    const uint32_t fifo = component->input_count ? (uint32_t)OPTION(&component->options, FIFO) : 0;
    component->inputs =
        ntr_alloc(component->config->allocator, component->input_count + 1u, sizeof component->inputs[0]);
    if (!component->inputs) return NTR_E_MEMORY;
    for (unsigned i = 0; i < component->input_count; i++)
        if (queue_init(&component->inputs[i], fifo, component->config->allocator)) return NTR_E_MEMORY;
    ops->rules(component);
    page_reset(&component->page);
    if (ops->after_reset) ops->after_reset(component);
    return ops->start ? ops->start(component) : NTR_OK;
}

void component_release(trace_component *component) {
    if (component->ops->release) component->ops->release(component);
    for (unsigned i = 0; component->inputs && i < component->input_count; i++)
        queue_release(&component->inputs[i], component->config->allocator);
    ntr_dealloc(component->config->allocator, component->inputs);
}

/* Restores the state after power-up. */
static void reset(trace_component *component) {
    component->active = component->enabled = false;
    component_discard(component);
    component->credit = component->allowed = 0;
    if (component->ops->reset) component->ops->reset(component);
    page_reset(&component->page);
    if (component->ops->after_reset) component->ops->after_reset(component);
}

static void enable(trace_component *component) {
    if (component->ops->enable)
        component->ops->enable(component);
    else
        component->enabled = true;
}

/* Messages that cannot be sent yet stay in the queues. */
static void disable(trace_component *component) {
    component->enabled = false;
    if (component->ops->disable) component->ops->disable(component);
    component_pump(component);
}

/* ---- messages */

static bool nothing_waits(const trace_component *component) {
    for (unsigned i = 0; i < component->input_count; i++)
        if (!queue_empty(&component->inputs[i]) && !(component->ops->accepts && !component->ops->accepts(component, i)))
            return false;
    return true;
}

bool component_empty(const trace_component *component) {
    return nothing_waits(component) && !(component->ops->busy && component->ops->busy(component));
}

static bool discards(const output_link *out) {
    return out->to->ops->discards && out->to->ops->discards(out->to, out->input);
}

static bool accepts(const output_link *out) {
    if (out->to->ops->accepts) return out->to->ops->accepts(out->to, out->input);
    return out->to->enabled || discards(out);
}

static void take(const output_link *out, uint8_t id, const uint8_t *bytes, uint32_t size) {
    out->to->counts.messages++;
    out->to->counts.bytes += size;
    if (discards(out)) {
        component_lose(out->to, size);
        return;
    }
    queue_put(&out->to->inputs[out->input], id, bytes, size);
    component_pump(out->to);
}

bool component_send(trace_component *component, uint8_t id, const uint8_t *bytes, uint32_t size) {
    unsigned takers = 0;
    for (size_t i = 0; i < component->output_count; i++) {
        const output_link *out = &component->outputs[i];
        if (!accepts(out)) continue;
        if (!discards(out) && !queue_room(&out->to->inputs[out->input], size)) return false;
        takers++;
    }
    for (size_t i = 0; takers && i < component->output_count; i++)
        if (accepts(&component->outputs[i])) take(&component->outputs[i], id, bytes, size);
    return takers != 0;
}

void component_lose(trace_component *component, uint32_t size) {
    component->counts.lost_messages++;
    component->counts.lost_bytes += size;
}

void component_discard(trace_component *component) {
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    for (unsigned i = 0; i < component->input_count; i++)
        for (uint32_t size; (size = queue_peek(&component->inputs[i], bytes)) > 0; queue_pop(&component->inputs[i]))
            component_lose(component, size);
}

/* ---- rates */

uint32_t component_peek(const trace_component *component, unsigned input, uint8_t bytes[QUEUE_MESSAGE_MAX]) {
    const uint32_t size = queue_peek(&component->inputs[input], bytes);
    return size > component->allowed ? 0 : size;
}

void component_spend(trace_component *component, uint32_t size) {
    if (component->allowed != UINT64_MAX) component->allowed -= size;
}

void component_pass_in_turn(trace_component *component, unsigned *turn) {
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    const unsigned inputs = component->input_count;
    for (unsigned idle = 0; idle < inputs; *turn = (*turn + 1) % inputs) {
        message_queue *queue = &component->inputs[*turn];
        if (queue_empty(queue) || (component->ops->accepts && !component->ops->accepts(component, *turn))) {
            idle++;
            continue;
        }
        /* If a shorter message of another input passed, an input with long messages could wait for ever. */
        const uint32_t size = component_peek(component, *turn, bytes);
        if (!size || !component_send(component, queue_id(queue), bytes, size)) return;
        component_spend(component, size);
        queue_pop(queue);
        idle = 0;
    }
}

static bool has_rate(const trace_component *component) {
    return component->enabled && OPTION(&component->options, RATE);
}

/* Passes messages without waiting for time to advance: for components without a rate, and when flushing. */
void component_pump(trace_component *component) {
    if (component->ops->pump) {
        component->ops->pump(component);
        return;
    }
    if (has_rate(component)) return;
    const uint64_t allowed = component->allowed;
    component->allowed = UINT64_MAX;
    component->ops->pass(component);
    component->allowed = allowed;
}

/* Adds the bytes of one cycle to `allowed`. An allowance is not accumulated while the queues are empty; it is
 * accumulated while it is too small for the next message. */
static void pass_at_rate(trace_component *component) {
    const uint64_t every = OPTION(&component->options, RATE_CYCLES);
    component->credit += OPTION(&component->options, RATE);
    component->allowed = nothing_waits(component) ? 0 : component->allowed + component->credit / every;
    component->credit %= every;
    component->ops->pass(component);
}

void component_step(trace_component *component) {
    if (component->ops->tick) component->ops->tick(component);
    if (!component->ops->pump && has_rate(component))
        pass_at_rate(component);
    else
        component_pump(component);
}

/* ---- registers */

/* Updates the status fields of Control. */
static void refresh_control(trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    page_put(&component->page, bits->active, component->active);
    page_put(&component->page, bits->enable, component->enabled);
    page_put(&component->page, bits->empty, component_empty(component));
}

uint32_t component_read(trace_component *component, uint32_t offset) {
    unsigned number = 0;
    const ntr_register reg = ntr_register_at(component->ops->kind, offset, &number);
    if (reg == NTR_REGISTER_COUNT || !page_has(&component->page, reg, number)) return 0;
    if (component->ops->load) return component->ops->load(component, reg);
    if (!component->active && reg != component_bits(component->ops->kind)->control) return 0;
    refresh_control(component);
    if (component->ops->refresh) component->ops->refresh(component, reg);
    const uint32_t word = page_read(&component->page, offset);
    if (component->ops->read) component->ops->read(component, reg);
    return word;
}

static void switch_off(trace_component *component) {
    if (component->enabled) disable(component);
    reset(component);
}

static void write_control(trace_component *component, uint32_t word) {
    const common_bits *bits = component_bits(component->ops->kind);
    const bool wants = ntr_bits_value(ntr_bits_get(bits->enable), word);
    if (!ntr_bits_value(ntr_bits_get(bits->active), word)) {
        switch_off(component);
        return;
    }
    component->active = true;
    refresh_control(component);
    if (component->ops->refresh) component->ops->refresh(component, bits->control);
    page_write(&component->page, bits->control, 0, word);
    if (wants && !component->enabled) enable(component);
    if (!wants && component->enabled) disable(component);
    if (component->ops->wrote) component->ops->wrote(component, bits->control, 0, word);
}

void component_write(trace_component *component, uint32_t offset, uint32_t word) {
    unsigned number = 0;
    const ntr_register reg = ntr_register_at(component->ops->kind, offset, &number);
    if (component->ops->store) {
        if (reg != NTR_REGISTER_COUNT) component->ops->store(component, reg, word);
    } else if (reg == component_bits(component->ops->kind)->control) {
        write_control(component, word);
    } else if (component->active && reg != NTR_REGISTER_COUNT && page_has(&component->page, reg, number)) {
        if (component->ops->may_write && !component->ops->may_write(component, reg)) return;
        if (component->ops->refresh) component->ops->refresh(component, reg);
        page_write(&component->page, reg, number, word);
        if (component->ops->wrote) component->ops->wrote(component, reg, number, word);
    }
}
