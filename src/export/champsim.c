/* Trace of ChampSim (input_instr): 64 bytes for each retired instruction of one hart.
 *
 * ChampSim tells the kinds of branches by registers of x86: the instruction pointer, the stack pointer and the flags
 * (CHAMPSIM_*). They are added to branches, calls and returns as its rules want them; registers of RISC-V have other
 * numbers, so that no real stack pointer makes a call of a branch. Example: a return writes IP and SP, and reads SP and
 * the register with its address.
 *
 * Addresses of loads and stores are known when the trace has all of them (`run --data`, accesses.h). Where they do not
 * fit the instructions, they are left out up to the next place where tracing stopped, at which none is under way. */
#include "export/export.h"

#include "base/allocator.h"
#include "base/bytes.h"
#include "decision/accesses.h"
#include "export/registers.h"

#include <ntrace/instructions.h>
#include <stdio.h>

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

typedef struct champsim_writer {
    ntr_instructions *instructions;
    ntr_accesses accesses;
    bool has_source, has_other, has_data;
    uint16_t src, other;
    uint64_t expected; /* where the next instruction is; 0: not known */
    uint64_t known, unknown; /* loads and stores with an address, and without */
    uint64_t surplus; /* accesses that no instruction took although none was refused */
} champsim_writer;

static ntr_status begin(ntr_export *x) {
    champsim_writer *w = x->state;
    ntr_instructions_new(x->analysis.program, x->allocator, &w->instructions);
    w->accesses.allocator = x->allocator;
    w->accesses.values.xlen = ntr_program_xlen(x->analysis.program) == 32 ? 32 : 64;
    return w->instructions ? NTR_OK : NTR_E_MEMORY;
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

/* Fills in the addresses of the accesses of an instruction. */
static void take_accesses(champsim_writer *w, champsim_insn *c, const ntr_instruction *i) {
    ntr_accesses *a = &w->accesses;
    ntr_access_insn insn = {.address = i->address, .size = i->insn.size};
    unsigned loads = 0, stores = 0;
    ntr_access_insn_decode(&insn, (uint32_t)i->bits, a->values.xlen);
    const size_t first = a->first;
    if (!a->refused) ntr_accesses_execute(a, &insn);
    for (size_t at = first; !a->refused && at < a->first; at++) {
        const ntr_memory_access *access = &a->queue[at];
        if (!access->located) continue;
        if (access->store && stores < CHAMPSIM_DESTINATIONS) c->stored[stores++] = access->address;
        if (!access->store && loads < CHAMPSIM_SOURCES) c->loaded[loads++] = access->address;
    }
    if (loads || stores)
        w->known++;
    else if (insn.access && (insn.access != NTR_ACCESS_ATOMIC || a->refused))
        w->unknown++; /* SC that fails has no access */
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

static ntr_status take_span(ntr_export *x, champsim_writer *w, const ntr_event *e) {
    ntr_instruction i;
    ntr_status status = NTR_OK;
    if (e->address != w->expected) ntr_accesses_forget(&w->accesses);
    ntr_instructions_begin(w->instructions, e);
    for (uint32_t n = 0; n < e->instructions && (status = ntr_instructions_next(w->instructions, &i)) == NTR_OK; n++) {
        const ntr_insn_registers registers = ntr_registers_of(i.bits, i.insn.size, w->accesses.values.xlen);
        champsim_insn c = {0};
        describe(&c, &i, &registers, n + 1 == e->instructions && e->end == NTR_SPAN_TAKEN);
        take_accesses(w, &c, &i);
        write_insn(x, &c, i.address);
    }
    w->expected = e->end >= NTR_SPAN_EXCEPTION || e->flags & NTR_EVENT_TARGET_UNKNOWN ? 0 : e->target;
    return status;
}

static bool is_other(champsim_writer *w, const ntr_event *e) {
    if (!w->has_source) w->src = e->src;
    w->has_source = true;
    if (e->src == w->src) return false;
    w->other = e->src;
    w->has_other = true; /* `end` has the error, and its sentence */
    return true;
}

/* No access is under way. */
static void stop(champsim_writer *w) {
    ntr_accesses *a = &w->accesses;
    if (!a->refused) w->surplus += a->count - a->first;
    a->first = a->count = 0;
    a->refused = false;
    ntr_accesses_forget(a);
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    champsim_writer *w = x->state;
    ntr_accesses *a = &w->accesses;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status && !w->has_other; i++) {
        const ntr_event *e = &list[i];
        switch (e->kind) {
        case NTR_EVENT_ACCESS:
            if (is_other(w, e)) break;
            w->has_data = true;
            if (!a->refused) status = ntr_accesses_add(a, e);
            break;
        case NTR_EVENT_SPAN:
            if (e->instructions && !is_other(w, e)) status = take_span(x, w, e);
            break;
        case NTR_EVENT_STOP: stop(w); break;
        case NTR_EVENT_GAP:
        case NTR_EVENT_NO_CODE:
        case NTR_EVENT_OVERFLOW: a->refused = true; break;
        default: break;
        }
    }
    return status;
}

static ntr_status end(ntr_export *x) {
    champsim_writer *w = x->state;
    if (w->has_other) {
        snprintf(x->error, sizeof x->error, "expected one hart, found those with SRC %u and %u; select one with --src",
                 w->src, w->other);
        return NTR_E_UNSUPPORTED;
    }
    stop(w);
    if (w->surplus)
        snprintf(x->loss, sizeof x->loss,
                 "%llu loads and stores of the trace belong to no instruction: addresses may be those of others",
                 (unsigned long long)w->surplus);
    else if (!w->unknown)
        return NTR_OK;
    else if (w->has_data)
        snprintf(x->loss, sizeof x->loss, "%llu of %llu loads and stores have no address (0 in the file)",
                 (unsigned long long)w->unknown, (unsigned long long)(w->unknown + w->known));
    else
        snprintf(x->loss, sizeof x->loss,
                 "the trace has no loads and stores: all addresses of memory are 0; 'ntrace run --data' records them");
    return NTR_OK;
}

static void release(ntr_export *x) {
    champsim_writer *w = x->state;
    ntr_instructions_free(w->instructions);
    ntr_dealloc(x->allocator, w->accesses.queue);
}

const ntr_exporter ntr_exporter_champsim = {
    .name = "champsim",
    .family = "export",
    .summary = "trace of ChampSim of one hart (64 bytes an instruction); addresses of memory need 'run --data'",
    .aliases = {NULL},
    .needs = NTR_NEEDS_EVENTS,
    .state_size = sizeof(champsim_writer),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
};
