/* Steps of a procedure, performed on a bus. */
#include "system/bring_up.h"

#include "base/macros.h"

/* ---- accesses */

uint64_t bring_up_address(const trace_component *component, ntr_register reg, unsigned number) {
    const ntr_register_info *info = ntr_register_get(reg);
    return component->base + info->offset + number * info->stride;
}

uint32_t bring_up_action_bits(ntr_register reg) {
    uint32_t mask = 0;
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++) {
        const ntr_bits_info *info = ntr_bits_get(bits);
        if (info->reg == reg && (info->access == NTR_ACCESS_RW1C || info->access == NTR_ACCESS_W1))
            mask |= ntr_bits_mask(info);
    }
    return mask;
}

static ntr_status fail_access(bring_up_bus *on, trace_component *component, ntr_register reg, unsigned number,
                              bool wrote) {
    on->fault = (bring_up_fault){.status = NTR_E_IO, .wrote = wrote};
    on->fault.step.component = component;
    on->fault.step.reg = reg;
    on->fault.step.number = number;
    return NTR_E_IO;
}

static ntr_status fail_value(bring_up_bus *on, const bring_up_step *step, uint32_t found) {
    on->fault = (bring_up_fault){.status = NTR_E_STATE, .step = *step, .found = found};
    return NTR_E_STATE;
}

ntr_status bring_up_read(bring_up_bus *on, trace_component *component, ntr_register reg, unsigned number,
                         uint32_t *word) {
    *word = 0;
    if (on->bus->read32(on->bus->user, bring_up_address(component, reg, number), word) == NTR_OK) return NTR_OK;
    return fail_access(on, component, reg, number, false);
}

ntr_status bring_up_write(bring_up_bus *on, trace_component *component, ntr_register reg, unsigned number,
                          uint32_t word) {
    if (on->bus->write32(on->bus->user, bring_up_address(component, reg, number), word) == NTR_OK) return NTR_OK;
    return fail_access(on, component, reg, number, true);
}

static ntr_status get_at(bring_up_bus *on, trace_component *component, ntr_bits bits, unsigned number,
                         uint32_t *value) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    uint32_t word;
    TRY(bring_up_read(on, component, (ntr_register)info->reg, number, &word));
    *value = ntr_bits_value(info, word);
    return NTR_OK;
}

ntr_status bring_up_get(bring_up_bus *on, trace_component *component, ntr_bits bits, uint32_t *value) {
    return get_at(on, component, bits, 0, value);
}

ntr_status bring_up_put(bring_up_bus *on, trace_component *component, ntr_bits bits, unsigned number, uint32_t value,
                        uint32_t *found) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    uint32_t word;
    TRY(bring_up_read(on, component, (ntr_register)info->reg, number, &word));
    word &= ~(ntr_bits_mask(info) | bring_up_action_bits((ntr_register)info->reg));
    word |= value << info->low & ntr_bits_mask(info);
    TRY(bring_up_write(on, component, (ntr_register)info->reg, number, word));
    return get_at(on, component, bits, number, found);
}

/* ---- steps */

static ntr_status await(bring_up_bus *on, const bring_up_step *step) {
    for (unsigned polls = 1;; polls++) {
        uint32_t found;
        TRY(get_at(on, step->component, step->bits, step->number, &found));
        if (found == step->value) return NTR_OK;
        if (on->wait(on->user, polls)) continue;
        if (!on->interrupted || !on->interrupted(on->user)) return fail_value(on, step, found);
        on->fault = (bring_up_fault){.status = NTR_END, .step = *step};
        return NTR_END;
    }
}

static ntr_status expect(bring_up_bus *on, const bring_up_step *step) {
    uint32_t found;
    if (on->any_version &&
        (step->bits == component_bits(step->component->ops->kind)->major || step->bits == NTR_BITS_TE_PROTOCOL_MAJOR))
        return NTR_OK;
    TRY(get_at(on, step->component, step->bits, step->number, &found));
    return found == step->value ? NTR_OK : fail_value(on, step, found);
}

static ntr_status set(bring_up_bus *on, const bring_up_step *step) {
    uint32_t found;
    TRY(bring_up_put(on, step->component, step->bits, step->number, step->value, &found));
    return found == step->value ? NTR_OK : fail_value(on, step, found);
}

static ntr_status try_values(bring_up_bus *on, const bring_up_step *step) {
    for (size_t i = 0; i < step->count; i++) {
        uint32_t found;
        TRY(bring_up_put(on, step->component, step->bits, step->number, step->values[i], &found));
        if (found == step->values[i]) break;
    }
    return NTR_OK;
}

static ntr_status copy(bring_up_bus *on, const bring_up_step *step) {
    uint32_t word;
    TRY(bring_up_read(on, step->component, step->from, 0, &word));
    return bring_up_write(on, step->component, step->reg, 0, word);
}

static ntr_status store(bring_up_bus *on, const bring_up_step *step) {
    if (on->bus->write32(on->bus->user, step->address, step->value) == NTR_OK) return NTR_OK;
    on->fault = (bring_up_fault){.status = NTR_E_IO, .wrote = true, .step = *step};
    return NTR_E_IO;
}

ntr_status bring_up_take(void *user, const bring_up_step *step) {
    bring_up_bus *on = user;
    if (on->interrupted && on->interrupted(on->user)) {
        on->fault = (bring_up_fault){.status = NTR_END, .step = *step};
        return NTR_END;
    }
    switch (step->kind) {
    case STEP_WRITE: return bring_up_write(on, step->component, step->reg, step->number, step->value);
    case STEP_AWAIT: return await(on, step);
    case STEP_EXPECT: return expect(on, step);
    case STEP_SET: return set(on, step);
    case STEP_TRY: return try_values(on, step);
    case STEP_STORE: return store(on, step);
    default: return copy(on, step);
    }
}

ntr_status bring_up_await(bring_up_bus *on, trace_component *component, ntr_bits bits, uint32_t value) {
    const bring_up_step step = {.kind = STEP_AWAIT,
                                .component = component,
                                .reg = (ntr_register)ntr_bits_get(bits)->reg,
                                .bits = bits,
                                .value = value};
    return await(on, &step);
}

/* ---- the end (section 10.3) */

/* A TMC is stopped by a flush, which lets no byte behind. A sink stays stopped with tmcTraceCaptEn set until it was
 * read. */
static ntr_status disable_tmc(bring_up_bus *on, trace_component *component) {
    uint32_t capturing, found;
    TRY(bring_up_get(on, component, NTR_BITS_TMC_CAPTURE, &capturing));
    if (!capturing) return NTR_OK;
    TRY(bring_up_put(on, component, NTR_BITS_TMC_STOP_ON_FLUSH, 0, 1, &found));
    TRY(bring_up_put(on, component, NTR_BITS_TMC_FLUSH, 0, 1, &found));
    TRY(bring_up_await(on, component, NTR_BITS_TMC_FLUSH, 0));
    TRY(bring_up_await(on, component, NTR_BITS_TMC_READY, 1));
    if (tmc_is_sink(component)) return NTR_OK;
    return bring_up_put(on, component, NTR_BITS_TMC_CAPTURE, 0, 0, &found);
}

/* A component that another software has claimed stays as it is. */
static ntr_status disable_coresight(bring_up_bus *on, trace_component *component) {
    uint32_t claims, found;
    TRY(bring_up_read(on, component, NTR_REGISTER_CS_CLAIMCLR, 0, &claims));
    if (!(claims & coresight_claim(component->system))) return NTR_OK;
    if (component->ops->kind == NTR_COMPONENT_TMC) return disable_tmc(on, component);
    return bring_up_put(on, component, NTR_BITS_CSF_PORTS, 0, 0, &found);
}

ntr_status bring_up_release(bring_up_bus *on, trace_component *component) {
    const uint32_t claim = coresight_claim(component->system);
    uint32_t claims, found;
    if (!is_coresight(component)) return NTR_OK;
    TRY(bring_up_read(on, component, NTR_REGISTER_CS_CLAIMCLR, 0, &claims));
    if (!(claims & claim)) return NTR_OK;
    if (component->ops->kind == NTR_COMPONENT_TMC) TRY(bring_up_put(on, component, NTR_BITS_TMC_CAPTURE, 0, 0, &found));
    TRY(bring_up_write(on, component, NTR_REGISTER_CS_CLAIMCLR, 0, claim));
    return bring_up_write(on, component, NTR_REGISTER_CS_LAR, 0, 0);
}

/* trTeInstTracing is cleared first: what the encoder still holds is then flushed by clearing trTeEnable. */
ntr_status bring_up_disable(bring_up_bus *on, trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    uint32_t active, found;
    if (is_coresight(component)) return disable_coresight(on, component);
    TRY(bring_up_get(on, component, bits->active, &active));
    if (!active) return NTR_OK;
    if (component->ops->kind == NTR_COMPONENT_ENCODER)
        TRY(bring_up_put(on, component, NTR_BITS_TE_INST_TRACING, 0, 0, &found));
    TRY(bring_up_put(on, component, bits->enable, 0, 0, &found));
    TRY(bring_up_await(on, component, bits->enable, 0));
    return bring_up_await(on, component, bits->empty, 1);
}
