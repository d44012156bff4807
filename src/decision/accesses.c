#include "decision/accesses.h"

#include "base/allocator.h"

#include <string.h>

/* Sets what an instruction does. */
static void set_access(ntr_access_insn *k, ntr_access_kind access, unsigned bytes, unsigned base, int offset,
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
static void decode_compressed(ntr_access_insn *k, uint32_t c, unsigned xlen) {
    const unsigned which = c >> 13 & 7, quadrant = c & 3;
    if (!k->bits && quadrant == 0 && which == 4) set_access(k, NTR_ACCESS_OTHER, 0, 0, 0, 0); /* Zcb */
    const bool is_double = which == 1 || which == 5, is_single = xlen == 32 && (which == 3 || which == 7);
    if (k->bits || quadrant == 1 || !(is_double || is_single)) return;
    set_access(k, NTR_ACCESS_OTHER, 0, 0, 0, 0);
    const unsigned low = c >> 5 & 3, three = c >> 10 & 7;
    const bool store = which >= 5;
    if (quadrant == 0 && is_double)
        set_access(k, store ? NTR_ACCESS_STORE : NTR_ACCESS_LOAD, 8, 8 + (c >> 7 & 7), (int)(three << 3 | low << 6), 0);
    if (quadrant == 2 && which == 1)
        set_access(k, NTR_ACCESS_LOAD, 8, NTR_REGISTER_SP,
                   (int)((c >> 12 & 1) << 5 | (c >> 5 & 3) << 3 | (c >> 2 & 7) << 6), 0);
    if (quadrant == 2 && which == 5)
        set_access(k, NTR_ACCESS_STORE, 8, NTR_REGISTER_SP, (int)((c >> 10 & 7) << 3 | (c >> 7 & 7) << 6), 0);
}

void ntr_access_insn_decode(ntr_access_insn *k, uint32_t raw, unsigned xlen) {
    k->bits = k->size <= 4 ? ntr_expand(raw, xlen) : 0;
    const uint32_t insn = k->bits;
    const unsigned opcode = insn & 0x7f, funct3 = insn >> 12 & 7, rs1 = insn >> 15 & 31;
    const bool store = opcode == NTR_OPCODE_STORE || opcode == NTR_OPCODE_STORE_FP;
    if (k->size == 2) decode_compressed(k, raw, xlen);
    if (opcode == NTR_OPCODE_LOAD || opcode == NTR_OPCODE_STORE) {
        set_access(k, store ? NTR_ACCESS_STORE : NTR_ACCESS_LOAD, 1u << (funct3 & 3), rs1, immediate_of(insn, store),
                   store ? insn >> 20 & 31 : insn >> 7 & 31);
    } else if ((opcode == NTR_OPCODE_LOAD_FP || opcode == NTR_OPCODE_STORE_FP) && funct3 >= 1 && funct3 <= 3) {
        set_access(k, store ? NTR_ACCESS_STORE : NTR_ACCESS_LOAD, 1u << funct3, rs1, immediate_of(insn, store), 0);
    } else if (opcode == NTR_OPCODE_AMO && (funct3 == 2 || funct3 == 3)) {
        set_access(k, NTR_ACCESS_ATOMIC, 1u << funct3, rs1, 0, insn >> 7 & 31);
    } else if (opcode == NTR_OPCODE_LOAD_FP || opcode == NTR_OPCODE_STORE_FP || opcode == NTR_OPCODE_AMO ||
               k->size > 4) {
        k->access = NTR_ACCESS_OTHER;
    }
}

/* ---- accesses ---------------------------------------------------------------------------------- */

void ntr_accesses_forget(ntr_accesses *a) {
    a->values = (ntr_values){.xlen = a->values.xlen};
}

ntr_status ntr_accesses_add(ntr_accesses *a, const ntr_event *e) {
    if (a->first > a->count / 2) {
        memmove(a->queue, a->queue + a->first, (a->count - a->first) * sizeof *a->queue);
        a->count -= a->first;
        a->first = 0;
    }
    if (ntr_reserve(a->allocator, (void **)&a->queue, &a->capacity, a->count + 1, sizeof *a->queue))
        return NTR_E_MEMORY;
    a->queue[a->count++] = (ntr_memory_access){e->data_address, e->data, e->data_size, e->code == NTR_DATA_WRITE,
                                               !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN)};
    return NTR_OK;
}

/* Returns whether the next access may be that of an instruction. */
static bool fits(const ntr_accesses *a, const ntr_access_insn *k, bool store) {
    if (a->first == a->count) return false;
    const ntr_memory_access *next = &a->queue[a->first];
    const uint64_t base = ntr_values_get(&a->values, k->base) + (uint64_t)(int64_t)k->offset;
    const uint64_t mask = a->values.xlen == 32 ? UINT32_MAX : UINT64_MAX;
    if (next->bytes != k->bytes || next->store != store) return false;
    return !next->located || !ntr_values_is_known(&a->values, k->base) || !((next->address ^ base) & mask);
}

static uint64_t loaded(const ntr_access_insn *k, uint64_t value) {
    const unsigned above = 64 - 8u * k->bytes;
    const bool zeros = k->bits >> 14 & 1;
    return zeros ? value << above >> above : (uint64_t)((int64_t)(value << above) >> above);
}

static void know_base(ntr_accesses *a, const ntr_access_insn *k, const ntr_memory_access *taken) {
    if (taken->located && k->base)
        ntr_values_set(&a->values, k->base, true, taken->address - (uint64_t)(int64_t)k->offset);
}

static void execute_access(ntr_accesses *a, const ntr_access_insn *k) {
    const bool store = k->access == NTR_ACCESS_STORE;
    if (!fits(a, k, store)) {
        a->refused = true;
        return;
    }
    const ntr_memory_access *taken = &a->queue[a->first++];
    know_base(a, k, taken);
    if (!store)
        ntr_values_set(&a->values, k->reg, k->reg != 0, loaded(k, taken->value));
    else if (k->reg && 8u * k->bytes == a->values.xlen)
        ntr_values_set(&a->values, k->reg, true, taken->value);
}

/* Returns whether the next two accesses are a load and a store of one word. */
static bool load_and_store_fit(const ntr_accesses *a, const ntr_access_insn *k) {
    const ntr_memory_access *next = &a->queue[a->first];
    return fits(a, k, false) && a->first + 1 < a->count && next[1].store && next[1].bytes == next->bytes &&
           next[1].address == next->address;
}

/* LR is a load. The others are a store, and before it a load if the trace has it (docs/run.md). SC that fails may have
 * none. */
static void execute_atomic(ntr_accesses *a, const ntr_access_insn *k) {
    enum { LR = 2, SC = 3 };
    const unsigned operation = k->bits >> 27;
    const bool loads = operation == LR ? fits(a, k, false) : load_and_store_fit(a, k);
    const uint64_t value = loads ? loaded(k, a->queue[a->first++].value) : 0;
    const bool stores = operation != LR && fits(a, k, true);
    if (stores) know_base(a, k, &a->queue[a->first++]);
    a->refused |= operation == LR ? !loads : operation != SC && !stores;
    ntr_values_set(&a->values, k->reg, loads && operation != SC && k->reg, value);
}

/* Executes an instruction. Jumps and calls set their register to the address of what follows them. */
void ntr_accesses_execute(ntr_accesses *a, const ntr_access_insn *k) {
    enum { REGISTER_RA = 1, REGISTER_A0 = 10 };
    const unsigned opcode = k->bits & 0x7f, rd = k->bits >> 7 & 31;
    if (k->access == NTR_ACCESS_OTHER) {
        a->refused = true;
    } else if (k->access == NTR_ACCESS_ATOMIC) {
        execute_atomic(a, k);
    } else if (k->access) {
        execute_access(a, k);
    } else if (!k->bits) { /* among them C.JALR, which sets ra */
        if (k->size > 2)
            ntr_accesses_forget(a);
        else
            ntr_values_set(&a->values, REGISTER_RA, false, 0);
    } else if (opcode == NTR_OPCODE_SYSTEM) {
        ntr_values_set(&a->values, k->bits >> 12 & 7 ? rd : REGISTER_A0, false, 0); /* a system call has a result */
    } else if (opcode == NTR_OPCODE_AUIPC) {
        ntr_values_set(&a->values, rd, true, k->address + (uint64_t)(int64_t)(int32_t)(k->bits & 0xfffff000u));
    } else if (opcode == NTR_OPCODE_JAL || opcode == NTR_OPCODE_JALR) {
        ntr_values_set(&a->values, rd, true, k->address + k->size);
    } else if (opcode != NTR_OPCODE_BRANCH && !ntr_values_execute(&a->values, k->bits)) {
        ntr_values_set(&a->values, rd, false, 0);
    }
}
