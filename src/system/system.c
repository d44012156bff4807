#include "system/system.h"

#include "system/timestamp.h"
#include "system/trace_encoder.h"

#include "base/allocator.h"

#include <stdio.h>
#include <string.h>

static const component_ops *const all_ops[] = {
    &ntr_encoder_component, &ntr_funnel_component,   &ntr_ram_component, &ntr_pib_component,
    &ntr_atb_component,     &ntr_csfunnel_component, &ntr_tmc_component,
};

static const component_ops *ops_of(ntr_component kind) {
    for (size_t i = 0; i < sizeof all_ops / sizeof all_ops[0]; i++)
        if (all_ops[i]->kind == kind) return all_ops[i];
    return NULL;
}

/* ---- components */

static unsigned inputs_of(ntr_component kind, const option_values *options) {
    if (kind == NTR_COMPONENT_FUNNEL) return (unsigned)OPTION(options, INPUTS);
    if (kind == NTR_COMPONENT_CSFUNNEL) return (unsigned)OPTION(options, CS_INPUTS);
    return kind != NTR_COMPONENT_ENCODER;
}

ntr_status system_add(ntr_system *system, ntr_component kind, const char *name, uint64_t base,
                      const option_values *options, trace_component **added) {
    const ntr_allocator *allocator = system->config.allocator;
    const component_ops *ops = ops_of(kind);
    trace_component *component = ntr_alloc(allocator, 1, ops->size);
    if (!component) return NTR_E_MEMORY;
    system->components[system->count] = component;
    component->ops = ops;
    component->system = system;
    component->config = &system->config;
    component->index = (unsigned)system->count++;
    component->base = base;
    component->options = *options;
    component->input_count = inputs_of(kind, options);
    page_init(&component->page, kind);
    component->name = ntr_alloc(allocator, strlen(name) + 1, 1);
    if (!component->name) return NTR_E_MEMORY;
    memcpy(component->name, name, strlen(name) + 1);
    *added = component;
    return NTR_OK;
}

ntr_status system_set(ntr_system *system, const setting *one) {
    for (size_t i = 0; i < system->setting_count; i++) {
        setting *old = &system->settings[i];
        if (old->component != one->component || old->bits != one->bits || old->number != one->number) continue;
        *old = *one;
        return NTR_OK;
    }
    if (ntr_reserve(system->config.allocator, (void **)&system->settings, &system->setting_capacity,
                    system->setting_count + 1, sizeof system->settings[0]))
        return NTR_E_MEMORY;
    system->settings[system->setting_count++] = *one;
    return NTR_OK;
}

bool system_sets(const ntr_system *system, const trace_component *component, ntr_bits bits) {
    for (size_t i = 0; i < system->setting_count; i++)
        if (system->settings[i].component == component && system->settings[i].bits == bits) return true;
    return false;
}

ntr_status ntr_system_prefer(ntr_system *system, ntr_bits bits, uint32_t value) {
    ntr_status status = NTR_OK;

    for (size_t i = 0; i < system->count && status == NTR_OK; i++) {
        const setting one = {.component = system->components[i], .bits = bits, .value = value, .optional = true};
        if (one.component->ops->kind == NTR_COMPONENT_ENCODER && !system_sets(system, one.component, bits))
            status = system_set(system, &one);
    }
    return status;
}

static void free_component(trace_component *component) {
    const ntr_allocator *allocator = component->config->allocator;
    component_release(component);
    ntr_dealloc(allocator, component->outputs);
    ntr_dealloc(allocator, component->name);
    ntr_dealloc(allocator, component);
}

void ntr_system_free(ntr_system *system) {
    if (!system) return;
    const ntr_allocator *allocator = system->config.allocator;
    for (size_t i = 0; i < system->count; i++) free_component(system->components[i]);
    ntr_dealloc(allocator, system->settings);
    ntr_dealloc(allocator, system);
}

/* ---- a part of a system */

static void keep_path(const trace_component *component, bool *kept) {
    kept[component->index] = true;
    for (size_t k = 0; k < component->output_count; k++) keep_path(component->outputs[k].to, kept);
}

/* The sources of shared time stay, too. */
static void keep_time(const ntr_system *system, bool *kept) {
    for (size_t i = 0; i < system->count; i++)
        for (const trace_component *at = kept[i] ? system->components[i]->ts_source : NULL; at; at = at->ts_source)
            kept[at->index] = true;
}

static void leave_out(const trace_component *component) {
    for (size_t k = 0; k < component->output_count; k++)
        component->outputs[k].to->left_out |= 1u << component->outputs[k].input;
}

static size_t keep(const ntr_system *system, trace_component **list, const bool *kept) {
    size_t count = 0;
    for (size_t i = 0; i < system->count; i++)
        if (kept[list[i]->index]) list[count++] = list[i];
    return count;
}

static void drop_settings(ntr_system *system, const bool *kept) {
    size_t count = 0;
    for (size_t i = 0; i < system->setting_count; i++)
        if (kept[system->settings[i].component->index]) system->settings[count++] = system->settings[i];
    system->setting_count = count;
}

static void drop_others(ntr_system *system, const bool *kept) {
    trace_component *all[COMPONENTS_MAX];
    const size_t before = system->count;
    memcpy(all, system->components, sizeof all);
    for (size_t i = 0; i < before; i++)
        if (!kept[i]) leave_out(all[i]);
    drop_settings(system, kept);
    keep(system, system->downstream, kept);
    system->count = keep(system, system->components, kept);
    for (unsigned hart = 0; hart < HARTS_MAX; hart++)
        if (system->of_hart[hart] && !kept[system->of_hart[hart]->index]) system->of_hart[hart] = NULL;
    for (size_t i = 0; i < before; i++)
        if (!kept[i]) free_component(all[i]);
    for (size_t i = 0; i < system->count; i++) system->components[i]->index = (unsigned)i;
}

ntr_status system_restrict(ntr_system *system, const unsigned *harts, size_t count, const char *sink,
                           unsigned *missing) {
    bool kept[COMPONENTS_MAX] = {false};
    trace_component *end = NULL;
    for (size_t i = 0; sink && i < system->count; i++)
        if (strcmp(system->components[i]->name, sink) == 0) end = system->components[i];
    if (sink && !end) return NTR_E_NAME;
    const bool cuts = end && end->ops->kind == NTR_COMPONENT_TMC && end->output_count;
    if (!count && !cuts) return NTR_OK;
    if (cuts) end->output_count = 0;
    for (size_t i = 0; i < count; i++) {
        *missing = harts[i];
        if (harts[i] >= HARTS_MAX || !system->of_hart[harts[i]]) return NTR_E_RANGE;
        keep_path(system->of_hart[harts[i]], kept);
    }
    for (size_t i = 0; !count && i < system->count; i++)
        if (system->components[i]->ops->kind == NTR_COMPONENT_ENCODER) keep_path(system->components[i], kept);
    keep_time(system, kept);
    drop_others(system, kept);
    return NTR_OK;
}

/* ---- time and messages */

/* Receivers first: messages that they pass on free space for their senders. */
static void pump(ntr_system *system) {
    for (size_t i = 0; i < system->count; i++) component_pump(system->downstream[i]);
}

ntr_status ntr_system_step(ntr_system *system, uint64_t cycles) {
    for (; cycles; cycles--)
        for (size_t i = 0; i < system->count; i++) component_step(system->downstream[i]);
    return NTR_OK;
}

bool ntr_system_drained(const ntr_system *system) {
    for (size_t i = 0; i < system->count; i++) {
        if (system->components[i]->output_count && !component_empty(system->components[i])) return false;
    }
    return true;
}

/* ---- registers */

static trace_component *component_at(const ntr_system *system, uint64_t address) {
    for (size_t i = 0; i < system->count; i++)
        if (system->components[i]->base == (address & ~(uint64_t)(NTR_COMPONENT_BYTES - 1)))
            return system->components[i];
    return NULL;
}

ntr_status ntr_system_read32(ntr_system *system, uint64_t address, uint32_t *value) {
    *value = 0;
    if (address % 4) return NTR_E_INVALID;
    trace_component *component = component_at(system, address);
    if (!component) return NTR_E_RANGE;
    *value = component_read(component, (uint32_t)(address % NTR_COMPONENT_BYTES));
    return NTR_OK;
}

ntr_status ntr_system_write32(ntr_system *system, uint64_t address, uint32_t value) {
    if (address % 4) return NTR_E_INVALID;
    trace_component *component = component_at(system, address);
    if (!component) return NTR_E_RANGE;
    component_write(component, (uint32_t)(address % NTR_COMPONENT_BYTES), value);
    pump(system);
    return NTR_OK;
}

/* ---- harts */

static trace_encoder *encoder_of(const ntr_system *system, unsigned hart) {
    return hart < HARTS_MAX ? (trace_encoder *)system->of_hart[hart] : NULL;
}

ntr_status ntr_system_push(ntr_system *system, unsigned hart, const ntr_ingress *block) {
    trace_encoder *encoder = encoder_of(system, hart);
    if (!encoder) return NTR_OK;
    encoder->stalled = 0;
    const ntr_status status = trace_encoder_push(encoder, block);
    ntr_system_step(system, encoder->stalled); /* time advanced for the other components while the hart was stalled */
    system->error[0] = 0;
    if (status < 0)
        snprintf(system->error, sizeof system->error, "hart %u: %s", hart, ntr_encoder_error(encoder->encoder));
    return status;
}

ntr_status ntr_system_leave(ntr_system *system, unsigned hart, uint64_t next) {
    trace_encoder *encoder = encoder_of(system, hart);
    return encoder ? trace_encoder_leave(encoder, next) : NTR_OK;
}

ntr_status ntr_system_trigger(ntr_system *system, unsigned hart, unsigned input) {
    trace_encoder *encoder = encoder_of(system, hart);
    return encoder ? trace_encoder_trigger(encoder, input) : NTR_E_RANGE;
}

void ntr_system_set_time(ntr_system *system, uint64_t time) {
    for (size_t i = 0; i < system->count; i++) {
        timestamp_unit *unit = timestamp_of(system->components[i]);
        if (unit) unit->external = time;
    }
}

const char *ntr_system_error(const ntr_system *system) {
    return system->error;
}

/* ---- components */

ntr_status ntr_system_component_get(const ntr_system *system, size_t index, ntr_system_component *info) {
    if (index >= system->count) return NTR_END;
    const trace_component *component = system->components[index];
    *info = (ntr_system_component){.name = component->name,
                                   .kind = component->ops->kind,
                                   .base = component->base,
                                   .hart = -1,
                                   .counts = component->counts};
    if (component->ops->kind != NTR_COMPONENT_ENCODER) return NTR_OK;
    ntr_encoder_status_get(((const trace_encoder *)component)->encoder, &info->encoder);
    info->hart = (int)OPTION(&component->options, HART);
    info->itype_width = (unsigned)OPTION(&component->options, ITYPE_WIDTH);
    info->counts.messages = info->encoder.messages;
    info->counts.bytes = info->encoder.bytes;
    info->counts.lost_messages += info->encoder.lost_messages;
    info->counts.lost_bytes += info->encoder.lost_bytes;
    info->counts.stall_cycles = info->encoder.stall_cycles;
    return NTR_OK;
}

ntr_status ntr_system_link_get(const ntr_system *system, size_t index, size_t number, const char **to,
                               unsigned *input) {
    if (index >= system->count || number >= system->components[index]->output_count) return NTR_END;
    *to = system->components[index]->outputs[number].to->name;
    *input = system->components[index]->outputs[number].input;
    return NTR_OK;
}

/* The recursion ends because connections form no cycle. */
bool ntr_system_leads(const ntr_system *system, size_t from, size_t to) {
    if (from >= system->count || to >= system->count) return false;
    const trace_component *component = system->components[from];
    for (size_t i = 0; i < component->output_count; i++) {
        const unsigned next = component->outputs[i].to->index;
        if (next == to || ntr_system_leads(system, next, to)) return true;
    }
    return false;
}
