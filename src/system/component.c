#include "system/component.h"

static const common_bits bits_of[NTR_COMPONENT_COUNT] = {
#define COMMON(kind, prefix)                                                                                           \
    [NTR_COMPONENT_##kind] = {NTR_BITS_##prefix##_ACTIVE,    NTR_BITS_##prefix##_ENABLE,    NTR_BITS_##prefix##_EMPTY,  \
                              NTR_BITS_##prefix##_VER_MAJOR, NTR_BITS_##prefix##_COMP_TYPE, NTR_BITS_##prefix##_VENDOR, \
                              NTR_REGISTER_##prefix##_CONTROL}
    COMMON(ENCODER, TE), COMMON(FUNNEL, FUNNEL), COMMON(RAM, RAM), COMMON(PIB, PIB), COMMON(ATB, ATB),
#undef COMMON
};

const common_bits *component_bits(ntr_component kind) {
    return &bits_of[kind];
}

/* ---- messages */

bool component_send(trace_component *component, const uint8_t *bytes, uint32_t size) {
    unsigned takers = 0;
    for (size_t i = 0; i < component->output_count; i++) {
        const output_link *out = &component->outputs[i];
        if (!out->to->ops->accepts(out->to, out->input)) continue;
        if (!out->to->ops->room(out->to, out->input, size)) return false;
        takers++;
    }
    for (size_t i = 0; takers && i < component->output_count; i++) {
        const output_link *out = &component->outputs[i];
        if (!out->to->ops->accepts(out->to, out->input)) continue;
        out->to->counts.messages++;
        out->to->counts.bytes += size;
        out->to->ops->take(out->to, out->input, bytes, size);
    }
    return takers != 0;
}

void component_lose(trace_component *component, uint32_t size) {
    component->counts.lost_messages++;
    component->counts.lost_bytes += size;
}

void component_discard_queue(trace_component *component, message_queue *queue) {
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    for (uint32_t size; (size = queue_peek(queue, bytes)) > 0; queue_pop(queue)) component_lose(component, size);
}

uint64_t component_allowance(const trace_component *component, uint64_t cycles, uint64_t *credit) {
    const uint64_t rate = OPTION(&component->options, RATE), every = OPTION(&component->options, RATE_CYCLES);
    if (!rate) return UINT64_MAX;
    uint64_t due;
    if (__builtin_mul_overflow(cycles, rate, &due) || __builtin_add_overflow(due, *credit, &due)) due = UINT64_MAX;
    *credit = due % every;
    return due / every;
}

/* ---- registers */

void component_reset(trace_component *component) {
    component->active = component->enabled = false;
    component->ops->reset(component);
    page_reset(&component->page);
    if (component->ops->after_reset) component->ops->after_reset(component);
}

/* The fields of Control that the component's life is in. */
static void refresh_control(trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    page_put(&component->page, bits->active, component->active);
    page_put(&component->page, bits->enable, component->enabled);
    page_put(&component->page, bits->empty, component->ops->empty(component));
}

uint32_t component_read(trace_component *component, uint32_t offset) {
    unsigned number = 0;
    const ntr_register reg = ntr_register_at(component->ops->kind, offset, &number);
    if (reg == NTR_REGISTER_COUNT || !page_has(&component->page, reg, number)) return 0;
    if (!component->active && reg != component_bits(component->ops->kind)->control) return 0;
    refresh_control(component);
    if (component->ops->refresh) component->ops->refresh(component, reg);
    const uint32_t word = page_read(&component->page, offset);
    if (component->ops->read) component->ops->read(component, reg);
    return word;
}

static void switch_off(trace_component *component) {
    if (component->enabled) component->ops->disable(component);
    component->enabled = false;
    component_reset(component);
}

static void write_control(trace_component *component, uint32_t word) {
    const common_bits *bits = component_bits(component->ops->kind);
    const bool enable = ntr_bits_value(ntr_bits_get(bits->enable), word);
    if (!ntr_bits_value(ntr_bits_get(bits->active), word)) {
        switch_off(component);
        return;
    }
    component->active = true;
    refresh_control(component);
    if (component->ops->refresh) component->ops->refresh(component, bits->control);
    page_write(&component->page, bits->control, 0, word);
    if (enable && !component->enabled) {
        component->ops->enable(component);
    } else if (!enable && component->enabled) {
        component->ops->disable(component);
        component->enabled = false;
    }
    if (component->ops->wrote) component->ops->wrote(component, bits->control, 0, word);
}

void component_write(trace_component *component, uint32_t offset, uint32_t word) {
    unsigned number = 0;
    const ntr_register reg = ntr_register_at(component->ops->kind, offset, &number);
    if (reg == component_bits(component->ops->kind)->control) {
        write_control(component, word);
    } else if (component->active && reg != NTR_REGISTER_COUNT && page_has(&component->page, reg, number)) {
        if (component->ops->may_write && !component->ops->may_write(component, reg)) return;
        if (component->ops->refresh) component->ops->refresh(component, reg);
        page_write(&component->page, reg, number, word);
        if (component->ops->wrote) component->ops->wrote(component, reg, number, word);
    }
}
