#include "decision/witness.h"

#include "base/allocator.h"
#include "base/bytes.h"
#include "decision/values.h"

#include <string.h>

enum { CODE_SLOTS = 1 << 14 };

/* What an instruction does with memory. */
enum access_kind { ACCESS_NONE, ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_OTHER };

/* An instruction that was decoded. */
typedef struct known_insn {
    uint64_t address;
    uint32_t bits;   /* expanded; 0: only its access is known */
    uint8_t size;    /* 0: an empty slot */
    uint8_t access, bytes, base, reg; /* reg: 0 for registers of floating-point numbers */
    int16_t offset;
    bool is_root;
} known_insn;

typedef struct data_access {
    uint64_t address, value;
    uint8_t bytes;
    bool store, located;
} data_access;

struct ntr_witness {
    const ntr_allocator *allocator;
    const ntr_code_map *map;
    ntr_values values;
    known_insn *code;      /* a cache, by address */
    data_access *queue;    /* accesses that no instruction has taken */
    size_t first, count, capacity;
    uint64_t *operands;    /* by branch of the map */
    bool *known;
    uint64_t expected;     /* where the next instruction is; 0: not known */
    uint16_t src;
    bool active;           /* an access was seen */
    bool refused;
};

/* ---- instructions ------------------------------------------------------------------------------ */

/* Sets what an instruction does. */
static void set_access(known_insn *k, enum access_kind access, unsigned bytes, unsigned base, int offset,
                       unsigned reg) {
    k->access = (uint8_t)access;
    k->bytes = (uint8_t)bytes;
    k->base = (uint8_t)base;
    k->offset = (int16_t)offset;
    k->reg = (uint8_t)reg;
}

static int immediate_of(uint32_t insn, bool store) {
    const uint32_t imm = store ? insn >> 25 << 5 | (insn >> 7 & 31) : insn >> 20;
    return (int)((imm ^ 0x800) - 0x800);
}

/* Compressed loads and stores of floating-point numbers. RV32 also has some of 4 bytes. */
static void decode_compressed(known_insn *k, uint32_t c, unsigned xlen) {
    const unsigned which = c >> 13 & 7, quadrant = c & 3;
    const bool is_double = which == 1 || which == 5, is_single = xlen == 32 && (which == 3 || which == 7);
    if (k->bits || quadrant == 1 || !(is_double || is_single)) return;
    set_access(k, ACCESS_OTHER, 0, 0, 0, 0);
    const unsigned low = c >> 5 & 3, three = c >> 10 & 7;
    const bool store = which >= 5;
    if (quadrant == 0 && is_double)
        set_access(k, store ? ACCESS_STORE : ACCESS_LOAD, 8, 8 + (c >> 7 & 7), (int)(three << 3 | low << 6), 0);
    if (quadrant == 2 && which == 1)
        set_access(k, ACCESS_LOAD, 8, NTR_REGISTER_SP,
                   (int)((c >> 12 & 1) << 5 | (c >> 5 & 3) << 3 | (c >> 2 & 7) << 6), 0);
    if (quadrant == 2 && which == 5)
        set_access(k, ACCESS_STORE, 8, NTR_REGISTER_SP, (int)((c >> 10 & 7) << 3 | (c >> 7 & 7) << 6), 0);
}

static void decode(known_insn *k, uint32_t raw, unsigned xlen) {
    k->bits = k->size <= 4 ? ntr_expand(raw, xlen) : 0;
    const uint32_t insn = k->bits;
    const unsigned opcode = insn & 0x7f, funct3 = insn >> 12 & 7, rs1 = insn >> 15 & 31;
    const bool store = opcode == NTR_OPCODE_STORE || opcode == NTR_OPCODE_STORE_FP;
    if (k->size == 2) decode_compressed(k, raw, xlen);
    if (opcode == NTR_OPCODE_LOAD || opcode == NTR_OPCODE_STORE) {
        set_access(k, store ? ACCESS_STORE : ACCESS_LOAD, 1u << (funct3 & 3), rs1, immediate_of(insn, store),
                   store ? insn >> 20 & 31 : insn >> 7 & 31);
    } else if ((opcode == NTR_OPCODE_LOAD_FP || opcode == NTR_OPCODE_STORE_FP) && funct3 >= 1 && funct3 <= 3) {
        set_access(k, store ? ACCESS_STORE : ACCESS_LOAD, 1u << funct3, rs1, immediate_of(insn, store), 0);
    } else if (opcode == NTR_OPCODE_AMO && (funct3 == 2 || funct3 == 3)) {
        set_access(k, ACCESS_ATOMIC, 1u << funct3, rs1, 0, insn >> 7 & 31);
    } else if (opcode == NTR_OPCODE_LOAD_FP || opcode == NTR_OPCODE_STORE_FP || opcode == NTR_OPCODE_AMO ||
               k->size > 4) {
        k->access = ACCESS_OTHER;
    }
}

static bool is_root(const ntr_witness *w, uint64_t address) {
    for (size_t i = 0; i < w->map->branch_count; i++)
        if (w->map->branches[i].root_reg && w->map->branches[i].root == address) return true;
    return false;
}

/* Returns the instruction at an address; NULL: there is no code. */
static const known_insn *insn_at(ntr_witness *w, uint64_t address) {
    known_insn *k = &w->code[(address >> 1) & (CODE_SLOTS - 1)];
    ntr_insn insn;
    uint8_t bytes[4] = {0};
    if (k->size && k->address == address) return k;
    if (ntr_program_insn(w->map->program, ntr_code_map_place(w->map, address), &insn) != NTR_OK) return NULL;
    *k = (known_insn){.address = address, .size = insn.size, .is_root = is_root(w, address)};
    ntr_program_read(w->map->program, ntr_code_map_place(w->map, address), bytes, insn.size < 4 ? insn.size : 4);
    decode(k, ntr_little_32(bytes), w->values.xlen);
    return k;
}

/* ---- accesses ---------------------------------------------------------------------------------- */

static void forget(ntr_witness *w) {
    w->values = (ntr_values){.xlen = w->values.xlen};
}

static ntr_status add_access(ntr_witness *w, const ntr_event *e) {
    if (w->first > w->count / 2) {
        memmove(w->queue, w->queue + w->first, (w->count - w->first) * sizeof *w->queue);
        w->count -= w->first;
        w->first = 0;
    }
    if (ntr_reserve(w->allocator, (void **)&w->queue, &w->capacity, w->count + 1, sizeof *w->queue))
        return NTR_E_MEMORY;
    w->queue[w->count++] = (data_access){e->data_address, e->data, e->data_size, e->code == NTR_DATA_WRITE,
                                         !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN)};
    w->active = true;
    return NTR_OK;
}

/* Returns whether the next access may be that of an instruction. */
static bool fits(const ntr_witness *w, const known_insn *k, bool store) {
    if (w->first == w->count) return false;
    const data_access *a = &w->queue[w->first];
    const uint64_t base = ntr_values_get(&w->values, k->base) + (uint64_t)(int64_t)k->offset;
    const uint64_t mask = w->values.xlen == 32 ? UINT32_MAX : UINT64_MAX;
    if (a->bytes != k->bytes || a->store != store) return false;
    return !a->located || !ntr_values_is_known(&w->values, k->base) || !((a->address ^ base) & mask);
}

static uint64_t loaded(const known_insn *k, uint64_t value) {
    const unsigned above = 64 - 8u * k->bytes;
    const bool zeros = k->bits >> 14 & 1;
    return zeros ? value << above >> above : (uint64_t)((int64_t)(value << above) >> above);
}

static void know_base(ntr_witness *w, const known_insn *k, const data_access *a) {
    if (a->located && k->base) ntr_values_set(&w->values, k->base, true, a->address - (uint64_t)(int64_t)k->offset);
}

static void execute_access(ntr_witness *w, const known_insn *k) {
    const bool store = k->access == ACCESS_STORE;
    if (!fits(w, k, store)) {
        w->refused = true;
        return;
    }
    const data_access *a = &w->queue[w->first++];
    know_base(w, k, a);
    if (!store)
        ntr_values_set(&w->values, k->reg, k->reg != 0, loaded(k, a->value));
    else if (k->reg && 8u * k->bytes == w->values.xlen)
        ntr_values_set(&w->values, k->reg, true, a->value);
}

/* Returns whether the next two accesses are a load and a store of one word. */
static bool load_and_store_fit(const ntr_witness *w, const known_insn *k) {
    const data_access *a = &w->queue[w->first];
    return fits(w, k, false) && w->first + 1 < w->count && a[1].store && a[1].bytes == a->bytes &&
           a[1].address == a->address;
}

/* LR is a load. The others are a store, and before it a load if the trace has it (docs/run.md). SC that fails may have
 * none. */
static void execute_atomic(ntr_witness *w, const known_insn *k) {
    enum { LR = 2, SC = 3 };
    const unsigned operation = k->bits >> 27;
    const bool loads = operation == LR ? fits(w, k, false) : load_and_store_fit(w, k);
    const uint64_t value = loads ? loaded(k, w->queue[w->first++].value) : 0;
    const bool stores = operation != LR && fits(w, k, true);
    if (stores) know_base(w, k, &w->queue[w->first++]);
    w->refused |= operation == LR ? !loads : operation != SC && !stores;
    ntr_values_set(&w->values, k->reg, loads && operation != SC && k->reg, value);
}

/* ---- execution --------------------------------------------------------------------------------- */

static void store_operands(ntr_witness *w, uint64_t address) {
    for (size_t i = 0; i < w->map->branch_count; i++) {
        const ntr_decision_branch *b = &w->map->branches[i];
        if (!b->root_reg || b->root != address) continue;
        w->known[i] = ntr_values_is_known(&w->values, b->root_reg);
        w->operands[i] = ntr_values_get(&w->values, b->root_reg);
    }
}

/* Executes an instruction. Jumps and calls set their register to the address of what follows them. */
static void execute(ntr_witness *w, const known_insn *k) {
    enum { REGISTER_RA = 1, REGISTER_A0 = 10 };
    const unsigned opcode = k->bits & 0x7f, rd = k->bits >> 7 & 31;
    if (k->access == ACCESS_OTHER) {
        w->refused = true;
    } else if (k->access == ACCESS_ATOMIC) {
        execute_atomic(w, k);
    } else if (k->access) {
        execute_access(w, k);
    } else if (!k->bits) { /* among them C.JALR, which sets ra */
        if (k->size > 2)
            forget(w);
        else
            ntr_values_set(&w->values, REGISTER_RA, false, 0);
    } else if (opcode == NTR_OPCODE_SYSTEM) {
        ntr_values_set(&w->values, k->bits >> 12 & 7 ? rd : REGISTER_A0, false, 0); /* a system call has a result */
    } else if (opcode == NTR_OPCODE_AUIPC) {
        ntr_values_set(&w->values, rd, true, k->address + (uint64_t)(int64_t)(int32_t)(k->bits & 0xfffff000u));
    } else if (opcode == NTR_OPCODE_JAL || opcode == NTR_OPCODE_JALR) {
        ntr_values_set(&w->values, rd, true, k->address + k->size);
    } else if (opcode != NTR_OPCODE_BRANCH && !ntr_values_execute(&w->values, k->bits)) {
        ntr_values_set(&w->values, rd, false, 0);
    }
}

static void take_span(ntr_witness *w, const ntr_event *e) {
    uint64_t at = e->address;
    w->refused |= e->src != w->src; /* another thread may write between an access and its record */
    if (at != w->expected || e->repeats) forget(w); /* the passes of a loop have other values */
    for (uint32_t i = 0; i < e->instructions && !w->refused; i++) {
        const known_insn *k = insn_at(w, at);
        if (!k) {
            w->refused = true;
            break;
        }
        if (k->is_root) store_operands(w, at);
        execute(w, k);
        at += k->size;
    }
    if (e->end == NTR_END_EXCEPTION || e->end == NTR_END_INTERRUPT || e->end == NTR_END_TRAP) forget(w);
    w->expected = e->flags & NTR_EVENT_TARGET_UNKNOWN ? 0 : e->target;
}

ntr_status ntr_witness_feed(ntr_witness *w, const ntr_event *e) {
    if (w->refused) return NTR_OK;
    switch (e->kind) {
    case NTR_EVENT_ACCESS:
        if (!w->active) w->src = e->src;
        return add_access(w, e);
    case NTR_EVENT_SPAN:
        if (w->active) take_span(w, e);
        return NTR_OK;
    case NTR_EVENT_GAP:
    case NTR_EVENT_NO_CODE:
    case NTR_EVENT_OVERFLOW: w->refused |= w->active; return NTR_OK;
    default: return NTR_OK;
    }
}

bool ntr_witness_operand(const ntr_witness *w, const ntr_decision_branch *branch, uint64_t *value) {
    const size_t index = (size_t)(branch - w->map->branches);
    *value = w->operands[index];
    return w->active && !w->refused && branch->root_reg && w->known[index];
}

bool ntr_witness_refused(const ntr_witness *w) {
    return w->refused || w->first != w->count;
}

ntr_witness *ntr_witness_new(const ntr_code_map *map, const ntr_allocator *allocator) {
    ntr_witness *w = ntr_alloc(allocator, 1, sizeof *w);
    if (!w) return NULL;
    w->allocator = allocator;
    w->map = map;
    w->values.xlen = ntr_program_xlen(map->program) == 32 ? 32 : 64;
    w->code = ntr_alloc(allocator, CODE_SLOTS, sizeof *w->code);
    w->operands = ntr_alloc(allocator, map->branch_count + 1, sizeof *w->operands);
    w->known = ntr_alloc(allocator, map->branch_count + 1, sizeof *w->known);
    if (w->code && w->operands && w->known) return w;
    ntr_witness_free(w);
    return NULL;
}

void ntr_witness_free(ntr_witness *w) {
    if (!w) return;
    ntr_dealloc(w->allocator, w->code);
    ntr_dealloc(w->allocator, w->queue);
    ntr_dealloc(w->allocator, w->operands);
    ntr_dealloc(w->allocator, w->known);
    ntr_dealloc(w->allocator, w);
}
