/* The steps that start trace hardware (Trace Control sections 10.1 and 10.2). */
#include "system/bring_up.h"

#include "base/macros.h"

typedef struct sequence {
    trace_component *component;
    const common_bits *bits;
    const bring_up_executor *executor;
} sequence;

static ntr_status give(const sequence *to, bring_up_step step) {
    step.component = to->component;
    return to->executor->take(to->executor->user, &step);
}

static ntr_status give_write(const sequence *to, ntr_register reg, uint32_t value) {
    return give(to, (bring_up_step){.kind = STEP_WRITE, .reg = reg, .value = value});
}

static ntr_status give_field(const sequence *to, bring_up_kind kind, ntr_bits bits, unsigned number, uint32_t value) {
    const ntr_register reg = (ntr_register)ntr_bits_get(bits)->reg;
    return give(to, (bring_up_step){.kind = kind, .reg = reg, .bits = bits, .number = number, .value = value});
}

static ntr_status give_copy(const sequence *to, ntr_register reg, ntr_register from) {
    return give(to, (bring_up_step){.kind = STEP_COPY, .reg = reg, .from = from});
}

/* ---- reset and known values (section 10.1) */

/* Registers that a reset may leave as they were, and that are to be 0. */
static ntr_status clear(const sequence *to) {
    static const ntr_register encoder[] = {
        NTR_REGISTER_TE_INST_FEATURES,        NTR_REGISTER_TE_INST_FILTERS,     NTR_REGISTER_TE_DATA_CONTROL,
        NTR_REGISTER_TE_DATA_FILTERS,         NTR_REGISTER_TE_TRIG_DBG_CONTROL, NTR_REGISTER_TE_TRIG_EXT_IN_CONTROL,
        NTR_REGISTER_TE_TRIG_EXT_OUT_CONTROL, NTR_REGISTER_TS_CONTROL,
    };
    static const ntr_register funnel[] = {NTR_REGISTER_FUNNEL_DIS_INPUT, NTR_REGISTER_TS_CONTROL};
    const ntr_component kind = to->component->ops->kind;
    const ntr_register *list = kind == NTR_COMPONENT_ENCODER ? encoder : funnel;
    const size_t count = kind == NTR_COMPONENT_ENCODER  ? NTR_COUNT(encoder)
                         : kind == NTR_COMPONENT_FUNNEL ? NTR_COUNT(funnel)
                                                        : 0;
    for (size_t i = 0; i < count; i++) TRY(give_write(to, list[i], 0));
    return NTR_OK;
}

static ntr_status activate(const sequence *to) {
    const common_bits *bits = to->bits;
    TRY(give_write(to, bits->control, 0));
    TRY(give_field(to, STEP_AWAIT, bits->active, 0, 0));
    TRY(give_write(to, bits->control, 1));
    TRY(give_field(to, STEP_AWAIT, bits->active, 0, 1));
    TRY(give_field(to, STEP_EXPECT, bits->type, 0, ntr_component_get(to->component->ops->kind)->type));
    TRY(give_field(to, STEP_EXPECT, bits->major, 0, 1));
    if (to->component->ops->kind == NTR_COMPONENT_ENCODER)
        TRY(give_field(to, STEP_EXPECT, NTR_BITS_TE_PROTOCOL_MAJOR, 0, 1));
    TRY(clear(to));
    return give_field(to, STEP_EXPECT, bits->empty, 0, 1);
}

/* ---- configuration (section 10.2) */

/* Sets a field that the topology does not set: the values are tried in order. */
static ntr_status give_values(const sequence *to, ntr_bits bits, const uint32_t *values, size_t count) {
    if (system_sets(to->component->system, to->component, bits)) return NTR_OK;
    const ntr_register reg = (ntr_register)ntr_bits_get(bits)->reg;
    return give(to, (bring_up_step){.kind = STEP_TRY, .reg = reg, .bits = bits, .values = values, .count = count});
}

/* Returns the minimum width of SRC that distinguishes all encoders, or 0 for a single encoder. */
static uint32_t src_bits_needed(const ntr_system *system) {
    uint32_t encoders = 0, most = 0;
    for (size_t i = 0; i < system->count; i++) {
        const trace_component *one = system->components[i];
        if (one->ops->kind != NTR_COMPONENT_ENCODER) continue;
        const uint32_t hart = (uint32_t)OPTION(&one->options, HART);
        encoders++;
        if (hart > most) most = hart;
    }
    return encoders < 2 || !most ? 0 : 32 - (uint32_t)__builtin_clz(most);
}

static ntr_status configure_encoder(const sequence *to) {
    static const uint32_t modes[] = {NTR_INST_MODE_HTM, NTR_INST_MODE_BTM};
    static const uint32_t sync_modes[] = {NTR_SYNC_MODE_HALFWORDS, NTR_SYNC_MODE_CYCLES, NTR_SYNC_MODE_MESSAGES};
    static const uint32_t sync_maxima[] = {8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15, 0};
    static const uint32_t format[] = {FORMAT_NTRACE};
    static const uint32_t widths[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const uint32_t needed = src_bits_needed(to->component->system);
    const uint32_t hart = (uint32_t)OPTION(&to->component->options, HART);
    TRY(give_values(to, NTR_BITS_TE_FORMAT, format, NTR_COUNT(format)));
    TRY(give_values(to, NTR_BITS_TE_INST_MODE, modes, NTR_COUNT(modes)));
    TRY(give_values(to, NTR_BITS_TE_INST_SYNC_MODE, sync_modes, NTR_COUNT(sync_modes)));
    TRY(give_values(to, NTR_BITS_TE_INST_SYNC_MAX, sync_maxima, NTR_COUNT(sync_maxima)));
    TRY(give_values(to, NTR_BITS_TE_SRC_BITS, widths + needed, NTR_COUNT(widths) - needed));
    return give_values(to, NTR_BITS_TE_SRC_ID, &hart, 1); /* without effect when SRC has no bits */
}

/* Prefers the 4-bit mode, which most probes support (section 11). */
static ntr_status configure_pib(const sequence *to) {
    static const uint32_t modes[] = {10, 11, 9, 8, 12, 5, 4};
    return give_values(to, NTR_BITS_PIB_MODE, modes, NTR_COUNT(modes));
}

/* Gives each bridge of the system a trace ID of its own. */
static ntr_status configure_atb(const sequence *to) {
    const uint32_t id = 0x10 + to->component->index % 0x60;
    return give_values(to, NTR_BITS_ATB_ID, &id, 1);
}

/* The buffer of a sink whose memory the topology describes: all of it. Start comes before Limit, whose range may depend
 * on it. In SMEM mode, addresses that the topology does not give are not written. */
static ntr_status configure_buffer(const sequence *to) {
    const option_values *o = &to->component->options;
    const uint64_t fixed = OPTION(o, SMEM_START), access = OPTION(o, ACCESS);
    const bool smem = !OPTION(o, SRAM);
    if (smem && fixed == OPTION_NONE) return NTR_OK;
    const uint64_t start = smem ? fixed : 0, limit = start + (smem ? OPTION(o, SMEM_SIZE) : OPTION(o, SRAM)) - access;
    const uint32_t words[] = {(uint32_t)(start >> 32), (uint32_t)start >> 2, (uint32_t)(limit >> 32),
                              (uint32_t)limit >> 2};
    static const ntr_bits fields[] = {NTR_BITS_RAM_START_63_32, NTR_BITS_RAM_START, NTR_BITS_RAM_LIMIT_63_32,
                                      NTR_BITS_RAM_LIMIT};
    for (size_t i = 0; i < NTR_COUNT(fields); i++) TRY(give_values(to, fields[i], &words[i], 1));
    return NTR_OK;
}

/* Sets the write pointer to the start of the buffer: empty. Writing trRamWPLow clears trRamWrap, so it comes last. */
static ntr_status configure_ram(const sequence *to) {
    static const uint32_t plain[] = {0};
    const bool chosen = system_sets(to->component->system, to->component, NTR_BITS_RAM_MODE);
    TRY(give_values(to, NTR_BITS_RAM_MEM_FORMAT, plain, 1));
    if (!chosen) TRY(configure_buffer(to));
    TRY(give_copy(to, NTR_REGISTER_RAM_WP_HIGH, NTR_REGISTER_RAM_START_HIGH));
    return give_copy(to, NTR_REGISTER_RAM_WP_LOW, NTR_REGISTER_RAM_START_LOW);
}

/* Closes the inputs of a funnel whose senders are not used. */
static ntr_status configure_funnel(const sequence *to) {
    const uint32_t closed = to->component->left_out;
    return closed ? give_values(to, NTR_BITS_FUNNEL_DIS_INPUTS, &closed, 1) : NTR_OK;
}

/* The values that the topology or the user sets: those of trRamMode, or all others. */
static ntr_status give_settings(const sequence *to, bool ram_mode) {
    const ntr_system *system = to->component->system;
    for (size_t i = 0; i < system->setting_count; i++) {
        const setting *one = &system->settings[i];
        if (one->component != to->component || (one->bits == NTR_BITS_RAM_MODE) != ram_mode) continue;
        const ntr_register reg = (ntr_register)ntr_bits_get(one->bits)->reg;
        TRY(give(to, (bring_up_step){.kind = one->optional ? STEP_TRY : STEP_SET,
                                     .reg = reg,
                                     .bits = one->bits,
                                     .number = one->number,
                                     .value = one->value,
                                     .values = &one->value,
                                     .count = 1}));
    }
    return NTR_OK;
}

/* What the other registers of a RAM sink accept depends on trRamMode, which is set first (section 6.4). */
static ntr_status configure_ram_mode(const sequence *to) {
    const uint32_t smem = !OPTION(&to->component->options, SRAM);
    TRY(give_settings(to, true));
    return give_values(to, NTR_BITS_RAM_MODE, &smem, 1);
}

static ntr_status configure(const sequence *to) {
    if (to->component->ops->kind == NTR_COMPONENT_RAM) TRY(configure_ram_mode(to));
    TRY(give_settings(to, false));
    switch (to->component->ops->kind) {
    case NTR_COMPONENT_ENCODER: return configure_encoder(to);
    case NTR_COMPONENT_FUNNEL: return configure_funnel(to);
    case NTR_COMPONENT_RAM: return configure_ram(to);
    case NTR_COMPONENT_PIB: return configure_pib(to);
    case NTR_COMPONENT_ATB: return configure_atb(to);
    default: return NTR_OK;
    }
}

static ntr_status enable(const sequence *to) {
    static const uint32_t on[] = {1};
    const bring_up_step step = {
        .kind = STEP_TRY, .reg = to->bits->control, .bits = to->bits->enable, .values = on, .count = 1};
    TRY(give(to, step));
    TRY(give_field(to, STEP_AWAIT, to->bits->enable, 0, 1));
    if (to->component->ops->kind != NTR_COMPONENT_ENCODER ||
        system_sets(to->component->system, to->component, NTR_BITS_TE_INST_TRACING))
        return NTR_OK;
    return give_values(to, NTR_BITS_TE_INST_TRACING, on, 1);
}

/* ---- */

ntr_status bring_up_component(trace_component *component, bring_up_part part, const bring_up_executor *executor) {
    static ntr_status (*const parts[BRING_UP_PARTS])(const sequence *) = {activate, configure, enable};
    const sequence to = {component, component_bits(component->ops->kind), executor};
    if (is_coresight(component)) {
        if (part == PART_CONFIGURE) TRY(give_settings(&to, false));
        return coresight_bring_up(component, part, executor);
    }
    return parts[part](&to);
}

ntr_status bring_up_start(ntr_system *system, const bring_up_executor *executor) {
    for (unsigned part = 0; part < BRING_UP_PARTS; part++)
        for (size_t i = 0; i < system->count; i++)
            TRY(bring_up_component(system->downstream[i], (bring_up_part)part, executor));
    return NTR_OK;
}
