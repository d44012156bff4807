/* What is inserted into a translated block: a call at its start, and the store that says that it ran to its end. */
#include "machine.h"
#include "riscv.h"

#include <string.h>

enum { SATP = 0x180, VSATP = 0x280, HGATP = 0x680 };

static uint32_t field(uint32_t word, unsigned high, unsigned low) {
    return word >> low & ((2u << (high - low)) - 1);
}

/* May the instruction be left before it is done, by a trap or by QEMU itself? Unlike in user mode, floating point may
 * be switched off, and the dynamic rounding mode may be invalid. */
static bool may_leave(uint32_t word) {
    uint32_t opcode = word & 0x7f;
    bool is_float = (word & 3) == 3 && (opcode == 0x53 || (opcode >= 0x43 && opcode <= 0x4f && (opcode & 3) == 3));
    return !riscv_is_harmless(word) || is_float;
}

/* CSRRW, CSRRS, ... of a CSR that selects the address space. CSRRS and CSRRC with x0 do not write. */
static bool writes_space(uint32_t word) {
    uint32_t csr = field(word, 31, 20), function = field(word, 14, 12), source = field(word, 19, 15);

    if ((word & 0x7f) != 0x73 || (function & 3) == 0) return false;
    return (csr == SATP || csr == VSATP || csr == HGATP) && ((function & 3) == 1 || source);
}

static bool is_atomic(uint32_t word) {
    return (word & 0x7f) == 0x2f;
}

static bool is_wfi(uint32_t word) {
    return word == 0x10500073;
}

/* `mv tp, REGISTER` */
static bool moves_to_tp(uint32_t word) {
    bool is_short = (word & 0xff83) == 0x8202 && field(word, 6, 2);
    return is_short || ((word & 0xfff07fff) == 0x00000213 && field(word, 19, 15));
}

static uint32_t word_at(const struct translation *t, uint32_t at) {
    uint32_t word = 0;
    uint32_t size = riscv_is_short(t->bytes[at]) ? 2 : 4;
    memcpy(&word, t->bytes + at, at + size <= t->size ? size : t->size - at);
    return word;
}

static bool describe(const struct qemu_plugin_tb *tb, struct translation *t, uint8_t privilege) {
    size_t n = qemu_plugin_tb_n_insns(tb);

    *t = (struct translation){.address = qemu_plugin_tb_vaddr(tb), .instructions = (uint16_t)n, .privilege = privilege};
    for (size_t i = 0; i < n; i++) {
        const struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_size(instruction);
        if (t->size + size > sizeof t->bytes) return false;
        qemu_plugin_insn_data(instruction, t->bytes + t->size, size);
        t->size += (uint32_t)size;
    }
    return n > 0;
}

/* With a mark, the instruction counts as done when the machine ends in it. Machine mode switches the machine off by a
 * store, and a sleeping hart is in wfi. */
static bool wants_mark(const struct translation *t, uint32_t word) {
    return is_wfi(word) || ((machine_marks_all || (t->privilege & 3) == 3) && may_leave(word));
}

static void put_store(struct qemu_plugin_insn *instruction, size_t member, uint64_t value) {
    qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_INLINE_STORE,
                                                        (qemu_plugin_u64){machine_harts, member}, value);
}

/* Inserts the stores. Returns the BLOCK_* of the block. */
static unsigned put_stores(struct qemu_plugin_tb *tb, const struct translation *t) {
    size_t last = t->instructions - 1u;
    unsigned kind = 0;
    uint32_t word = 0, at = 0, next = 0;

    for (size_t i = 0; i <= last; i++) {
        word = word_at(t, at = next);
        next = at + (riscv_is_short(word) ? 2 : 4);
        if (i < last && may_leave(word)) kind |= BLOCK_OPEN;
        if (t->privilege == 1 && moves_to_tp(word)) kind |= BLOCK_TASK;
        if (!wants_mark(t, word)) continue;
        kind |= BLOCK_MARKS | BLOCK_OPEN;
        put_store(qemu_plugin_tb_get_insn(tb, i), offsetof(struct machine_hart, reached), i + 1);
    }
    if (writes_space(word)) kind |= BLOCK_SPACE;
    if (is_atomic(word)) kind |= BLOCK_ATOMIC;
    if (machine_leaves_page(t, word, at)) kind |= BLOCK_JUMPS;
    if (kind & BLOCK_MARKS && !wants_mark(t, word_at(t, 0)))
        put_store(qemu_plugin_tb_get_insn(tb, 0), offsetof(struct machine_hart, reached), 0);
    if (kind & BLOCK_OPEN)
        put_store(qemu_plugin_tb_get_insn(tb, last), offsetof(struct machine_hart, slow),
                  kind & (BLOCK_SPACE | BLOCK_ATOMIC | BLOCK_TASK | BLOCK_JUMPS));
    return kind;
}

static void put_all(struct qemu_plugin_tb *tb, const struct translation *t) {
    uint32_t number = blocks_number(t);

    if (!number) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, machine_lost, QEMU_NO_REGS, NULL);
        return;
    }
    machine_put_accesses(tb);
    uintptr_t kind = put_stores(tb, t), page = machine_page(t->address, t->privilege);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, channel->head.clock ? machine_record_timed : machine_record,
                                         QEMU_READ_REGS,
                                         (void *)(number | kind << BLOCK_KIND_SHIFT | page << BLOCK_PAGE_SHIFT));
}

QEMU_TB_CALLBACK(machine_translate) {
    static struct translation t; /* large; protected by the lock */
    struct machine_hart *hart = machine_present();

    QEMU_IGNORE;
    if (plugin_detached || !hart) return;
    uint8_t privilege = (uint8_t)(machine_read(hart, REGISTER_PRIV) & 7);
    plugin_lock();
    if (describe(tb, &t, privilege)) {
        if (privilege == 0) machine_report_page(hart, t.address);
        put_all(tb, &t);
    }
    plugin_unlock();
}
