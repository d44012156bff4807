/* What a component supports: WARL fields keep only values that are implemented (Trace Control section 10.1, step 4).
 *
 * The table ties options of a topology to fields. Fields are written with Enable = 0 only, and are 0 at the end. */
#include "target/target.h"

#include "base/macros.h"

#include <inttypes.h>

enum { VALUES_MAX = 16 };

typedef enum discovery_method {
    TRY_VALUES, /* SET: the values that read back */
    TRY_FLAG,   /* FLAG: 1 reads back */
    READ_VALUE, /* the value of a read-only field */
    COUNT_ONES, /* NUMBER: bits that read back as 1 */
    COUNT_REGISTERS, /* NUMBER: repeated registers in which 1 reads back */
    COUNT_NIBBLES,   /* NUMBER: groups of 4 bits that keep the action trace-on, or a firing event */
    SRAM_BYTES,
    SIZE_IN_WORDS,    /* the value of a read-only field in words */
    READ_INVERTED, /* FLAG: the read-only field is 0 */
} discovery_method;

static const struct discovery {
    uint8_t option; /* option_id */
    uint8_t method;
    ntr_bits bits;
} discoveries[] = {
    {OPTION_MODES, TRY_VALUES, NTR_BITS_TE_INST_MODE},
    {OPTION_CONTEXT, TRY_FLAG, NTR_BITS_TE_CONTEXT},
    {OPTION_TRIGGERS, TRY_FLAG, NTR_BITS_TE_INST_TRIG_ENABLE},
    {OPTION_STALL, TRY_FLAG, NTR_BITS_TE_INST_STALL_ENA},
    {OPTION_INHIBIT_SRC, TRY_FLAG, NTR_BITS_TE_INHIBIT_SRC},
    {OPTION_SYNC_MODES, TRY_VALUES, NTR_BITS_TE_INST_SYNC_MODE},
    {OPTION_SYNC_MAX, TRY_VALUES, NTR_BITS_TE_INST_SYNC_MAX},
    {OPTION_SEQUENTIAL_JUMP, TRY_FLAG, NTR_BITS_TE_INST_EN_SEQUENTIAL_JUMP},
    {OPTION_IMPLICIT_RETURN, TRY_VALUES, NTR_BITS_TE_INST_IMPLICIT_RETURN_MODE},
    {OPTION_REPEATED_HISTORY, TRY_FLAG, NTR_BITS_TE_INST_EN_REPEATED_HISTORY},
    {OPTION_ALL_JUMPS, TRY_FLAG, NTR_BITS_TE_INST_EN_ALL_JUMPS},
    {OPTION_EXTEND_ADDR, TRY_FLAG, NTR_BITS_TE_INST_EXTEND_ADDR_MSB},
    {OPTION_SRC_BITS, TRY_VALUES, NTR_BITS_TE_SRC_BITS},
    {OPTION_FILTERS, COUNT_REGISTERS, NTR_BITS_TE_FILTER_ENABLE},
    {OPTION_COMPARATORS, COUNT_REGISTERS, NTR_BITS_TE_COMP_P_LOW},
    {OPTION_TRIGGER_INPUTS, COUNT_NIBBLES, NTR_BITS_TE_TRIG_EXT_IN_ACTION0},
    {OPTION_TRIGGER_OUTPUTS, COUNT_NIBBLES, NTR_BITS_TE_TRIG_EXT_OUT_EVENT0},
    {OPTION_TS_WIDTH, READ_VALUE, NTR_BITS_TS_WIDTH},
    {OPTION_TS_MODES, TRY_VALUES, NTR_BITS_TS_MODE},
    {OPTION_TS_PRESCALE, TRY_VALUES, NTR_BITS_TS_PRESCALE},
    {OPTION_TS_RUN_IN_DEBUG, TRY_FLAG, NTR_BITS_TS_RUN_IN_DEBUG},
    {OPTION_INPUTS, COUNT_ONES, NTR_BITS_FUNNEL_DIS_INPUTS},
    {OPTION_SMEM, READ_VALUE, NTR_BITS_RAM_HAS_SMEM},
    {OPTION_SRAM, SRAM_BYTES, NTR_BITS_RAM_LIMIT},
    {OPTION_STOP_ON_WRAP, TRY_FLAG, NTR_BITS_RAM_STOP_ON_WRAP},
    {OPTION_PIB_MODES, TRY_VALUES, NTR_BITS_PIB_MODE},
    {OPTION_CLK_CENTER, TRY_FLAG, NTR_BITS_PIB_CLK_CENTER},
    {OPTION_CALIBRATE, TRY_FLAG, NTR_BITS_PIB_CALIBRATE},
    {OPTION_DIVIDER_BITS, COUNT_ONES, NTR_BITS_PIB_DIVIDER},
    {OPTION_CS_LOCK, READ_VALUE, NTR_BITS_CS_LSR_LOCKABLE},
    {OPTION_CS_INPUTS, READ_VALUE, NTR_BITS_CS_DEVID_INPUTS},
    {OPTION_TMC_TYPE, READ_VALUE, NTR_BITS_CS_DEVID_TMC_TYPE},
    {OPTION_TMC_MODES, TRY_VALUES, NTR_BITS_TMC_MODE_VALUE},
    {OPTION_TMC_SRAM, SIZE_IN_WORDS, NTR_BITS_TMC_SIZE_WORDS},
    {OPTION_TMC_SG, READ_INVERTED, NTR_BITS_CS_DEVID_NO_SG},
    {OPTION_TMC_ADDRESS_BITS, READ_VALUE, NTR_BITS_CS_DEVID_ADDRESS_BITS},
};

typedef struct discoverer {
    bring_up_bus *on;
    trace_component *component;
    ntr_bits bits;
    const option_info *option;
} discoverer;

/* ---- methods */

static ntr_status write_back(const discoverer *d, unsigned number, uint32_t value, uint32_t *found) {
    return bring_up_put(d->on, d->component, d->bits, number, value, found);
}

static ntr_status clear(const discoverer *d, unsigned number) {
    uint32_t ignored;
    return write_back(d, number, 0, &ignored);
}

static ntr_status try_values(const discoverer *d, uint64_t *set) {
    const uint32_t most = ntr_bits_mask(ntr_bits_get(d->bits)) >> ntr_bits_get(d->bits)->low;
    for (uint32_t value = 0; value <= most && value < VALUES_MAX; value++) {
        uint32_t found;
        TRY(write_back(d, 0, value, &found));
        if (found == value && value >= d->option->least && value <= d->option->most) *set |= 1ull << value;
    }
    return NTR_OK;
}

static ntr_status try_flag(const discoverer *d, uint64_t *flag) {
    uint32_t found;
    TRY(write_back(d, 0, 1, &found));
    *flag = found;
    return clear(d, 0);
}

static ntr_status count_ones(const discoverer *d, uint64_t *count) {
    uint32_t found, before;
    TRY(bring_up_get(d->on, d->component, d->bits, &before));
    TRY(write_back(d, 0, UINT32_MAX, &found));
    *count = (uint64_t)__builtin_popcount(found);
    return write_back(d, 0, before, &found); /* a divider keeps its safe value */
}

static ntr_status count_registers(const discoverer *d, uint64_t *count) {
    const ntr_register_info *reg = ntr_register_get(ntr_bits_get(d->bits)->reg);
    for (unsigned n = 0; n < reg->count; n++) {
        uint32_t found;
        TRY(write_back(d, n, 1, &found));
        if (!found) return NTR_OK;
        ++*count;
        TRY(clear(d, n));
    }
    return NTR_OK;
}

static ntr_status count_nibbles(const discoverer *d, uint64_t *count) {
    const ntr_register reg = (ntr_register)ntr_bits_get(d->bits)->reg;
    const uint32_t each = reg == NTR_REGISTER_TE_TRIG_EXT_IN_CONTROL ? 0x22222222 : 0x11111111;
    uint32_t found;
    TRY(bring_up_write(d->on, d->component, reg, 0, each));
    TRY(bring_up_read(d->on, d->component, reg, 0, &found));
    *count = (uint64_t)__builtin_popcount(found & each);
    return bring_up_write(d->on, d->component, reg, 0, 0);
}

/* Writes addresses in SRAM mode only: the sink then reaches no other memory. */
static ntr_status sram_bytes(const discoverer *d, uint64_t *bytes) {
    uint32_t has, mode, low, high;
    TRY(bring_up_get(d->on, d->component, NTR_BITS_RAM_HAS_SRAM, &has));
    TRY(bring_up_put(d->on, d->component, NTR_BITS_RAM_MODE, 0, 0, &mode));
    if (!has || mode) return NTR_OK;
    TRY(bring_up_write(d->on, d->component, NTR_REGISTER_RAM_START_LOW, 0, 0));
    TRY(bring_up_write(d->on, d->component, NTR_REGISTER_RAM_LIMIT_HIGH, 0, UINT32_MAX));
    TRY(bring_up_write(d->on, d->component, NTR_REGISTER_RAM_LIMIT_LOW, 0, UINT32_MAX));
    TRY(bring_up_read(d->on, d->component, NTR_REGISTER_RAM_LIMIT_LOW, 0, &low));
    TRY(bring_up_read(d->on, d->component, NTR_REGISTER_RAM_LIMIT_HIGH, 0, &high));
    *bytes = (low | (uint64_t)high << 32) + OPTION(&d->component->options, ACCESS);
    return NTR_OK;
}

static ntr_status find(const discoverer *d, uint8_t method, uint64_t *value) {
    uint32_t word = 0;
    switch (method) {
    case TRY_VALUES: return try_values(d, value);
    case TRY_FLAG: return try_flag(d, value);
    case COUNT_ONES: return count_ones(d, value);
    case COUNT_REGISTERS: return count_registers(d, value);
    case COUNT_NIBBLES: return count_nibbles(d, value);
    case SRAM_BYTES: return sram_bytes(d, value);
    default: break;
    }
    const ntr_status status = bring_up_get(d->on, d->component, d->bits, &word);
    *value = method == READ_INVERTED ? !word : method == SIZE_IN_WORDS ? (uint64_t)word * TARGET_WORD : word;
    return status;
}

/* ---- */

/* An ETR has no memory of its own; others have no addresses and no tables. */
static bool applies_to_tmc(const trace_component *component, unsigned option) {
    const bool etr = OPTION(&component->options, TMC_TYPE) == TMC_ETR;
    if (component->ops->kind != NTR_COMPONENT_TMC) return true;
    if (option == OPTION_TMC_SRAM) return !etr;
    return etr || (option != OPTION_TMC_SG && option != OPTION_TMC_ADDRESS_BITS);
}

static bool applies(const trace_component *component, const struct discovery *one) {
    unsigned number;
    if (!applies_to_tmc(component, one->option)) return false;
    const ntr_register_info *reg = ntr_register_get(ntr_bits_get(one->bits)->reg);
    return option_get(one->option)->components >> component->ops->kind & 1 &&
           ntr_register_at(component->ops->kind, reg->offset, &number) == ntr_bits_get(one->bits)->reg;
}

static uint8_t kind_of(const option_info *option) {
    return option->type == OPTION_SET    ? NTR_ABILITY_SET
           : option->type == OPTION_FLAG ? NTR_ABILITY_FLAG
                                         : NTR_ABILITY_NUMBER;
}

/* Shared time (trTsMode 4) needs a source. */
static uint64_t expected(const trace_component *component, unsigned option) {
    const uint64_t value = component->options.value[option];
    if ((option == OPTION_TS_MODES || option == OPTION_TS_PRESCALE) && !OPTION(&component->options, TS_WIDTH))
        return 1; /* no timestamp unit: the registers read 0 */
    return option == OPTION_TS_MODES && !component->ts_source ? value & ~(1ull << TARGET_TIME_SHARED) : value;
}

static ntr_status discover(ntr_target *target, trace_component *component, ntr_probe *probe) {
    for (size_t i = 0; i < NTR_COUNT(discoveries); i++) {
        const struct discovery *one = &discoveries[i];
        const option_info *option = option_get(one->option);
        const discoverer d = {&target->on, component, one->bits, option};
        uint64_t value = 0;
        if (!applies(component, one)) continue;
        if (target->on.interrupted && target->on.interrupted(target->on.user)) return NTR_END;
        TRY(find(&d, one->method, &value));
        if (one->option == OPTION_INPUTS && !value) continue; /* trFunnelDisInput is optional: not known */
        if (one->option == OPTION_SRAM && !value) continue;
        probe->abilities[probe->ability_count++] = (ntr_ability){.name = option->name,
                                                                 .kind = kind_of(option),
                                                                 .value = value,
                                                                 .expected = expected(component, one->option)};
    }
    return NTR_OK;
}
enum { CORESIGHT_ROWS = 7 }; /* no component has these and others */
_Static_assert(NTR_COUNT(discoveries) - CORESIGHT_ROWS <= NTR_ABILITIES_MAX, "all abilities of a component must fit");

static ntr_status look(ntr_target *target, trace_component *component, ntr_probe *probe) {
    const common_bits *bits = component_bits(component->ops->kind);
    if (is_coresight(component)) return bring_up_read(&target->on, component, NTR_REGISTER_CS_DEVTYPE, 0, &probe->impl);
    const ntr_register impl = (ntr_register)ntr_bits_get(bits->type)->reg;
    TRY(bring_up_read(&target->on, component, impl, 0, &probe->impl));
    probe->major = probe->impl & 15;
    probe->minor = probe->impl >> 4 & 15;
    if (component->ops->kind != NTR_COMPONENT_ENCODER) return NTR_OK;
    probe->protocol_major = probe->impl >> 16 & 15;
    probe->protocol_minor = probe->impl >> 20 & 15;
    return NTR_OK;
}

/* Leaves the component active, with the known values of section 10.1. */
static ntr_status reset(ntr_target *target, trace_component *component) {
    const bring_up_executor executor = {bring_up_take, &target->on};
    return bring_up_component(component, PART_ACTIVATE, &executor);
}

/* Registers that a capture needs must keep what is written to them. Nothing is enabled, so that patterns do no harm. */
static ntr_status check_registers(ntr_target *target, trace_component *component) {
    static const struct {
        ntr_bits bits;
        uint32_t value;
    } funnel[] = {{NTR_BITS_CSF_HOLD, 7},
                  {NTR_BITS_CSF_HOLD, 8},
                  {NTR_BITS_CSF_PRIORITY, 0xfac688},
                  {NTR_BITS_CSF_PRIORITY, 0}},
      tmc[] = {{NTR_BITS_TMC_TRIGGER_WORDS, 0x5a5a5a5a},
               {NTR_BITS_TMC_TRIGGER_WORDS, 0},
               {NTR_BITS_TMC_STOP_ON_FLUSH, 1},
               {NTR_BITS_TMC_STOP_ON_FLUSH, 0},
               {NTR_BITS_TMC_EN_FT, 1},
               {NTR_BITS_TMC_DBA_LOW, 0x5a5a5000},
               {NTR_BITS_TMC_DBA_LOW, 0xa5a5a000},
               {NTR_BITS_TMC_DBA_HIGH, 1},
               {NTR_BITS_TMC_DBA_HIGH, 0},
               {NTR_BITS_TMC_SIZE_WORDS, 0x5a5a0},
               {NTR_BITS_TMC_SIZE_WORDS, 0xa5a50},
               {NTR_BITS_TMC_AXI_BURST, 15},
               {NTR_BITS_TMC_AXI_CACHE, 15}};
    enum { FOR_ALL = 5 }; /* the others are of an ETR */
    const bool is_tmc = component->ops->kind == NTR_COMPONENT_TMC;
    const size_t count = !is_tmc                                            ? NTR_COUNT(funnel)
                         : OPTION(&component->options, TMC_TYPE) == TMC_ETR ? NTR_COUNT(tmc)
                                                                            : FOR_ALL;
    for (size_t i = 0; i < count; i++) {
        const ntr_bits bits = is_tmc ? tmc[i].bits : funnel[i].bits;
        const bring_up_step step = {.kind = STEP_SET,
                                    .component = component,
                                    .reg = (ntr_register)ntr_bits_get(bits)->reg,
                                    .bits = bits,
                                    .value = is_tmc ? tmc[i].value : funnel[i].value};
        TRY(bring_up_take(&target->on, &step));
    }
    return NTR_OK;
}

static ntr_status probe_all(ntr_target *target, trace_component *component, ntr_probe *probe) {
    TRY(reset(target, component));
    TRY(look(target, component, probe));
    if (is_coresight(component)) TRY(check_registers(target, component));
    TRY(discover(target, component, probe));
    TRY(reset(target, component));
    return bring_up_release(&target->on, component);
}

ntr_status ntr_target_probe(ntr_target *target, size_t index, bool only_look, ntr_probe *probe) {
    trace_component *component = target_component(target, index);
    *probe = (ntr_probe){0};
    if (!component) return NTR_E_RANGE;
    const common_bits *bits = component_bits(component->ops->kind);
    target->error[0] = 0;
    const ntr_register control = !is_coresight(component)                    ? bits->control
                                 : component->ops->kind == NTR_COMPONENT_TMC ? NTR_REGISTER_TMC_CTL
                                                                             : NTR_REGISTER_CSF_FUNCTL;
    ntr_status status = bring_up_read(&target->on, component, control, 0, &probe->control);
    if (status == NTR_OK) status = only_look ? look(target, component, probe) : probe_all(target, component, probe);
    if (status == NTR_END) return target_fail(target, status);
    if (status != NTR_OK) {
        target_fail(target, status);
        bring_up_release(&target->on, component);
        const ntr_register impl =
            is_coresight(component) ? NTR_REGISTER_CS_DEVTYPE : (ntr_register)ntr_bits_get(bits->type)->reg;
        bring_up_read(&target->on, component, impl, 0, &probe->impl);
        return NTR_OK;
    }
    if (is_coresight(component)) {
        probe->answers = (probe->impl & UINT8_MAX) == coresight_devtype(component);
        if (!probe->answers)
            target_say(target, NTR_E_STATE, component, "csDevType reads 0x%02" PRIx32 ", expected 0x%02" PRIx32,
                       probe->impl, coresight_devtype(component));
        return NTR_OK;
    }
    probe->answers =
        ntr_bits_value(ntr_bits_get(bits->type), probe->impl) == ntr_component_get(component->ops->kind)->type;
    return NTR_OK;
}

/* ---- without a topology */

enum { IDENTIFY_POLLS = 1000, IMPL_OFFSET = 4, DEVARCH_OFFSET = 0xfbc };

/* Andes NCETRACE200 is recognized by the low half of its register DEVARCH. Components are 0x1000 or, in an older map,
 * 0x2000 apart; the register is at the same distance from the end of their space. */
static ntr_component by_devarch(const ntr_bus *bus, uint64_t base) {
    static const struct {
        uint16_t id;
        ntr_component kind;
    } known[] = {{0x4500, NTR_COMPONENT_ENCODER}, {0x4d00, NTR_COMPONENT_FUNNEL}};

    for (uint64_t stride = NTR_COMPONENT_BYTES; stride <= 2 * NTR_COMPONENT_BYTES; stride *= 2) {
        uint32_t id = 0;
        if (base % stride ||
            bus->read32(bus->user, base + stride - NTR_COMPONENT_BYTES + DEVARCH_OFFSET, &id) != NTR_OK)
            continue;
        for (size_t i = 0; i < NTR_COUNT(known); i++)
            if ((id & UINT16_MAX) == known[i].id) return known[i].kind;
    }
    return NTR_COMPONENT_COUNT;
}

ntr_status ntr_bus_identify(const ntr_bus *bus, uint64_t base, ntr_component *kind, uint32_t *impl) {
    uint32_t control = 0;
    *kind = NTR_COMPONENT_COUNT;
    TRY(bus->read32(bus->user, base, &control));
    if (!(control & 1)) TRY(bus->write32(bus->user, base, 1)); /* a running component is left as it is */
    for (unsigned i = 0; i < IDENTIFY_POLLS && !(control & 1); i++) TRY(bus->read32(bus->user, base, &control));
    TRY(bus->read32(bus->user, base + IMPL_OFFSET, impl));
    for (unsigned i = 0; i < NTR_COMPONENT_COUNT; i++)
        if (ntr_component_get(i)->type && ntr_component_get(i)->type == (*impl >> 8 & 15)) *kind = (ntr_component)i;
    if (*kind == NTR_COMPONENT_COUNT) *kind = by_devarch(bus, base);
    return NTR_OK;
}
