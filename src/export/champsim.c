/* Trace of ChampSim (input_instr): 64 bytes for each retired instruction of one hart.
 *
 * ChampSim tells the kinds of branches by registers of x86: the instruction pointer, the stack pointer and the flags
 * (CHAMPSIM_*). They are added to branches, calls and returns as its rules want them; registers of RISC-V have other
 * numbers, so that no real stack pointer makes a call of a branch. Example: a return writes IP and SP, and reads SP and
 * the register with its address. Addresses of loads and stores: one_hart.h. */
#include "base/bytes.h"
#include "export/one_hart.h"
#include "export/registers.h"

enum {
    CHAMPSIM_SP = 6,
    CHAMPSIM_FLAGS = 25,
    CHAMPSIM_IP = 26,
    CHAMPSIM_REGISTERS = 64, /* number of x0; f0 and v0 follow */
    CHAMPSIM_CSR = 63,       /* stands for a CSR with an address, which a return from a trap reads */
    CHAMPSIM_DESTINATIONS = 2,
    CHAMPSIM_SOURCES = 4,
    CHAMPSIM_BYTES = 64,
};

typedef struct champsim_insn {
    bool is_branch, taken;
    uint8_t destinations[CHAMPSIM_DESTINATIONS], sources[CHAMPSIM_SOURCES];
    uint64_t stored[CHAMPSIM_DESTINATIONS], loaded[CHAMPSIM_SOURCES];
} champsim_insn;

static ntr_status begin(ntr_export *x) {
    return ntr_one_hart_begin(x->state, x);
}

static void put_into(uint8_t *list, unsigned size, unsigned number) {
    unsigned at = 0;
    while (at < size && list[at]) at++;
    if (at < size && number) list[at] = (uint8_t)number;
}

static unsigned renamed(unsigned reg) {
    return reg ? CHAMPSIM_REGISTERS + reg : 0;
}

static void reads(champsim_insn *c, unsigned number) {
    put_into(c->sources, CHAMPSIM_SOURCES, number);
}

static void writes(champsim_insn *c, unsigned number) {
    put_into(c->destinations, CHAMPSIM_DESTINATIONS, number);
}

static void read_sources(champsim_insn *c, const ntr_insn_registers *r) {
    for (unsigned i = 0; i < NTR_REGISTER_SOURCES; i++) reads(c, renamed(r->sources[i]));
}

/* A jump whose address is in a register; x0 holds the address 0. */
static void read_target(champsim_insn *c, unsigned reg) {
    reads(c, reg ? renamed(reg) : CHAMPSIM_CSR);
}

static void describe(champsim_insn *c, const ntr_instruction *i, const ntr_insn_registers *r, bool taken) {
    const bool call = i->insn.flow == NTR_FLOW_DIRECT_CALL || i->insn.flow == NTR_FLOW_INDIRECT_CALL ||
                      i->insn.flow == NTR_FLOW_CO_SWAP;
    c->is_branch = i->insn.flow != NTR_FLOW_LINEAR;
    c->taken = c->is_branch && (taken || i->insn.flow != NTR_FLOW_BRANCH);
    if (c->is_branch) writes(c, CHAMPSIM_IP);
    if (call) {
        writes(c, CHAMPSIM_SP);
        reads(c, CHAMPSIM_IP);
        reads(c, CHAMPSIM_SP);
    }
    switch (i->insn.flow) {
    case NTR_FLOW_BRANCH:
        reads(c, CHAMPSIM_IP);
        read_sources(c, r);
        if (!c->sources[1]) reads(c, CHAMPSIM_FLAGS); /* x0 and x0 */
        break;
    case NTR_FLOW_DIRECT_JUMP: writes(c, renamed(r->destination)); break;
    case NTR_FLOW_DIRECT_CALL: break;
    case NTR_FLOW_INDIRECT_JUMP: writes(c, renamed(r->destination)); /* fall through */
    case NTR_FLOW_INDIRECT_CALL:
    case NTR_FLOW_CO_SWAP: read_target(c, i->insn.rs1); break;
    case NTR_FLOW_RETURN:
        writes(c, CHAMPSIM_SP);
        reads(c, CHAMPSIM_SP);
        read_target(c, i->insn.rs1);
        break;
    case NTR_FLOW_TRAP_RETURN: reads(c, CHAMPSIM_CSR); break;
    default:
        read_sources(c, r);
        writes(c, renamed(r->destination));
        break;
    }
}

static void take_accesses(ntr_one_hart *h, champsim_insn *c, const ntr_instruction *i) {
    ntr_memory_access list[CHAMPSIM_DESTINATIONS + CHAMPSIM_SOURCES];
    unsigned loads = 0, stores = 0;
    const unsigned count = ntr_one_hart_accesses(h, i, list, sizeof list / sizeof *list);
    for (unsigned k = 0; k < count; k++) {
        if (list[k].store && stores < CHAMPSIM_DESTINATIONS) c->stored[stores++] = list[k].address;
        if (!list[k].store && loads < CHAMPSIM_SOURCES) c->loaded[loads++] = list[k].address;
    }
}

static void write_insn(ntr_export *x, const champsim_insn *c, uint64_t address) {
    uint8_t bytes[CHAMPSIM_BYTES], *at = bytes;
    ntr_little_put(at, address, 8), at += 8;
    *at++ = c->is_branch;
    *at++ = c->taken;
    for (unsigned i = 0; i < CHAMPSIM_DESTINATIONS; i++) *at++ = c->destinations[i];
    for (unsigned i = 0; i < CHAMPSIM_SOURCES; i++) *at++ = c->sources[i];
    for (unsigned i = 0; i < CHAMPSIM_DESTINATIONS; i++) ntr_little_put(at, c->stored[i], 8), at += 8;
    for (unsigned i = 0; i < CHAMPSIM_SOURCES; i++) ntr_little_put(at, c->loaded[i], 8), at += 8;
    ntr_out_bytes(&x->out, bytes, sizeof bytes);
}

static ntr_status take_span(ntr_export *x, ntr_one_hart *h, const ntr_event *e) {
    ntr_instruction i;
    ntr_status status = NTR_OK;
    for (uint32_t n = 0; n < e->instructions && (status = ntr_instructions_next(h->instructions, &i)) == NTR_OK; n++) {
        const ntr_insn_registers registers = ntr_registers_of(i.bits, i.insn.size, h->accesses.values.xlen);
        champsim_insn c = {0};
        describe(&c, &i, &registers, n + 1 == e->instructions && e->end == NTR_SPAN_TAKEN);
        take_accesses(h, &c, &i);
        write_insn(x, &c, i.address);
    }
    ntr_one_hart_after(h, e);
    return status;
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status; i++)
        if (ntr_one_hart_take(x->state, &list[i], &status)) status = take_span(x, x->state, &list[i]);
    return status;
}

static ntr_status end(ntr_export *x) {
    return ntr_one_hart_end(x->state, x, "0");
}

static void release(ntr_export *x) {
    ntr_one_hart_release(x->state, x);
}

const ntr_exporter ntr_exporter_champsim = {
    .name = "champsim",
    .family = "export",
    .summary = "trace of ChampSim of one hart (64 bytes an instruction); addresses of memory need 'run --data'",
    .aliases = {NULL},
    .needs = NTR_NEEDS_EVENTS,
    .state_size = sizeof(ntr_one_hart),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
};
