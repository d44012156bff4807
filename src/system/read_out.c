/* What a debugger reads after a capture: stream parameters, and the trace of a RAM sink (Trace Control section 6.4). */
#include "system/bring_up.h"

#include "base/bytes.h"
#include "base/macros.h"

enum { WORD_BYTES = 4, CHUNK = 4096, CHUNK_WORDS = CHUNK / WORD_BYTES };

/* ---- stream parameters */

ntr_status bring_up_params(bring_up_bus *on, trace_component *encoder, ntr_params *params) {
    uint32_t control, features, time;
    TRY(bring_up_read(on, encoder, NTR_REGISTER_TE_CONTROL, 0, &control));
    TRY(bring_up_read(on, encoder, NTR_REGISTER_TE_INST_FEATURES, 0, &features));
    TRY(bring_up_read(on, encoder, NTR_REGISTER_TS_CONTROL, 0, &time));
#define FIELD(word, id) (((word) & NTR_##id##_MASK) >> NTR_##id##_SHIFT)
    ntr_params_init(params, NULL);
    if (!FIELD(control, TE_INHIBIT_SRC)) params->src_bits = (uint8_t)FIELD(features, TE_SRC_BITS);
    if (FIELD(features, TE_INST_EN_IMPLICIT_RETURN))
        params->implicit_return = (uint8_t)FIELD(features, TE_INST_IMPLICIT_RETURN_MODE);
    params->sequential_jump = FIELD(features, TE_INST_EN_SEQUENTIAL_JUMP);
    params->extend_addr = FIELD(features, TE_INST_EXTEND_ADDR_MSB);
    params->all_jumps = FIELD(features, TE_INST_EN_ALL_JUMPS);
    params->ts_width = (uint8_t)FIELD(time, TS_WIDTH);
    params->timestamps = FIELD(time, TS_ENABLE) ? NTR_TIMESTAMPS_ON : NTR_TIMESTAMPS_OFF;
#undef FIELD
    params->xlen = (uint8_t)OPTION(&encoder->options, XLEN);
    return NTR_OK;
}

/* ---- RAM sinks */

static ntr_status read_address(bring_up_bus *on, trace_component *ram, ntr_register low, ntr_register high,
                               uint64_t *address) {
    uint32_t words[2];
    TRY(bring_up_read(on, ram, low, 0, &words[0]));
    TRY(bring_up_read(on, ram, high, 0, &words[1]));
    *address = words[0] | (uint64_t)words[1] << 32;
    return NTR_OK;
}

ntr_status bring_up_window(bring_up_bus *on, trace_component *ram, ntr_ram_window *window) {
    uint64_t wp;
    *window = (ntr_ram_window){.access = (uint8_t)OPTION(&ram->options, ACCESS)};
    TRY(read_address(on, ram, NTR_REGISTER_RAM_START_LOW, NTR_REGISTER_RAM_START_HIGH, &window->start));
    TRY(read_address(on, ram, NTR_REGISTER_RAM_LIMIT_LOW, NTR_REGISTER_RAM_LIMIT_HIGH, &window->limit));
    TRY(read_address(on, ram, NTR_REGISTER_RAM_WP_LOW, NTR_REGISTER_RAM_WP_HIGH, &wp));
    window->wp = wp & ~(uint64_t)NTR_RAM_WRAP_MASK;
    window->wrapped = wp & NTR_RAM_WRAP_MASK;
    return NTR_OK;
}

/* Sets trRamRP. *sticks: the trace can be read through trRamData. Some sinks implement trRamRP and trRamData for SRAM
 * mode only. */
static ntr_status set_read_pointer(bring_up_bus *on, trace_component *ram, uint64_t address, bool *sticks) {
    uint64_t found;
    uint32_t smem;
    TRY(bring_up_get(on, ram, NTR_BITS_RAM_MODE, &smem));
    *sticks = false;
    if (smem && !OPTION(&ram->options, SMEM_READ)) return NTR_OK;
    TRY(bring_up_write(on, ram, NTR_REGISTER_RAM_RP_HIGH, 0, (uint32_t)(address >> 32)));
    TRY(bring_up_write(on, ram, NTR_REGISTER_RAM_RP_LOW, 0, (uint32_t)address));
    TRY(read_address(on, ram, NTR_REGISTER_RAM_RP_LOW, NTR_REGISTER_RAM_RP_HIGH, &found));
    *sticks = found == address;
    return NTR_OK;
}

static ntr_status fail_data(bring_up_bus *on, trace_component *ram) {
    on->fault = (bring_up_fault){.status = NTR_E_IO, .step = {.component = ram, .reg = NTR_REGISTER_RAM_DATA}};
    return NTR_E_IO;
}

static ntr_status read_words(bring_up_bus *on, trace_component *ram, uint8_t *bytes, size_t size) {
    const ntr_bus *bus = on->bus;
    const uint64_t address = ram->base + ntr_register_get(NTR_REGISTER_RAM_DATA)->offset;
    uint32_t words[CHUNK_WORDS] = {0};
    const size_t count = size / WORD_BYTES;
    if (bus->read_fifo) {
        if (bus->read_fifo(bus->user, address, words, count) != NTR_OK) return fail_data(on, ram);
    } else {
        for (size_t i = 0; i < count; i++)
            if (bus->read32(bus->user, address, &words[i]) != NTR_OK) return fail_data(on, ram);
    }
    for (size_t at = 0; at < size; at++) bytes[at] = (uint8_t)(words[at / WORD_BYTES] >> 8 * (at % WORD_BYTES));
    return NTR_OK;
}

static ntr_status read_memory(bring_up_bus *on, trace_component *ram, uint64_t address, uint8_t *bytes, size_t size) {
    const ntr_bus *bus = on->bus;
    if (bus->read_memory)
        return bus->read_memory(bus->user, address, bytes, size) == NTR_OK ? NTR_OK : fail_data(on, ram);
    for (size_t at = 0; at < size; at += WORD_BYTES) {
        uint32_t word;
        if (bus->read32(bus->user, address + at, &word) != NTR_OK) return fail_data(on, ram);
        ntr_little_put(bytes + at, word, WORD_BYTES);
    }
    return NTR_OK;
}

static ntr_status read_part(bring_up_bus *on, trace_component *ram, uint64_t address, uint64_t size, bool registers,
                            ntr_stream_sink sink, void *user) {
    uint8_t bytes[CHUNK];
    while (size) {
        const size_t part = size < CHUNK ? (size_t)size : CHUNK;
        TRY(registers ? read_words(on, ram, bytes, part) : read_memory(on, ram, address, bytes, part));
        TRY(sink(user, 0, bytes, part));
        address += part;
        size -= part;
    }
    return NTR_OK;
}

/* After the last word, trRamRP is where trRamWP is. A sink that ignores trRamRP, or a read that was performed twice,
 * shows here. */
static ntr_status verify(bring_up_bus *on, trace_component *ram, const ntr_ram_window *window, bool *verified) {
    uint64_t found;
    TRY(read_address(on, ram, NTR_REGISTER_RAM_RP_LOW, NTR_REGISTER_RAM_RP_HIGH, &found));
    *verified = found == window->wp;
    return NTR_OK;
}

ntr_status bring_up_read_ram(bring_up_bus *on, trace_component *ram, ntr_stream_sink sink, void *user, bool *cut,
                             bool *verified) {
    ntr_ram_window window;
    ntr_ram_part parts[2];
    uint32_t enabled, empty, stops;
    bool registers = false;
    TRY(bring_up_get(on, ram, NTR_BITS_RAM_ENABLE, &enabled));
    TRY(bring_up_get(on, ram, NTR_BITS_RAM_EMPTY, &empty));
    TRY(bring_up_get(on, ram, NTR_BITS_RAM_STOP_ON_WRAP, &stops));
    if (enabled || !empty) return NTR_E_STATE;
    TRY(bring_up_window(on, ram, &window));
    if (cut) *cut = window.wrapped && !(stops && window.wp == window.start);
    if (verified) *verified = true;
    TRY(ntr_ram_parts(&window, parts));
    if (parts[0].size) TRY(set_read_pointer(on, ram, window.start + parts[0].offset, &registers));
    for (unsigned i = 0; i < 2; i++)
        TRY(read_part(on, ram, window.start + parts[i].offset, parts[i].size, registers, sink, user));
    return registers && verified ? verify(on, ram, &window, verified) : NTR_OK;
}
