/* Registers as they were before a capture. */
#include "target/target.h"

#include "base/allocator.h"
#include "base/macros.h"

/* Returns whether a register has fields that software writes and that keep their value. trRamData and trRamRP are left
 * out: reading and writing them moves the read pointer. */
static bool worth_saving(ntr_register reg) {
    if (reg == NTR_REGISTER_TMC_RRD || reg == NTR_REGISTER_CS_LAR || reg == NTR_REGISTER_RAM_DATA ||
        reg == NTR_REGISTER_RAM_RP_LOW || reg == NTR_REGISTER_RAM_RP_HIGH)
        return false;
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++) {
        const ntr_bits_info *info = ntr_bits_get(bits);
        if (info->reg == reg && (info->access == NTR_ACCESS_RW || info->access == NTR_ACCESS_WARL)) return true;
    }
    return false;
}

static bool belongs(ntr_register reg, ntr_component kind) {
    unsigned number;
    return ntr_register_at(kind, ntr_register_get(reg)->offset, &number) == reg;
}

static ntr_status save_register(ntr_target *target, trace_component *component, ntr_register reg, unsigned number) {
    uint32_t word;
    TRY(bring_up_read(&target->on, component, reg, number, &word));
    if (ntr_reserve(target->config.allocator, (void **)&target->saved, &target->saved_capacity, target->saved_count + 1,
                    sizeof target->saved[0]))
        return NTR_E_MEMORY;
    target->saved[target->saved_count++] = (saved_register){component, reg, number, word};
    return NTR_OK;
}

/* Registers of an inactive component cannot be read. */
static ntr_status save_component(ntr_target *target, trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    uint32_t active;
    if (is_coresight(component)) return NTR_OK; /* it is not used by anyone else, and is left disabled */
    TRY(bring_up_get(&target->on, component, bits->active, &active));
    TRY(save_register(target, component, bits->control, 0));
    for (unsigned reg = 0; active && reg < NTR_REGISTER_COUNT; reg++) {
        if (reg == bits->control || !belongs((ntr_register)reg, component->ops->kind) ||
            !worth_saving((ntr_register)reg))
            continue;
        for (unsigned n = 0; n < ntr_register_get(reg)->count; n++) {
            if (target->on.interrupted && target->on.interrupted(target->on.user)) return NTR_END;
            TRY(save_register(target, component, (ntr_register)reg, n));
        }
    }
    return NTR_OK;
}

ntr_status ntr_target_save(ntr_target *target) {
    target->saved_count = 0;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < target->system->count && status == NTR_OK; i++)
        status = save_component(target, target->system->downstream[i]);
    return status == NTR_OK ? NTR_OK : target_fail(target, status);
}

static bool is_control(const saved_register *one) {
    return one->reg == component_bits(one->component->ops->kind)->control;
}

/* Control without Enable and without what needs Enable, so that the other registers may be written. */
static uint32_t passive(const saved_register *one) {
    const common_bits *bits = component_bits(one->component->ops->kind);
    uint32_t mask = ntr_bits_mask(ntr_bits_get(bits->enable));
    if (one->component->ops->kind == NTR_COMPONENT_ENCODER) mask |= NTR_TE_INST_TRACING_MASK;
    return one->word & ~mask;
}

static ntr_status put_back(ntr_target *target, const saved_register *one, uint32_t word) {
    return bring_up_write(&target->on, one->component, one->reg, one->number, word);
}

ntr_status ntr_target_restore(ntr_target *target) {
    ntr_status status = target->saved_count ? NTR_OK : NTR_E_STATE;
    target->on.interrupted = NULL;
    for (size_t i = 0; i < target->saved_count && status == NTR_OK; i++) {
        const saved_register *one = &target->saved[i];
        status = put_back(target, one, is_control(one) ? passive(one) : one->word);
    }
    for (size_t i = 0; i < target->saved_count && status == NTR_OK; i++) {
        const saved_register *one = &target->saved[i];
        if (!is_control(one) || passive(one) == one->word) continue;
        status = put_back(target, one, one->word & ~NTR_TE_INST_TRACING_MASK);
        if (status == NTR_OK && one->component->ops->kind == NTR_COMPONENT_ENCODER)
            status = put_back(target, one, one->word);
    }
    return status == NTR_OK ? NTR_OK : target_fail(target, status);
}
