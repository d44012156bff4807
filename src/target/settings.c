/* Settings of a capture: fields, encoder options and buffers, in the list of the topology's own settings ("set"). */
#include "target/target.h"

#include "base/macros.h"

#include <string.h>

enum {
    COMPARE_GREATER_EQUAL = 5,
    COMPARE_LESS_EQUAL = 3,
    MATCH_BOTH = 1,
    COMPARE_CONTEXT = 1,
    COMPARE_IADDR = 0,
    COMPARE_EQUAL = 0
};
enum { COMPARATORS = 8, TS_MODE_SYSTEM = 2 };

static ntr_status put(ntr_target *target, trace_component *component, ntr_bits bits, unsigned number, uint32_t value,
                      bool optional) {
    return system_set(
        target->system,
        &(setting){
            .component = component, .bits = bits, .value = value, .number = (uint8_t)number, .optional = optional});
}

ntr_status ntr_target_set(ntr_target *target, size_t component, const char *field, unsigned number, uint32_t value) {
    trace_component *one = target_component(target, component);
    const ntr_bits bits = ntr_bits_find(field);
    unsigned ignored;
    if (!one || bits == NTR_BITS_COUNT) return NTR_E_NAME;
    const ntr_bits_info *info = ntr_bits_get(bits);
    const ntr_register_info *reg = ntr_register_get(info->reg);
    if (ntr_register_at(one->ops->kind, reg->offset, &ignored) != info->reg) return NTR_E_NAME;
    if (number >= reg->count || value > ntr_bits_mask(info) >> info->low) return NTR_E_RANGE;
    return put(target, one, bits, number, value, false);
}

/* ---- encoder options */

/* Options that are the value of one field. */
static const struct option_field {
    const char *name;
    ntr_bits bits;
    size_t member; /* of ntr_encoder_config; one byte */
} option_fields[] = {
    {"mode", NTR_BITS_TE_INST_MODE, offsetof(ntr_encoder_config, mode)},
    {"src-bits", NTR_BITS_TE_SRC_BITS, offsetof(ntr_encoder_config, params.src_bits)},
    {"sequential-jump", NTR_BITS_TE_INST_EN_SEQUENTIAL_JUMP, offsetof(ntr_encoder_config, params.sequential_jump)},
    {"extend-addr", NTR_BITS_TE_INST_EXTEND_ADDR_MSB, offsetof(ntr_encoder_config, params.extend_addr)},
    {"all-jumps", NTR_BITS_TE_INST_EN_ALL_JUMPS, offsetof(ntr_encoder_config, params.all_jumps)},
    {"repeated-history", NTR_BITS_TE_INST_EN_REPEATED_HISTORY, offsetof(ntr_encoder_config, repeated_history)},
    {"sync-mode", NTR_BITS_TE_INST_SYNC_MODE, offsetof(ntr_encoder_config, sync_mode)},
    {"sync-max", NTR_BITS_TE_INST_SYNC_MAX, offsetof(ntr_encoder_config, sync_max)},
    {"ts-prescale", NTR_BITS_TS_PRESCALE, offsetof(ntr_encoder_config, ts_prescale)},
    {"inhibit-src", NTR_BITS_TE_INHIBIT_SRC, offsetof(ntr_encoder_config, inhibit_src)},
    {"trigger-enable", NTR_BITS_TE_INST_TRIG_ENABLE, offsetof(ntr_encoder_config, trigger_enable)},
    {"stall", NTR_BITS_TE_INST_STALL_ENA, offsetof(ntr_encoder_config, stall)},
};

static ntr_status set_returns(ntr_target *target, trace_component *encoder, uint32_t mode, bool optional) {
    TRY(put(target, encoder, NTR_BITS_TE_INST_IMPLICIT_RETURN_MODE, 0, mode, optional));
    return put(target, encoder, NTR_BITS_TE_INST_EN_IMPLICIT_RETURN, 0, mode != NTR_RETURN_OFF, optional);
}

/* An internal counter of this unit. */
static ntr_status set_counter(ntr_target *target, trace_component *component, uint32_t mode) {
    TRY(put(target, component, NTR_BITS_TS_ACTIVE, 0, 1, true));
    TRY(put(target, component, NTR_BITS_TS_MODE, 0, mode, false));
    return put(target, component, NTR_BITS_TS_COUNT, 0, mode == TS_MODE_SYSTEM, true);
}

static bool chooses_time(const ntr_target *target, const trace_component *component) {
    for (size_t i = 0; i < target->system->setting_count; i++)
        if (target->system->settings[i].component == component && target->system->settings[i].bits == NTR_BITS_TS_MODE)
            return true;
    return false;
}

/* The time comes from the topology's `ts_source`, if there is one, otherwise from the encoder's own counter. */
static ntr_status set_timestamps(ntr_target *target, trace_component *encoder, bool on) {
    if (on && !chooses_time(target, encoder)) {
        TRY(set_counter(target, encoder, encoder->ts_source ? TARGET_TIME_SHARED : TS_MODE_SYSTEM));
        for (trace_component *at = encoder->ts_source; at; at = at->ts_source)
            if (!chooses_time(target, at))
                TRY(set_counter(target, at, at->ts_source ? TARGET_TIME_SHARED : TS_MODE_SYSTEM));
    }
    return put(target, encoder, NTR_BITS_TS_ENABLE, 0, on, false);
}

/* What the hardware supports of the options that make the trace smaller. */
static ntr_status set_best(ntr_target *target, trace_component *encoder) {
    static const ntr_bits flags[] = {NTR_BITS_TE_INST_EN_SEQUENTIAL_JUMP, NTR_BITS_TE_INST_EN_REPEATED_HISTORY,
                                     NTR_BITS_TE_INST_EXTEND_ADDR_MSB};
    TRY(put(target, encoder, NTR_BITS_TE_INST_MODE, 0, NTR_INST_MODE_HTM, true));
    for (size_t i = 0; i < NTR_COUNT(flags); i++) TRY(put(target, encoder, flags[i], 0, 1, true));
    return set_returns(target, encoder, NTR_RETURN_FULL, true);
}

/* ---- filters (Trace Control section 5): values before the bits that enable them */

static ntr_status set_comparator(ntr_target *target, trace_component *encoder, unsigned n, uint64_t first,
                                 uint64_t last, bool context) {
    const struct {
        ntr_bits bits;
        uint32_t value;
    } rows[] = {
        {NTR_BITS_TE_COMP_P_LOW, (uint32_t)first},
        {NTR_BITS_TE_COMP_P_HIGH, (uint32_t)(first >> 32)},
        {NTR_BITS_TE_COMP_P_INPUT, context ? COMPARE_CONTEXT : COMPARE_IADDR},
        {NTR_BITS_TE_COMP_P_FUNCTION, context ? COMPARE_EQUAL : COMPARE_GREATER_EQUAL},
        {NTR_BITS_TE_COMP_S_LOW, (uint32_t)last},
        {NTR_BITS_TE_COMP_S_HIGH, (uint32_t)(last >> 32)},
        {NTR_BITS_TE_COMP_S_FUNCTION, COMPARE_LESS_EQUAL},
        {NTR_BITS_TE_COMP_MATCH_MODE, MATCH_BOTH},
    };
    const size_t count = context ? 4 : NTR_COUNT(rows);
    for (size_t i = 0; i < count; i++) TRY(put(target, encoder, rows[i].bits, n, rows[i].value, false));
    return NTR_OK;
}

static ntr_status set_traps(ntr_target *target, trace_component *encoder, unsigned n, const ntr_filter *filter) {
    const uint64_t causes = filter->causes ? filter->causes : UINT64_MAX;
    if (filter->match_exception) {
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_CHOICE_ECAUSE_LOW, n, (uint32_t)causes, false));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_CHOICE_ECAUSE_HIGH, n, (uint32_t)(causes >> 32), true));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_ECAUSE, n, 1, false));
    }
    if (filter->match_interrupt) {
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_VALUE_INTERRUPT, n, 1, false));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_INTERRUPT, n, 1, false));
    }
    return NTR_OK;
}

static ntr_status set_comparisons(ntr_target *target, trace_component *encoder, unsigned n, const ntr_filter *filter) {
    const unsigned address = target->comparators_used, context = address + filter->match_address;
    if (filter->match_address) {
        if (address >= COMPARATORS) return NTR_E_LIMIT;
        TRY(set_comparator(target, encoder, address, filter->first, filter->last, false));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_COMP1, n, address, false));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_COMP1, n, 1, false));
    }
    if (filter->match_scontext) {
        if (context >= COMPARATORS) return NTR_E_LIMIT;
        TRY(set_comparator(target, encoder, context, filter->scontext, 0, true));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_COMP2, n, context, false));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_COMP2, n, 1, false));
    }
    return NTR_OK;
}

static ntr_status set_filter(ntr_target *target, trace_component *encoder, unsigned n, const ntr_filter *filter) {
    if (filter->match_hcontext) return NTR_E_UNSUPPORTED;
    TRY(set_comparisons(target, encoder, n, filter));
    if (filter->match_priv) {
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_CHOICE_PRIVILEGE, n, filter->priv, false));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_PRIVILEGE, n, 1, false));
    }
    if (filter->match_impdef) {
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_VALUE_IMPDEF, n, (uint32_t)filter->impdef, false));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MASK_IMPDEF, n, (uint32_t)filter->impdef_mask, false));
        TRY(put(target, encoder, NTR_BITS_TE_FILTER_MATCH_IMPDEF, n, 1, false));
    }
    TRY(set_traps(target, encoder, n, filter));
    TRY(put(target, encoder, NTR_BITS_TE_FILTER_ENABLE, n, 1, false));
    return put(target, encoder, NTR_BITS_TE_INST_FILTERS_SET, 0, (2u << n) - 1, false);
}

/* ---- */

static ntr_status apply(ntr_target *target, trace_component *encoder, const char *name,
                        const ntr_encoder_config *config) {
    for (size_t i = 0; i < NTR_COUNT(option_fields); i++)
        if (strcmp(option_fields[i].name, name) == 0)
            return put(target, encoder, option_fields[i].bits, 0, ((const uint8_t *)config)[option_fields[i].member],
                       false);
    if (strcmp(name, "src-id") == 0) return put(target, encoder, NTR_BITS_TE_SRC_ID, 0, config->src_id, false);
    if (strcmp(name, "context") == 0)
        return put(target, encoder, NTR_BITS_TE_CONTEXT, 0, config->ownership != NTR_OWNERSHIP_OFF, false);
    if (strcmp(name, "implicit-return") == 0)
        return set_returns(target, encoder, config->params.implicit_return, false);
    if (strcmp(name, "timestamps") == 0)
        return set_timestamps(target, encoder, config->params.timestamps == NTR_TIMESTAMPS_ON);
    if (strcmp(name, "best") == 0) return set_best(target, encoder);
    if (strcmp(name, "filter") == 0) return set_filter(target, encoder, target->filters_used, &config->filters[0]);
    return NTR_E_UNSUPPORTED;
}

ntr_status ntr_target_set_option(ntr_target *target, const char *name, const char *value) {
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    TRY(ntr_encoder_option_set(&config, name, value));
    for (size_t i = 0; i < target->system->count; i++) {
        trace_component *one = target->system->components[i];
        if (one->ops->kind == NTR_COMPONENT_ENCODER) TRY(apply(target, one, name, &config));
    }
    if (!config.filter_count) return NTR_OK;
    target->filters_used++;
    target->comparators_used += config.filters[0].match_address + config.filters[0].match_scontext;
    return NTR_OK;
}

/* ---- buffers in system memory */

ntr_status ntr_target_set_buffer(ntr_target *target, size_t component, uint64_t address, uint64_t bytes) {
    trace_component *ram = target_component(target, component);
    if (ram && tmc_is_sink(ram) && OPTION(&ram->options, TMC_TYPE) == TMC_ETR) {
        if ((address | bytes) % TMC_FRAME || bytes < TMC_FRAME || address >> 40 || bytes > (1ull << 40) - address)
            return NTR_E_RANGE;
        ram->options.value[OPTION_TMC_START] = address;
        ram->options.value[OPTION_TMC_BYTES] = bytes;
        return NTR_OK;
    }
    if (!ram || !target_is_ram(ram)) return NTR_E_INVALID;
    const uint64_t access = OPTION(&ram->options, ACCESS);
    if ((address | bytes) % access || bytes < 2 * access || address > UINT64_MAX - bytes) return NTR_E_RANGE;
    const uint64_t limit = address + bytes - access;
    const struct {
        ntr_bits bits;
        uint32_t value;
    } rows[] = {
        {NTR_BITS_RAM_MODE, 1},
        {NTR_BITS_RAM_START_63_32, (uint32_t)(address >> 32)},
        {NTR_BITS_RAM_START, (uint32_t)address / TARGET_WORD},
        {NTR_BITS_RAM_LIMIT_63_32, (uint32_t)(limit >> 32)},
        {NTR_BITS_RAM_LIMIT, (uint32_t)limit / TARGET_WORD},
    };
    for (size_t i = 0; i < NTR_COUNT(rows); i++) TRY(put(target, ram, rows[i].bits, 0, rows[i].value, false));
    return NTR_OK;
}
