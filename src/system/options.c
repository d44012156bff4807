#include "system/component.h"

#include "base/macros.h"

#include <string.h>

/* Abbreviations of options.def. */
#define E    (1u << NTR_COMPONENT_ENCODER)
#define F    (1u << NTR_COMPONENT_FUNNEL)
#define R    (1u << NTR_COMPONENT_RAM)
#define P    (1u << NTR_COMPONENT_PIB)
#define A    (1u << NTR_COMPONENT_ATB)
#define C    (1u << NTR_COMPONENT_CSFUNNEL)
#define T    (1u << NTR_COMPONENT_TMC)
#define NONE OPTION_NONE

static const option_info infos[] = {
#define NTR_SYSTEM_OPTION(id, name, components, type, minimal, typical, maximal, least, most, meaning)                 \
    {name, meaning, components, OPTION_##type, {minimal, typical, maximal}, least, most},
#include "system/options.def"
#undef NTR_SYSTEM_OPTION
};
#undef E
#undef F
#undef R
#undef P
#undef A
#undef C
#undef T
#undef NONE

static const char *const preset_names[] = {"minimal", "typical", "maximal"};

const option_info *option_get(size_t option) {
    return option < NTR_COUNT(infos) ? &infos[option] : NULL;
}

option_id option_find(ntr_component component, const char *name) {
    for (size_t i = 0; i < NTR_COUNT(infos); i++)
        if ((infos[i].components >> component & 1) && strcmp(infos[i].name, name) == 0) return (option_id)i;
    return OPTION_COUNT;
}

preset_id preset_find(const char *name) {
    unsigned i = 0;
    while (i < PRESET_COUNT && strcmp(preset_names[i], name) != 0) i++;
    return (preset_id)i;
}

void options_preset(option_values *options, preset_id preset) {
    for (size_t i = 0; i < NTR_COUNT(infos); i++) options->value[i] = infos[i].preset[preset];
}

/* ---- options that exclude each other */

static bool is_power_of_two(uint64_t value) {
    return value && !(value & (value - 1));
}

static const char *check_encoder(const option_values *o, option_id *which) {
    const bool returns = OPTION(o, IMPLICIT_RETURN) & ~1ull;
    *which = OPTION_HART;
    if (OPTION(o, HART) == OPTION_NONE) return "an encoder needs its hart";
    *which = OPTION_XLEN;
    if (OPTION(o, XLEN) != 32 && OPTION(o, XLEN) != 64) return "expected 32 or 64";
    *which = OPTION_MODES;
    if (!OPTION(o, MODES) || (OPTION(o, MODES) & ~(1ull << 3 | 1ull << 6))) return "expected 3, 6 or both";
    *which = OPTION_SYNC_MODES;
    if (!(OPTION(o, SYNC_MODES) & ~1ull)) return "expected at least one value other than 0";
    *which = OPTION_SYNC_MAX;
    if (!OPTION(o, SYNC_MAX)) return "expected at least one value";
    *which = OPTION_SRC_BITS;
    if (!OPTION(o, SRC_BITS)) return "expected at least one value";
    *which = OPTION_ITYPE_WIDTH;
    if (returns && OPTION(o, ITYPE_WIDTH) == 3) return "implicit_return needs itype_width 4";
    *which = OPTION_FIFO_RESTART;
    if (OPTION(o, FIFO_RESTART) > OPTION(o, FIFO)) return "expected at most the size of the fifo";
    *which = OPTION_COMPARATORS;
    if (OPTION(o, COMPARATORS) && !OPTION(o, FILTERS)) return "comparators need filters";
    *which = OPTION_COMP_INPUTS;
    return OPTION(o, COMPARATORS) && !OPTION(o, COMP_INPUTS) ? "expected at least one value" : NULL;
}

static const char *check_ram(const option_values *o, option_id *which) {
    const bool fixed = OPTION(o, SMEM_START) != OPTION_NONE;
    const uint64_t end = OPTION(o, SMEM_START) + (OPTION(o, SMEM_SIZE) - 1);
    *which = OPTION_SRAM;
    if (OPTION(o, SRAM) && (!is_power_of_two(OPTION(o, SRAM)) || OPTION(o, SRAM) < 64))
        return "expected 0 or a power of two of at least 64";
    if (!OPTION(o, SRAM) && !OPTION(o, SMEM)) return "a RAM sink needs sram, smem or both";
    *which = OPTION_ACCESS;
    if (!is_power_of_two(OPTION(o, ACCESS))) return "expected a power of two";
    *which = OPTION_START_ALIGN;
    if (!is_power_of_two(OPTION(o, START_ALIGN)) || OPTION(o, START_ALIGN) < OPTION(o, ACCESS))
        return "expected a power of two of at least `access`";
    *which = OPTION_SMEM_SIZE;
    if (fixed && !OPTION(o, SMEM)) return "smem_start and smem_size need SMEM mode (smem)";
    if (fixed != (OPTION(o, SMEM_SIZE) != OPTION_NONE)) return "smem_start and smem_size are only valid together";
    if (fixed && (OPTION(o, SMEM_SIZE) % OPTION(o, ACCESS) || OPTION(o, SMEM_START) % OPTION(o, ACCESS)))
        return "smem_start and smem_size must be multiples of `access`";
    *which = OPTION_SMEM_START;
    if (fixed && (end < OPTION(o, SMEM_START) || end >> (OPTION(o, ADDRESS_BITS) - 1) > 1))
        return "expected an address of at most `address_bits` bits, also at the end of the buffer";
    *which = OPTION_LIMIT_FIXED;
    return OPTION(o, LIMIT_FIXED) && OPTION(o, SMEM) && !fixed ? "limit_fixed needs smem_start in SMEM mode" : NULL;
}

static const char *check_tmc(const option_values *o, option_id *which) {
    const bool has = OPTION(o, TMC_START) != OPTION_NONE;
    *which = OPTION_TMC_SRAM;
    if (OPTION(o, TMC_SRAM) % TMC_FRAME) return "expected a multiple of 16";
    *which = OPTION_TMC_MODES;
    if (!(OPTION(o, TMC_MODES) & 1u << TMC_CIRCULAR)) return "expected mode 0 among the values";
    *which = OPTION_TMC_BYTES;
    if (has != (OPTION(o, TMC_BYTES) != OPTION_NONE)) return "smem_start and smem_size are only valid together";
    if (has && OPTION(o, TMC_TYPE) != TMC_ETR) return "only an ETR has a buffer in system memory";
    if (has && (OPTION(o, TMC_BYTES) % TMC_FRAME || OPTION(o, TMC_START) % TMC_FRAME))
        return "smem_start and smem_size must be multiples of 16";
    return NULL;
}

static const char *check_timestamp(const option_values *o, option_id *which) {
    *which = OPTION_TS_MODES;
    if (!OPTION(o, TS_WIDTH)) return NULL;
    if (!OPTION(o, TS_MODES)) return "expected at least one value";
    *which = OPTION_TS_PRESCALE;
    return OPTION(o, TS_PRESCALE) ? NULL : "expected at least one value";
}

const char *options_check(const option_values *o, ntr_component component, option_id *which) {
    const char *wrong = NULL;
    switch (component) {
    case NTR_COMPONENT_ENCODER: wrong = check_encoder(o, which); break;
    case NTR_COMPONENT_RAM: return check_ram(o, which);
    case NTR_COMPONENT_PIB:
        *which = OPTION_PIB_MODES;
        return OPTION(o, PIB_MODES) & ~0x1f31ull || !(OPTION(o, PIB_MODES) & ~1ull)
                   ? "expected values from 0, 4, 5, 8, 9, 10, 11, 12, at least one of them not 0"
                   : NULL;
    case NTR_COMPONENT_ATB:
        *which = OPTION_ATB_WIDTH;
        return is_power_of_two(OPTION(o, ATB_WIDTH)) ? NULL : "expected a power of two";
    case NTR_COMPONENT_TMC: return check_tmc(o, which);
    case NTR_COMPONENT_CSFUNNEL: return NULL;
    default: break;
    }
    return wrong ? wrong : check_timestamp(o, which);
}
