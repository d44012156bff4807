/* Registers: any accesses, ingress, time and triggers. Read-only fields do not change, reserved bits read 0. */
#include "fuzz.h"

#include <ntrace/system.h>
#include <stdlib.h>
#include <string.h>

enum { COMPONENTS = 7, OPERATIONS_MAX = 2000 };

static const char topology[] =
    "{\"components\":["
    "{\"name\":\"t0\",\"type\":\"encoder\",\"preset\":\"maximal\",\"base\":0,\"hart\":0,\"to\":[\"f\",\"p\"],\"ts_source\":\"f\"},"
    "{\"name\":\"t1\",\"type\":\"encoder\",\"preset\":\"typical\",\"base\":4096,\"hart\":1,\"to\":\"f\",\"fifo\":128,"
    "\"fifo_restart\":0,\"rate\":1,\"rate_cycles\":3},"
    "{\"name\":\"f\",\"type\":\"funnel\",\"preset\":\"maximal\",\"base\":8192,\"to\":[\"r\",\"g\"],\"rate\":2},"
    "{\"name\":\"r\",\"type\":\"ram\",\"preset\":\"maximal\",\"base\":12288,\"sram\":4096,\"rate\":3},"
    "{\"name\":\"p\",\"type\":\"pib\",\"preset\":\"maximal\",\"base\":16384},"
    "{\"name\":\"g\",\"type\":\"funnel\",\"base\":20480,\"to\":\"a\"},"
    "{\"name\":\"a\",\"type\":\"atb\",\"preset\":\"maximal\",\"base\":24576,\"rate\":1}]}";

static const ntr_component kinds[COMPONENTS] = {NTR_COMPONENT_ENCODER, NTR_COMPONENT_ENCODER, NTR_COMPONENT_FUNNEL,
                                                NTR_COMPONENT_RAM,     NTR_COMPONENT_PIB,     NTR_COMPONENT_FUNNEL,
                                                NTR_COMPONENT_ATB};

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static bool memory_write(void *user, uint64_t address, const uint8_t *bytes, size_t size) {
    (void)user, (void)bytes;
    fuzz_must(size == 4 || size == 8 || size == 16 || size == 32 || size == 64 || size == 128, "accesses have a width");
    return address < 1ull << 40;
}

static bool memory_read(void *user, uint64_t address, uint8_t *out, size_t size) {
    (void)user;
    memset(out, 0x5a, size);
    return address < 1ull << 40;
}

static bool transfer(void *user, unsigned component, unsigned id, const uint8_t *bytes, size_t size) {
    unsigned *turn = user;
    (void)component;
    fuzz_must(id > 0 && id < NTR_ATB_ID_RESERVED && bytes && size > 0 && size <= 16, "transfers are of the bus");
    return ++*turn % 3 != 0;
}

static uint32_t known_bits(ntr_component kind, uint32_t offset) {
    unsigned number;
    uint32_t known = 0;
    const ntr_register reg = ntr_register_at(kind, offset, &number);
    for (unsigned bits = 0; reg != NTR_REGISTER_COUNT && bits < NTR_BITS_COUNT; bits++)
        if (ntr_bits_get(bits)->reg == reg) known |= ntr_bits_mask(ntr_bits_get(bits));
    return known;
}

static void access_register(ntr_system *system, fuzz_tape *tape, bool write) {
    unsigned index = fuzz_byte(tape) % (COMPONENTS + 1);
    uint32_t offset = (uint32_t)fuzz_number(tape, 2) & 0xffc, word = 0;
    uint64_t address = 0x1000ull * index + offset;
    if (write) {
        uint8_t shape = fuzz_byte(tape);
        word = shape & 0x80 ? (uint32_t)fuzz_number(tape, 4) : 1u << (shape & 31) | (shape >> 5);
        ntr_system_write32(system, address, word);
        return;
    }
    ntr_status status = ntr_system_read32(system, address, &word);
    fuzz_must((status == NTR_OK) == (index < COMPONENTS), "components keep their addresses");
    if (index < COMPONENTS) fuzz_must((word & ~known_bits(kinds[index], offset)) == 0, "reserved bits read 0");
}

static void push(ntr_system *system, fuzz_tape *tape) {
    ntr_ingress block = {.ilastsize = 1, .priv = NTR_PRIV_M};
    uint8_t what = fuzz_byte(tape), how = fuzz_byte(tape);
    block.itype = what & 15;
    block.cycle = what & 16;
    block.halted = (what & 0xe0) == 0xe0;
    block.reset = (what & 0xe0) == 0xc0;
    block.trigger = how & 8 ? how & 7 : 0;
    block.iretire = block.halted || block.reset ? 0 : 2u * (how >> 5);
    block.iaddr = 0x80000000 + 2 * fuzz_number(tape, 1);
    block.scontext = how & 16 ? fuzz_byte(tape) : 0;
    block.time = fuzz_number(tape, 1) << 4;
    ntr_status status = ntr_system_push(system, how & 1, &block);
    fuzz_must(status == NTR_OK || status == NTR_NEED_MORE || status == NTR_E_INGRESS,
              "ingress is accepted, waits or is refused");
}

static ntr_status drop(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    (void)user, (void)id, (void)bytes, (void)size;
    return NTR_OK;
}

static void operate(ntr_system *system, fuzz_tape *tape) {
    ntr_params params;
    bool cut;
    switch (fuzz_byte(tape) & 15) {
    case 0:
    case 1:
    case 2:
    case 3: access_register(system, tape, true); break;
    case 4:
    case 5: access_register(system, tape, false); break;
    case 6:
    case 7:
    case 8:
    case 9: push(system, tape); break;
    case 10: ntr_system_step(system, fuzz_byte(tape)); break;
    case 11: ntr_system_trigger(system, fuzz_byte(tape) & 1, fuzz_byte(tape) & 7); break;
    case 12: ntr_system_start(system); break;
    case 13: ntr_system_stop(system); break;
    case 14: ntr_system_set_time(system, fuzz_number(tape, 8)); break;
    default:
        ntr_system_read_ram(system, 3, drop, NULL, &cut);
        ntr_system_params(system, 0, &params);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    char error[256];
    unsigned turn = 0;
    const ntr_system_config config = {.size = sizeof config,
                                      .topology = {(const uint8_t *)topology, sizeof topology - 1},
                                      .memory_write = memory_write,
                                      .memory_read = memory_read,
                                      .user = &turn,
                                      .outputs = {.transfer = transfer},
                                      .error = error,
                                      .error_size = sizeof error};
    ntr_system *system;
    ntr_system_new(&config, &system);
    fuzz_must(system != NULL, "the topology is valid");
    for (unsigned i = 0; i < OPERATIONS_MAX && tape.at < tape.size; i++) operate(system, &tape);
    ntr_system_free(system);
    return 0;
}
