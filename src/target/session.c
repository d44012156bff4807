/* A capture on a target: start, state, stop, read (Trace Control sections 6.4 and 10). */
#include "target/target.h"

#include "base/macros.h"

#include <inttypes.h>

enum { MINOR_EXPERIMENTAL = 15, FULL_MS = 20 };

static uint32_t field_of(uint32_t word, ntr_bits bits) {
    return ntr_bits_value(ntr_bits_get(bits), word);
}

/* ---- start */

/* A later minor version is compatible; 1.15 is experimental (section 1.3). */
static ntr_status check_minor(ntr_target *target, trace_component *component) {
    uint32_t word;
    if (is_coresight(component)) return NTR_OK;
    const ntr_register impl = (ntr_register)ntr_bits_get(component_bits(component->ops->kind)->type)->reg;
    TRY(bring_up_read(&target->on, component, impl, 0, &word));
    const unsigned major = word & 15, minor = word >> 4 & 15;
    if (major != 1)
        target_note(target, component, "version %u.%u is used as 1.0", major, minor);
    else if (minor == MINOR_EXPERIMENTAL)
        target_note(target, component, "version 1.15 is experimental; used as 1.0");
    else if (minor)
        target_note(target, component, "version 1.%u is newer than 1.0; only the features of 1.0 are used", minor);
    if (component->ops->kind != NTR_COMPONENT_ENCODER) return NTR_OK;
    const unsigned protocol = field_of(word, NTR_BITS_TE_PROTOCOL_MAJOR);
    if (protocol != 1)
        target_note(target, component, "trace protocol %u.%u is used as N-Trace 1.0", protocol,
                    field_of(word, NTR_BITS_TE_PROTOCOL_MINOR));
    return NTR_OK;
}

/* An encoder whose trTeInstMode is 0 makes no trace; the field must accept 3 or 6. One whose trTeFormat is not 1 makes
 * trace of another protocol. */
static ntr_status check_mode(ntr_target *target, trace_component *encoder) {
    uint32_t mode, format;
    TRY(bring_up_get(&target->on, encoder, NTR_BITS_TE_INST_MODE, &mode));
    TRY(bring_up_get(&target->on, encoder, NTR_BITS_TE_FORMAT, &format));
    if (mode && format != FORMAT_NTRACE && !target->on.any_version) {
        const char *meaning = ntr_bits_meaning(NTR_BITS_TE_FORMAT, format);
        return target_say(target, NTR_E_INVALID, encoder,
                          "trTeFormat stays %" PRIu32 " (%s) after 1: the encoder does not make N-Trace", format,
                          meaning ? meaning : "reserved");
    }
    if (mode) return NTR_OK;
    return target_say(target, NTR_E_INVALID, encoder,
                      "trTeInstMode stays 0 after 3 and 6: writes have no effect (read-only path, PMP, or QEMU without "
                      "Qqemu.PhyMemMode)");
}

static bool is_set(const ntr_target *target, const trace_component *component, ntr_bits bits) {
    for (size_t i = 0; i < target->system->setting_count; i++)
        if (target->system->settings[i].component == component && target->system->settings[i].bits == bits) return true;
    return false;
}

/* Hardware may cut the buffer of the topology to what it supports (section 6.4). */
static ntr_status note_trimmed(ntr_target *target, trace_component *ram, bool smem) {
    const option_values *o = &ram->options;
    const uint64_t start = smem ? OPTION(o, SMEM_START) : 0, size = smem ? OPTION(o, SMEM_SIZE) : OPTION(o, SRAM);
    ntr_ram_window window;
    if (is_set(target, ram, NTR_BITS_RAM_START) || is_set(target, ram, NTR_BITS_RAM_LIMIT) ||
        is_set(target, ram, NTR_BITS_RAM_MODE) || start == OPTION_NONE || !size)
        return NTR_OK;
    TRY(bring_up_window(&target->on, ram, &window));
    const uint64_t limit = start + size - OPTION(o, ACCESS);
    if (window.start != start || window.limit != limit)
        target_note(target, ram,
                    "the buffer is not that of the topology: Start 0x%" PRIx64 " Limit 0x%" PRIx64 ", not 0x%" PRIx64
                    " and 0x%" PRIx64,
                    window.start, window.limit, start, limit);
    return NTR_OK;
}

/* A sink in SMEM mode writes to memory: to none that nobody gave. */
static ntr_status check_buffer(ntr_target *target, trace_component *ram) {
    uint32_t smem;
    TRY(bring_up_get(&target->on, ram, NTR_BITS_RAM_MODE, &smem));
    TRY(note_trimmed(target, ram, smem));
    if (!smem || OPTION(&ram->options, SMEM_START) != OPTION_NONE) return NTR_OK;
    if (is_set(target, ram, NTR_BITS_RAM_START) && is_set(target, ram, NTR_BITS_RAM_LIMIT)) return NTR_OK;
    return target_say(
        target, NTR_E_INVALID, ram,
        "stores trace in system memory: give it a buffer that nothing else uses (--buffer ADDRESS:SIZE, or "
        "\"smem_start\" and \"smem_size\" in the topology)");
}

static bool share_sink(const ntr_system *system, size_t a, size_t b) {
    for (size_t i = 0; i < system->count; i++)
        if (ntr_system_leads(system, a, i) && ntr_system_leads(system, b, i)) return true;
    return false;
}

static ntr_status source_of(ntr_target *target, trace_component *encoder, uint32_t *bits, uint32_t *id) {
    uint32_t features, inhibited;
    TRY(bring_up_read(&target->on, encoder, NTR_REGISTER_TE_INST_FEATURES, 0, &features));
    TRY(bring_up_get(&target->on, encoder, NTR_BITS_TE_INHIBIT_SRC, &inhibited));
    *bits = inhibited ? 0 : field_of(features, NTR_BITS_TE_SRC_BITS);
    *id = field_of(features, NTR_BITS_TE_SRC_ID);
    return NTR_OK;
}

/* Encoders that share a receiver must have different SRC. */
static ntr_status check_sources(ntr_target *target) {
    const ntr_system *system = target->system;
    for (size_t i = 0; i < system->count; i++) {
        trace_component *one = system->components[i];
        if (one->ops->kind != NTR_COMPONENT_ENCODER) continue;
        for (size_t k = i + 1; k < system->count; k++) {
            trace_component *other = system->components[k];
            uint32_t bits[2], ids[2];
            if (other->ops->kind != NTR_COMPONENT_ENCODER || !share_sink(system, i, k)) continue;
            TRY(source_of(target, one, &bits[0], &ids[0]));
            TRY(source_of(target, other, &bits[1], &ids[1]));
            const uint32_t width = bits[0] < bits[1] ? bits[0] : bits[1], mask = (1u << width) - 1;
            if (width && bits[0] == bits[1] && (ids[0] & mask) != (ids[1] & mask)) continue;
            return target_say(target, NTR_E_INVALID, one,
                              "its messages cannot be told from those of %s: trTeSrcBits %" PRIu32 " and %" PRIu32
                              ", trTeSrcID %" PRIu32 " and %" PRIu32 "; set them apart in the topology (\"set\")",
                              other->name, bits[0], bits[1], ids[0], ids[1]);
        }
    }
    return NTR_OK;
}

static ntr_status start_part(ntr_target *target, bring_up_part part) {
    const bring_up_executor executor = {bring_up_take, &target->on};
    for (size_t i = 0; i < target->system->count; i++) {
        trace_component *one = target->system->downstream[i];
        if (part == PART_CONFIGURE && tmc_is_sink(one)) TRY(target_check_etr(target, one));
        TRY(bring_up_component(one, part, &executor));
        if (part == PART_ACTIVATE) TRY(check_minor(target, one));
        if (part == PART_CONFIGURE && one->ops->kind == NTR_COMPONENT_ENCODER) TRY(check_mode(target, one));
        if (part == PART_CONFIGURE && target_is_ram(one)) TRY(check_buffer(target, one));
    }
    return NTR_OK;
}

ntr_status ntr_target_start(ntr_target *target) {
    ntr_status status = start_part(target, PART_ACTIVATE);
    target->error[0] = 0;
    if (status == NTR_OK) status = start_part(target, PART_CONFIGURE);
    if (status == NTR_OK) status = check_sources(target);
    if (status == NTR_OK) status = start_part(target, PART_ENABLE);
    for (size_t i = 0; i < target->system->count; i++) {
        target->lost[i] = false;
        target->tracing[i] = true;
    }
    return status == NTR_OK || target->error[0] ? status : target_fail(target, status);
}

/* ---- state */

static void note_stopped(ntr_target *target, trace_component *encoder) {
    uint32_t control = 0, inputs = 0;
    bring_up_read(&target->on, encoder, NTR_REGISTER_TE_CONTROL, 0, &control);
    bring_up_read(&target->on, encoder, NTR_REGISTER_TE_TRIG_EXT_IN_CONTROL, 0, &inputs);
    target_note(target, encoder,
                "trTeInstTracing became 0 by itself (trTeControl 0x%08" PRIx32 ", trTeInstTrigEnable %" PRIu32
                ", trTeTrigExtInControl 0x%08" PRIx32 "): a trigger ended the trace",
                control, field_of(control, NTR_BITS_TE_INST_TRIG_ENABLE), inputs);
}

/* All bits read as 1: no component is there. */
static bool says_lost(uint32_t control) {
    return control != UINT32_MAX && field_of(control, NTR_BITS_TE_INST_STALL_OR_OVERFLOW);
}

static ntr_status poll_encoder(ntr_target *target, trace_component *encoder, ntr_target_state *state) {
    uint32_t control;
    TRY(bring_up_read(&target->on, encoder, NTR_REGISTER_TE_CONTROL, 0, &control));
    const bool tracing = field_of(control, NTR_BITS_TE_INST_TRACING);
    if (!control && target->tracing[encoder->index]) {
        target->tracing[encoder->index] = false;
        target_note(
            target, encoder,
            "trTeControl reads 0 while trace should run: the encoder has lost its registers, as when its core goes "
            "to sleep (CPU idle); boot with cpuidle.off=1, or keep the hart busy");
    }
    if (says_lost(control)) target->lost[encoder->index] = true;
    if (!tracing && target->tracing[encoder->index]) note_stopped(target, encoder);
    target->tracing[encoder->index] = tracing;
    state->encoders++;
    state->tracing += tracing;
    state->lost |= target->lost[encoder->index];
    return NTR_OK;
}

static ntr_status poll_ram(ntr_target *target, trace_component *ram, ntr_target_state *state) {
    ntr_ram_window window;
    uint32_t enabled, stops;
    TRY(bring_up_window(&target->on, ram, &window));
    TRY(bring_up_get(&target->on, ram, NTR_BITS_RAM_ENABLE, &enabled));
    TRY(bring_up_get(&target->on, ram, NTR_BITS_RAM_STOP_ON_WRAP, &stops));
    const uint64_t size = window.limit >= window.start ? window.limit - window.start + window.access : 0;
    state->capacity += size;
    state->stored += window.wrapped ? size : window.wp >= window.start ? window.wp - window.start : 0;
    state->wrapped |= window.wrapped;
    state->full |= stops && !enabled && window.wrapped;
    return NTR_OK;
}

ntr_status ntr_target_poll(ntr_target *target, ntr_target_state *state) {
    ntr_status status = NTR_OK;
    *state = (ntr_target_state){0};
    for (size_t i = 0; i < target->system->count && status == NTR_OK; i++) {
        trace_component *one = target->system->components[i];
        if (one->ops->kind == NTR_COMPONENT_ENCODER) status = poll_encoder(target, one, state);
        if (target_is_ram(one)) status = poll_ram(target, one, state);
        if (tmc_is_sink(one)) status = target_poll_tmc(target, one, state);
    }
    if (status != NTR_OK) return target_fail(target, status);
    state->halt_known =
        target->bus.hart && target->bus.hart(target->bus.user, NTR_BUS_HART_STATE, &state->halted) == NTR_OK;
    return NTR_OK;
}

/* ---- stop */

/* Returns whether a RAM sink has stopped because it was full. */
static bool stopped_full(ntr_target *target, trace_component *ram) {
    uint32_t enabled, stops, wrapped;
    if (bring_up_get(&target->on, ram, NTR_BITS_RAM_STOP_ON_WRAP, &stops) != NTR_OK || !stops) return false;
    if (bring_up_get(&target->on, ram, NTR_BITS_RAM_ENABLE, &enabled) != NTR_OK || enabled) return false;
    return bring_up_get(&target->on, ram, NTR_BITS_RAM_WRAP, &wrapped) == NTR_OK && wrapped;
}

static bool is_sink(const trace_component *component) {
    return !component->output_count;
}

/* Returns whether all sinks that the component leads to have stopped because they were full. What waits before them is
 * lost, as trRamStopOnWrap says. */
static bool leads_to_full(ntr_target *target, const trace_component *component) {
    bool any = false;
    for (size_t i = 0; i < target->system->count; i++) {
        trace_component *one = target->system->components[i];
        if (!is_sink(one) || !ntr_system_leads(target->system, component->index, i)) continue;
        if (!target_is_ram(one) || !stopped_full(target, one)) return false;
        any = true;
    }
    return any;
}

/* Disables a component. It will not become empty when the sinks behind it take nothing more: then it gets a short time
 * only. */
static ntr_status disable(ntr_target *target, trace_component *component) {
    const uint32_t timeout = target->config.timeout_ms;
    if (!is_sink(component) && timeout > FULL_MS && leads_to_full(target, component))
        target->config.timeout_ms = FULL_MS;
    const ntr_status status = bring_up_disable(&target->on, component);
    target->config.timeout_ms = timeout;
    return status;
}

static void keep_lost(ntr_target *target, trace_component *component) {
    uint32_t control;
    if (component->ops->kind != NTR_COMPONENT_ENCODER) return;
    if (bring_up_read(&target->on, component, NTR_REGISTER_TE_CONTROL, 0, &control) == NTR_OK && says_lost(control))
        target->lost[component->index] = true;
}

static ntr_status stop_one(ntr_target *target, trace_component *component) {
    char sentence[SENTENCE];
    ntr_status status = disable(target, component);
    if (status == NTR_E_IO) status = disable(target, component); /* the connection may be there again */
    keep_lost(target, component);
    if (status == NTR_OK) return NTR_OK;
    const common_bits *bits = component_bits(component->ops->kind);
    if (status == NTR_E_STATE && target->on.fault.step.bits == bits->empty && leads_to_full(target, component)) {
        target_note(target, component, "the sink stopped when it was full; what this component still held is lost");
        return NTR_OK;
    }
    target_explain(target, sentence, sizeof sentence);
    if (target->config.note) target->config.note(target->config.user, sentence);
    return status;
}

ntr_status ntr_target_stop(ntr_target *target) {
    ntr_status first = NTR_OK;
    target->on.interrupted = NULL; /* this procedure is completed */
    for (size_t i = target->system->count; i-- > 0;) {
        const ntr_status status = stop_one(target, target->system->downstream[i]);
        if (first == NTR_OK && status != NTR_OK) first = target_fail(target, status);
    }
    for (size_t i = 0; i < target->system->count; i++)
        if (target->lost[i])
            target_note(
                target, target->system->components[i],
                "lost trace or stalled its hart (trTeInstStallOrOverflow): try --mode htm, --stall, or a larger or "
                "faster sink");
    return first;
}

ntr_status ntr_target_release(ntr_target *target) {
    ntr_status first = NTR_OK;
    target->on.interrupted = NULL; /* this procedure is completed */
    for (size_t i = target->system->count; i-- > 0;) {
        ntr_status status = bring_up_release(&target->on, target->system->downstream[i]);
        if (status == NTR_E_IO) status = bring_up_release(&target->on, target->system->downstream[i]);
        if (first == NTR_OK && status != NTR_OK) first = target_fail(target, status);
    }
    return first;
}

/* ---- read */

static ntr_status content_of(ntr_target *target, trace_component *ram, ntr_target_content *content) {
    uint32_t stops, smem;
    *content = (ntr_target_content){0};
    TRY(bring_up_window(&target->on, ram, &content->window));
    TRY(bring_up_get(&target->on, ram, NTR_BITS_RAM_STOP_ON_WRAP, &stops));
    TRY(bring_up_get(&target->on, ram, NTR_BITS_RAM_MODE, &smem));
    content->wrapped = content->window.wrapped;
    content->stopped_full = stops && content->wrapped && content->window.wp == content->window.start;
    content->cut = content->wrapped && !content->stopped_full;
    content->smem = smem;
    return NTR_OK;
}

ntr_status ntr_target_read(ntr_target *target, size_t component, ntr_stream_sink sink, void *user,
                           ntr_target_content *content) {
    trace_component *ram = target_component(target, component);
    if (ram && tmc_is_sink(ram)) return target_read_tmc(target, ram, sink, user, content);
    if (!ram || !target_is_ram(ram)) return NTR_E_INVALID;
    ntr_status status = content_of(target, ram, content);
    if (status == NTR_OK) status = bring_up_read_ram(&target->on, ram, sink, user, NULL, &content->verified);
    if (status == NTR_E_RANGE)
        return target_say(target, status, ram,
                          "Start 0x%" PRIx64 " Limit 0x%" PRIx64 " WP 0x%" PRIx64 " contradict each other",
                          content->window.start, content->window.limit, content->window.wp);
    if (status == NTR_E_STATE) return target_say(target, status, ram, "cannot be read: it is enabled or not empty");
    return status == NTR_OK ? NTR_OK : target_fail(target, status);
}

/* ---- nothing was stored */

static void explain_encoder(ntr_target *target, trace_component *encoder) {
    uint32_t control = 0, filters = 0;
    if (bring_up_read(&target->on, encoder, NTR_REGISTER_TE_CONTROL, 0, &control) != NTR_OK ||
        bring_up_read(&target->on, encoder, NTR_REGISTER_TE_INST_FILTERS, 0, &filters) != NTR_OK)
        return;
    target_note(target, encoder,
                "trTeInstMode %" PRIu32 ", trTeInstFilters 0x%" PRIx32 ", trTeEmpty %" PRIu32
                "%s: was the hart running, in code and privilege that the filters pass?",
                field_of(control, NTR_BITS_TE_INST_MODE), filters, field_of(control, NTR_BITS_TE_EMPTY),
                field_of(control, NTR_BITS_TE_EMPTY) ? "" : " (messages are still in the encoder)");
}

static void explain_funnel(ntr_target *target, trace_component *funnel) {
    uint32_t disabled = 0, empty = 0;
    if (bring_up_read(&target->on, funnel, NTR_REGISTER_FUNNEL_DIS_INPUT, 0, &disabled) != NTR_OK ||
        bring_up_get(&target->on, funnel, NTR_BITS_FUNNEL_EMPTY, &empty) != NTR_OK)
        return;
    target_note(target, funnel, "trFunnelDisInput 0x%" PRIx32 ", trFunnelEmpty %" PRIu32 "%s", disabled, empty,
                disabled ? ": inputs are disabled" : "");
}

static void explain_csfunnel(ntr_target *target, trace_component *funnel) {
    uint32_t control = 0;
    if (bring_up_read(&target->on, funnel, NTR_REGISTER_CSF_FUNCTL, 0, &control) == NTR_OK)
        target_note(target, funnel, "csFunnelCtl 0x%" PRIx32, control);
}

static void explain_tmc(ntr_target *target, trace_component *component) {
    tmc_state state;
    if (bring_up_tmc_state(&target->on, component, &state) == NTR_OK)
        target_note(target, component,
                    "tmcMode %" PRIu32 ", tmcReadPointer 0x%" PRIx64 ", tmcWritePointer 0x%" PRIx64 "%s", state.mode,
                    state.rrp, state.rwp, state.failed ? ", tmcMemErr 1: writes to the buffer fail" : "");
}

void ntr_target_explain_empty(ntr_target *target) {
    for (size_t i = 0; i < target->system->count; i++) {
        trace_component *one = target->system->components[i];
        if (one->ops->kind == NTR_COMPONENT_ENCODER) explain_encoder(target, one);
        if (one->ops->kind == NTR_COMPONENT_FUNNEL) explain_funnel(target, one);
        if (one->ops->kind == NTR_COMPONENT_CSFUNNEL) explain_csfunnel(target, one);
        if (one->ops->kind == NTR_COMPONENT_TMC) explain_tmc(target, one);
    }
    if (!target->bus.hart) return;
    bool halted;
    if (target->bus.hart(target->bus.user, NTR_BUS_HART_STATE, &halted) == NTR_OK && target->config.note)
        target->config.note(target->config.user, halted ? "the hart is halted" : "the hart runs");
}
