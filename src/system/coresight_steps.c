/* The steps that start Arm CoreSight components, in the order and with the values of Linux's drivers: unlock, claim,
 * configure; tmcReady before anything is written to a TMC. */
#include "system/bring_up.h"
#include "system/coresight.h"

#include "base/macros.h"

enum { AXI_NON_SECURE = 2, AXI_CACHE = 15, AXI_BURST = 15, HOLD_TIME = 7 };

uint32_t coresight_claim(const ntr_system *system) {
    return system->claim ? system->claim : CLAIM_SELF_HOSTED;
}

typedef struct cs_sequence {
    trace_component *component;
    const bring_up_executor *executor;
} cs_sequence;

static ntr_status give(const cs_sequence *to, bring_up_step step) {
    step.component = to->component;
    return to->executor->take(to->executor->user, &step);
}

static ntr_status give_write(const cs_sequence *to, ntr_register reg, uint32_t value) {
    return give(to, (bring_up_step){.kind = STEP_WRITE, .reg = reg, .value = value});
}

static ntr_status give_field(const cs_sequence *to, bring_up_kind kind, ntr_bits bits, uint32_t value) {
    const ntr_register reg = (ntr_register)ntr_bits_get(bits)->reg;
    return give(to, (bring_up_step){.kind = kind, .reg = reg, .bits = bits, .value = value});
}

/* Sets a field that nothing else sets. */
static ntr_status give_set(const cs_sequence *to, ntr_bits bits, uint32_t value) {
    if (system_sets(to->component->system, to->component, bits)) return NTR_OK;
    return give_field(to, STEP_SET, bits, value);
}

/* ---- unlocked, claimed by nobody else, and stopped */

uint32_t coresight_devtype(const trace_component *component) {
    if (component->ops->kind == NTR_COMPONENT_CSFUNNEL) return DEVTYPE_FUNNEL;
    return OPTION(&component->options, TMC_TYPE) == TMC_ETF ? DEVTYPE_FIFO : DEVTYPE_SINK;
}

static ntr_status activate(const cs_sequence *to) {
    const uint32_t claim = coresight_claim(to->component->system);
    const bool external = claim == CLAIM_EXTERNAL;
    TRY(give_field(to, STEP_EXPECT, NTR_BITS_CS_DEVTYPE_TYPE, coresight_devtype(to->component)));
    TRY(give_write(to, NTR_REGISTER_CS_LAR, CORESIGHT_KEY));
    TRY(give_field(to, STEP_EXPECT, NTR_BITS_CS_LSR_LOCKED, 0));
    TRY(give_field(to, STEP_EXPECT, external ? NTR_BITS_CS_CLAIM_SELF_HOSTED : NTR_BITS_CS_CLAIM_EXTERNAL, 0));
    TRY(give_write(to, NTR_REGISTER_CS_CLAIMSET, claim));
    TRY(give_field(to, STEP_EXPECT, external ? NTR_BITS_CS_CLAIM_EXTERNAL : NTR_BITS_CS_CLAIM_SELF_HOSTED, 1));
    if (to->component->ops->kind == NTR_COMPONENT_CSFUNNEL)
        return give_write(to, NTR_REGISTER_CSF_FUNCTL, HOLD_TIME << 8);
    TRY(give_field(to, STEP_EXPECT, NTR_BITS_CS_DEVID_TMC_TYPE, (uint32_t)OPTION(&to->component->options, TMC_TYPE)));
    TRY(give_write(to, NTR_REGISTER_TMC_CTL, 0));
    return give_field(to, STEP_AWAIT, NTR_BITS_TMC_READY, 1);
}

/* ---- the buffer of an ETR */

uint64_t tmc_data_page(uint64_t buffer, uint64_t bytes, uint64_t index, uint64_t *tables) {
    const uint64_t pages = bytes / TMC_PAGE;
    uint64_t count = 1;
    while (pages > count && pages - count > count * (SG_ENTRIES - 1) + 1) count++;
    if (tables) *tables = count;
    return buffer + (count + index) * TMC_PAGE;
}

static ntr_status give_entry(const cs_sequence *to, uint64_t at, uint64_t page, uint32_t type) {
    return give(to, (bring_up_step){.kind = STEP_STORE,
                                    .reg = NTR_REGISTER_TMC_DBALO,
                                    .address = at,
                                    .value = (uint32_t)(page / TMC_PAGE) << 4 | type});
}

/* A table page is full when its last entry is a link; the last one may end with data instead. */
static ntr_status give_table(const cs_sequence *to, uint64_t buffer, uint64_t bytes) {
    uint64_t tables, at = buffer;
    tmc_data_page(buffer, bytes, 0, &tables);
    const uint64_t pages = bytes / TMC_PAGE - tables;
    for (uint64_t i = 0; i < pages; i++, at += 4) {
        const bool last = i + 1 == pages, end_of_page = at % TMC_PAGE == TMC_PAGE - 4;
        if (end_of_page && !last) {
            TRY(give_entry(to, at, at + 4, SG_LINK));
            at += 4;
        }
        TRY(give_entry(to, at, tmc_data_page(buffer, bytes, i, NULL), last ? SG_LAST : SG_DATA));
    }
    return NTR_OK;
}

static bool wants_sg(const trace_component *component) {
    const ntr_system *system = component->system;
    for (size_t i = 0; i < system->setting_count; i++)
        if (system->settings[i].component == component && system->settings[i].bits == NTR_BITS_TMC_AXI_SG)
            return system->settings[i].value;
    return false;
}

static ntr_status configure_etr(const cs_sequence *to) {
    const option_values *o = &to->component->options;
    const uint64_t start = OPTION(o, TMC_START), given = OPTION(o, TMC_BYTES);
    uint64_t tables = 0, bytes = given;
    if (start == OPTION_NONE) return NTR_OK; /* the procedure of a target refuses it */
    if (wants_sg(to->component)) {
        TRY(give_table(to, start, given));
        tmc_data_page(start, given, 0, &tables);
        bytes = (given / TMC_PAGE - tables) * TMC_PAGE;
    }
    TRY(give_set(to, NTR_BITS_TMC_SIZE_WORDS, (uint32_t)(bytes / 4)));
    TRY(give_set(to, NTR_BITS_TMC_AXI_PROT, AXI_NON_SECURE));
    TRY(give_set(to, NTR_BITS_TMC_AXI_CACHE, AXI_CACHE));
    TRY(give_set(to, NTR_BITS_TMC_AXI_BURST, AXI_BURST));
    TRY(give_set(to, NTR_BITS_TMC_DBA_LOW, (uint32_t)start));
    return give_set(to, NTR_BITS_TMC_DBA_HIGH, (uint32_t)(start >> 32));
}

static ntr_status configure(const cs_sequence *to) {
    const bool sink = tmc_is_sink(to->component);
    const bool etr = OPTION(&to->component->options, TMC_TYPE) == TMC_ETR;
    if (to->component->ops->kind == NTR_COMPONENT_CSFUNNEL) return give_set(to, NTR_BITS_CSF_PRIORITY, 0);
    if (!system_sets(to->component->system, to->component, NTR_BITS_TMC_MODE_VALUE))
        TRY(give_field(to, STEP_SET, NTR_BITS_TMC_MODE_VALUE, sink ? TMC_CIRCULAR : TMC_HARDWARE_FIFO));
    if (etr) TRY(configure_etr(to));
    TRY(give_write(
        to, NTR_REGISTER_TMC_FFCR,
        NTR_TMC_EN_FT_MASK | NTR_TMC_EN_TI_MASK |
            (sink ? NTR_TMC_FLUSH_ON_IN_MASK | NTR_TMC_FLUSH_ON_TRIGGER_MASK | NTR_TMC_TRIGGER_ON_IN_MASK : 0)));
    return give_write(to, sink ? NTR_REGISTER_TMC_TRG : NTR_REGISTER_TMC_BUFWM, 0);
}

/* The inputs that have a sender. */
static uint32_t ports_of(const trace_component *funnel) {
    const ntr_system *system = funnel->system;
    uint32_t ports = 0;
    for (size_t i = 0; i < system->count; i++)
        for (size_t k = 0; k < system->components[i]->output_count; k++)
            if (system->components[i]->outputs[k].to == funnel) ports |= 1u << system->components[i]->outputs[k].input;
    return ports;
}

static ntr_status enable(const cs_sequence *to) {
    if (to->component->ops->kind == NTR_COMPONENT_CSFUNNEL)
        return give_set(to, NTR_BITS_CSF_PORTS, ports_of(to->component));
    return give_field(to, STEP_SET, NTR_BITS_TMC_CAPTURE, 1);
}

ntr_status coresight_bring_up(trace_component *component, bring_up_part part, const bring_up_executor *executor) {
    static ntr_status (*const parts[BRING_UP_PARTS])(const cs_sequence *) = {activate, configure, enable};
    const cs_sequence to = {component, executor};
    return parts[part](&to);
}
