/* Start, stop and read-out of trace hardware as a debugger does it: the components, their addresses and connections
 * are known, and all access is through registers (Trace Control sections 6.4 and 10). */
#include "system/system.h"

#include <inttypes.h>
#include <stdio.h>

enum { POLLS = 1 << 17, WORD_BYTES = 4 };

static ntr_status fail(ntr_system *system, const trace_component *component, const char *what) {
    snprintf(system->error, sizeof system->error, "%s: %s", component->name, what);
    return NTR_E_STATE;
}

/* ---- registers and fields */

static uint32_t read_register(const trace_component *component, ntr_register reg) {
    uint32_t word;
    ntr_system_read32(component->system, component->base + ntr_register_get(reg)->offset, &word);
    return word;
}

static void write_register(const trace_component *component, ntr_register reg, uint32_t word) {
    ntr_system_write32(component->system, component->base + ntr_register_get(reg)->offset, word);
}

static uint32_t read_field(const trace_component *component, ntr_bits bits) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    return ntr_bits_value(info, read_register(component, (ntr_register)info->reg));
}

/* Writes the field and returns its value read back. */
static uint32_t write_field(const trace_component *component, ntr_bits bits, uint32_t value) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    const uint32_t word = read_register(component, (ntr_register)info->reg) & ~ntr_bits_mask(info);
    write_register(component, (ntr_register)info->reg, word | (value << info->low & ntr_bits_mask(info)));
    return read_field(component, bits);
}

static bool wait_field(const trace_component *component, ntr_bits bits, uint32_t value) {
    for (unsigned tries = 0; tries < POLLS; tries++) {
        if (read_field(component, bits) == value) return true;
        ntr_system_step(component->system, 1);
    }
    return false;
}

/* ---- start (sections 10.1 and 10.2) */

static ntr_status activate(trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    write_register(component, bits->control, 0);
    if (!wait_field(component, bits->active, 0)) return fail(component->system, component, "does not reset");
    write_register(component, bits->control, 1);
    if (!wait_field(component, bits->active, 1)) return fail(component->system, component, "does not become active");
    if (read_field(component, bits->major) != 1) return fail(component->system, component, "is not of version 1");
    return NTR_OK;
}

static bool is_set(const ntr_system *system, const trace_component *component, ntr_bits bits) {
    for (size_t i = 0; i < system->setting_count; i++)
        if (system->settings[i].component == component && system->settings[i].bits == bits) return true;
    return false;
}

/* Sets a field that the topology does not set: tries the values in order until one reads back unchanged. */
static void try_values(trace_component *component, ntr_bits bits, const uint32_t *values, size_t count) {
    if (is_set(component->system, component, bits)) return;
    for (size_t i = 0; i < count; i++)
        if (write_field(component, bits, values[i]) == values[i]) return;
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

static void configure_encoder(trace_component *component) {
    static const uint32_t modes[] = {NTR_INST_MODE_HTM, NTR_INST_MODE_BTM};
    static const uint32_t sync_modes[] = {NTR_SYNC_MODE_HALFWORDS, NTR_SYNC_MODE_CYCLES, NTR_SYNC_MODE_MESSAGES};
    static const uint32_t sync_maxima[] = {8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15, 0};
    static const uint32_t format[] = {1};
    uint32_t widths[13];
    size_t count = 0;
    for (uint32_t bits = src_bits_needed(component->system); bits <= 12; bits++) widths[count++] = bits;
    try_values(component, NTR_BITS_TE_FORMAT, format, 1);
    try_values(component, NTR_BITS_TE_INST_MODE, modes, 2);
    try_values(component, NTR_BITS_TE_INST_SYNC_MODE, sync_modes, 3);
    try_values(component, NTR_BITS_TE_INST_SYNC_MAX, sync_maxima, 16);
    try_values(component, NTR_BITS_TE_SRC_BITS, widths, count);
    if (!is_set(component->system, component, NTR_BITS_TE_SRC_ID) && read_field(component, NTR_BITS_TE_SRC_BITS))
        write_field(component, NTR_BITS_TE_SRC_ID, (uint32_t)OPTION(&component->options, HART));
}

/* Prefers the 4-bit mode, which most probes support (section 11). */
static void configure_pib(trace_component *component) {
    static const uint32_t modes[] = {10, 11, 9, 8, 12, 5, 4};
    try_values(component, NTR_BITS_PIB_MODE, modes, 7);
}

/* Gives each bridge of the system a trace ID of its own. */
static void configure_atb(trace_component *component) {
    const uint32_t id = 0x10 + component->index % 0x60;
    try_values(component, NTR_BITS_ATB_ID, &id, 1);
}

/* Sets the write pointer to the start of the buffer: empty. */
static void configure_ram(trace_component *component) {
    write_register(component, NTR_REGISTER_RAM_WP_HIGH, read_register(component, NTR_REGISTER_RAM_START_HIGH));
    write_register(component, NTR_REGISTER_RAM_WP_LOW, read_register(component, NTR_REGISTER_RAM_START_LOW));
}

static ntr_status configure(trace_component *component) {
    const ntr_system *system = component->system;
    for (size_t i = 0; i < system->setting_count; i++) {
        const setting *one = &system->settings[i];
        if (one->component != component) continue;
        if (write_field(component, one->bits, one->value) == one->value) continue;
        snprintf(component->system->error, sizeof system->error, "%s: %s rejects the value %" PRIu32, component->name,
                 ntr_bits_get(one->bits)->name, one->value);
        return NTR_E_STATE;
    }
    switch (component->ops->kind) {
    case NTR_COMPONENT_ENCODER: configure_encoder(component); break;
    case NTR_COMPONENT_RAM: configure_ram(component); break;
    case NTR_COMPONENT_PIB: configure_pib(component); break;
    case NTR_COMPONENT_ATB: configure_atb(component); break;
    default: break;
    }
    return NTR_OK;
}

static ntr_status enable(trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    write_field(component, bits->enable, 1);
    if (!wait_field(component, bits->enable, 1)) return fail(component->system, component, "cannot be enabled");
    if (component->ops->kind == NTR_COMPONENT_ENCODER) write_field(component, NTR_BITS_TE_INST_TRACING, 1);
    return NTR_OK;
}

typedef ntr_status (*bring_up_step)(trace_component *component);

/* Applies `act` to all components, sinks first and encoders last. */
static ntr_status for_each(ntr_system *system, bring_up_step act) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < system->count && status == NTR_OK; i++) status = act(system->downstream[i]);
    return status;
}

ntr_status ntr_system_start(ntr_system *system) {
    system->error[0] = 0;
    ntr_status status = for_each(system, activate);
    if (status == NTR_OK) status = for_each(system, configure);
    return status == NTR_OK ? for_each(system, enable) : status;
}

/* ---- stop (section 10.3) */

static ntr_status disable(trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    if (!read_field(component, bits->active)) return NTR_OK;
    write_field(component, bits->enable, 0);
    if (wait_field(component, bits->enable, 0) && wait_field(component, bits->empty, 1)) return NTR_OK;
    return fail(component->system, component, "does not become empty");
}

/* Disables senders before their receivers. A component that does not become empty does not stop the procedure. */
ntr_status ntr_system_stop(ntr_system *system) {
    ntr_status status = NTR_OK;
    system->error[0] = 0;
    for (size_t i = system->count; i-- > 0;) {
        const ntr_status one = disable(system->downstream[i]);
        if (status == NTR_OK) status = one;
    }
    return status;
}

/* ---- stream parameters for a decoder */

ntr_status ntr_system_params(ntr_system *system, unsigned hart, ntr_params *params) {
    const trace_component *te = hart < HARTS_MAX ? system->of_hart[hart] : NULL;
    if (!te) return NTR_E_RANGE;
    ntr_params_init(params, NULL);
    if (!read_field(te, NTR_BITS_TE_INHIBIT_SRC)) params->src_bits = (uint8_t)read_field(te, NTR_BITS_TE_SRC_BITS);
    if (read_field(te, NTR_BITS_TE_INST_EN_IMPLICIT_RETURN))
        params->implicit_return = (uint8_t)read_field(te, NTR_BITS_TE_INST_IMPLICIT_RETURN_MODE);
    params->sequential_jump = read_field(te, NTR_BITS_TE_INST_EN_SEQUENTIAL_JUMP);
    params->extend_addr = read_field(te, NTR_BITS_TE_INST_EXTEND_ADDR_MSB);
    params->all_jumps = read_field(te, NTR_BITS_TE_INST_EN_ALL_JUMPS);
    params->ts_width = (uint8_t)read_field(te, NTR_BITS_TS_WIDTH);
    params->timestamps = read_field(te, NTR_BITS_TS_ENABLE) ? NTR_TIMESTAMPS_ON : NTR_TIMESTAMPS_OFF;
    params->xlen = (uint8_t)OPTION(&te->options, XLEN);
    return NTR_OK;
}

/* ---- reading a RAM sink (section 6.4) */

static uint64_t read_address(const trace_component *component, ntr_register low, ntr_register high) {
    return read_register(component, low) | (uint64_t)read_register(component, high) << 32;
}

static ntr_ram_window read_window(const trace_component *component) {
    const uint64_t wp = read_address(component, NTR_REGISTER_RAM_WP_LOW, NTR_REGISTER_RAM_WP_HIGH);
    return (ntr_ram_window){
        .start = read_address(component, NTR_REGISTER_RAM_START_LOW, NTR_REGISTER_RAM_START_HIGH),
        .limit = read_address(component, NTR_REGISTER_RAM_LIMIT_LOW, NTR_REGISTER_RAM_LIMIT_HIGH),
        .wp = wp & ~(uint64_t)NTR_RAM_WRAP_MASK,
        .wrapped = wp & NTR_RAM_WRAP_MASK,
        .access = (uint8_t)OPTION(&component->options, ACCESS),
    };
}

/* Reads a word through trRamData, or from system memory. */
static bool read_word(const trace_component *component, bool through_registers, uint64_t address,
                      uint8_t bytes[WORD_BYTES]) {
    const ntr_system_config *config = component->config;
    if (!through_registers) return config->memory_read && config->memory_read(config->user, address, bytes, WORD_BYTES);
    const uint32_t word = read_register(component, NTR_REGISTER_RAM_DATA);
    for (unsigned i = 0; i < WORD_BYTES; i++) bytes[i] = (uint8_t)(word >> 8 * i);
    return true;
}

static bool set_read_pointer(const trace_component *component, uint64_t address) {
    write_register(component, NTR_REGISTER_RAM_RP_HIGH, (uint32_t)(address >> 32));
    write_register(component, NTR_REGISTER_RAM_RP_LOW, (uint32_t)address);
    return read_address(component, NTR_REGISTER_RAM_RP_LOW, NTR_REGISTER_RAM_RP_HIGH) == address;
}

/* Sets trRamRP. Returns whether the trace can be read through trRamData. Some sinks implement trRamRP and trRamData for
 * SRAM mode only. */
static bool has_data(const trace_component *component, uint64_t address) {
    if (read_field(component, NTR_BITS_RAM_MODE) && !OPTION(&component->options, SMEM_READ)) return false;
    return set_read_pointer(component, address);
}

static ntr_status read_part(const trace_component *component, uint64_t address, uint64_t size, ntr_stream_sink sink,
                            void *user) {
    enum { CHUNK = 256 };
    uint8_t bytes[CHUNK];
    const bool registers = size && has_data(component, address);
    while (size) {
        const size_t part = size < CHUNK ? (size_t)size : CHUNK;
        for (size_t at = 0; at < part; at += WORD_BYTES)
            if (!read_word(component, registers, address + at, bytes + at)) return NTR_E_IO;
        const ntr_status status = sink(user, 0, bytes, part);
        if (status != NTR_OK) return status;
        address += part;
        size -= part;
    }
    return NTR_OK;
}

ntr_status ntr_system_read_ram(ntr_system *system, size_t index, ntr_stream_sink sink, void *user, bool *cut) {
    ntr_ram_part parts[2];
    if (index >= system->count || system->components[index]->ops->kind != NTR_COMPONENT_RAM) return NTR_E_INVALID;
    const trace_component *component = system->components[index];
    if (read_field(component, NTR_BITS_RAM_ENABLE) || !read_field(component, NTR_BITS_RAM_EMPTY)) return NTR_E_STATE;
    const ntr_ram_window window = read_window(component);
    if (cut) *cut = window.wrapped && !(read_field(component, NTR_BITS_RAM_STOP_ON_WRAP) && window.wp == window.start);
    ntr_status status = ntr_ram_parts(&window, parts);
    for (unsigned i = 0; i < 2 && status == NTR_OK; i++)
        status = read_part(component, window.start + parts[i].offset, parts[i].size, sink, user);
    return status;
}
