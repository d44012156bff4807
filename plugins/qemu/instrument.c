/* What is inserted into each translated block.
 *
 * At its start, the number of the block is written to the ring (record.c). Behind every instruction that may trap there
 * is a mark. The marks passed in the last execution of a block say how many of its instructions retired when a trap
 * ended it early. On hosts where faults.c finds the access that faulted, plain accesses have marks only where it needs
 * them. Elsewhere, the last mark of a block is not counted where only a fault that is seen can prevent it from being
 * passed.
 *
 * While the guest has one thread, marks are counters that the translated code increments itself. A block that branches
 * to itself is counted as well, instead of being recorded at every execution; the block behind it reports the count.
 * Counters do not work with several threads. Before the second one starts, QEMU discards all translations, as atomic
 * instructions need other code then. In what is translated from there on there are no marks: the frame of a signal
 * handler says where the signal arrived (frames.c). On hosts where it cannot be read, marks are calls that store the
 * last mark passed, for each vCPU.
 *
 * Example, on the other hosts: the block `lw; add; sw; bne` has two marks, behind lw and behind sw. When sw faults, the
 * counter of the first mark equals the executions of the block and that of the second is one less: two instructions
 * retired. */
#include "state.h"
#include "riscv.h"

#include <stdlib.h>
#include <string.h>

static void copy_instruction(const struct qemu_plugin_insn *instruction, void *to, size_t size) {
#if NTRACE_QEMU_API == 1
    memcpy(to, qemu_plugin_insn_data(instruction), size);
#else
    qemu_plugin_insn_data(instruction, to, size);
#endif
}

static uint32_t instruction_at(const struct qemu_plugin_tb *tb, size_t i) {
    const struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
    uint32_t word = 0;
    size_t size = qemu_plugin_insn_size(instruction);
    copy_instruction(instruction, &word, size < sizeof word ? size : sizeof word);
    return word;
}

enum { MARKABLE_MOST = 2048 + 1 };

/* Which instructions need a mark? Not an access whose address can be computed when a later one faults, because its
 * register is not written until then. Goes backward: `written` are the registers written from here to the last trap. */
static void find_marked(const struct qemu_plugin_tb *tb, size_t n, bool marked[MARKABLE_MOST]) {
    uint32_t written = 0;
    bool traps_behind = false;

    for (size_t i = n; i--;) {
        uint32_t word = instruction_at(tb, i);
        struct riscv_access access;
        if (traps_behind) written |= riscv_may_write(word);
        marked[i] = !riscv_is_harmless(word);
        if (!marked[i]) continue;
        if (faults_have_positions() && riscv_decode_access(word, channel->head.xlen, &access))
            marked[i] = written >> access.base & 1;
        traps_behind = true;
    }
}

/* Place the marks. Behind the last instruction of a block nothing can be inserted, but QEMU reports when a plain access
 * is done. */
static void describe_traps(const struct qemu_plugin_tb *tb, struct translation *t) {
    static bool marked[MARKABLE_MOST]; /* protected by the lock */

    find_marked(tb, t->instructions, marked);
    for (size_t i = 0; i < t->instructions; i++) {
        uint32_t word = instruction_at(tb, i);
        if (!marked[i]) continue;
        if (i + 1 < t->instructions || riscv_is_load(word) || riscv_is_store(word))
            t->mark_at[t->marks++] = (uint16_t)(i + 1);
        else
            t->flags |= CHANNEL_BLOCK_LAST_TRAPS;
    }
}

/* Returns whether the last mark follows a plain access, whose faults are detected. */
static bool last_is_seen(const struct qemu_plugin_tb *tb, const struct translation *t) {
    return t->marks && !faults_have_positions() &&
           riscv_is_sure_access(instruction_at(tb, t->mark_at[t->marks - 1] - 1u), channel->head.xlen) &&
           faults_are_seen();
}

static bool describe(const struct qemu_plugin_tb *tb, struct translation *t) {
    size_t n = qemu_plugin_tb_n_insns(tb);
    bool memory;

    *t = (struct translation){.address = qemu_plugin_tb_vaddr(tb), .instructions = (uint16_t)n};
    for (size_t i = 0; i < n; i++) {
        const struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_size(instruction);
        if (t->size + size > sizeof t->bytes) return false;
        copy_instruction(instruction, t->bytes + t->size, size);
        t->size += (uint32_t)size;
    }
    t->file = maps_file(t->address, &memory);
    t->names = t->file && !memory ? 0 : maps_name_sizes();
    describe_traps(tb, t);
    if (last_is_seen(tb, t)) t->flags |= CHANNEL_BLOCK_LAST_SEEN;
    return n > 0;
}

static bool is_shared(void) {
    return atomic_load_explicit(&channel->head.shared, memory_order_relaxed);
}

static bool branches_to_itself(const struct qemu_plugin_tb *tb, const struct translation *t) {
    uint32_t last = instruction_at(tb, t->instructions - 1u);
    int64_t offset;
    return riscv_is_branch(last, &offset) && offset == (riscv_is_short(last) ? 2 : 4) - (int64_t)t->size;
}

/* How the marks of a block work. */
enum marks {
    MARKS_COUNTED, /* one thread: counters of the block */
    MARKS_CALLED, /* several: calls that store the last mark passed */
    MARKS_NONE, /* several, and the frame of a signal handler says where a block ended */
};

static enum marks marks_now(void) {
    if (!is_shared()) return MARKS_COUNTED;
    return frames_are_known() ? MARKS_NONE : MARKS_CALLED;
}

/* ---- counters: inline additions of 1, while there is one thread. An operation on a scoreboard takes place at its
 * memory plus an offset, which may lead to any other memory: to the counter. The element of the only vCPU is the first
 * one. */

#if NTRACE_QEMU_API > 1
static qemu_plugin_u64 counter_entry(const uint64_t *counter) {
    static struct qemu_plugin_scoreboard *board; /* protected by the lock */

    if (!board) board = qemu_plugin_scoreboard_new(sizeof *counter);
    return (qemu_plugin_u64){board, (uintptr_t)counter - (uintptr_t)qemu_plugin_scoreboard_find(board, 0)};
}
#endif

static void count_block(struct qemu_plugin_tb *tb, uint64_t *counter) {
#if NTRACE_QEMU_API == 1
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_INLINE_ADD, counter, 1);
#else
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_INLINE_ADD, counter_entry(counter), 1);
#endif
}

static void count_instruction(struct qemu_plugin_insn *place, uint64_t *counter) {
#if NTRACE_QEMU_API == 1
    qemu_plugin_register_vcpu_insn_exec_inline(place, QEMU_INLINE_ADD, counter, 1);
#else
    qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(place, QEMU_INLINE_ADD, counter_entry(counter), 1);
#endif
}

/* The accesses of the instruction. */
static void count_access(struct qemu_plugin_insn *place, uint64_t *counter) {
#if NTRACE_QEMU_API == 1
    qemu_plugin_register_vcpu_mem_inline(place, QEMU_MEM_RW, QEMU_INLINE_ADD, counter, 1);
#else
    qemu_plugin_register_vcpu_mem_inline_per_vcpu(place, QEMU_MEM_RW, QEMU_INLINE_ADD, counter_entry(counter), 1);
#endif
}

/* ---- marks */

/* Insert mark i, behind instruction mark_at[i] - 1. */
static void put_mark(struct qemu_plugin_tb *tb, const struct translation *t, uint64_t *passes, uint16_t i,
                     enum marks marks) {
    bool behind_last = t->mark_at[i] == t->instructions;
    struct qemu_plugin_insn *place = qemu_plugin_tb_get_insn(tb, t->mark_at[i] - (behind_last ? 1u : 0u));
    void *passed = (void *)(uintptr_t)(i + 1u);

    if (marks == MARKS_CALLED && behind_last)
        qemu_plugin_register_vcpu_mem_cb(place, record_access_mark, QEMU_NO_REGS, QEMU_MEM_RW, passed);
    else if (marks == MARKS_CALLED)
        qemu_plugin_register_vcpu_insn_exec_cb(place, record_mark, QEMU_NO_REGS, passed);
    else if (behind_last)
        count_access(place, &passes[i + 1]);
    else
        count_instruction(place, &passes[i + 1]);
}

static void put_marks(struct qemu_plugin_tb *tb, const struct translation *t, uint32_t number) {
    enum marks marks = marks_now();
    unsigned counters = blocks_counter_count(t), count = marks == MARKS_CALLED ? t->marks : 0;
    uint64_t *passes = blocks_counters(number);

    if (marks == MARKS_COUNTED && counters) {
        count_block(tb, &passes[0]);
        count = counters - 1;
    }
    for (uint16_t i = 0; i < count; i++) put_mark(tb, t, passes, i, marks);
}

enum { FIRST_BLOCK = 1 }; /* special, so that faults.c learns where translated code is */

/* QEMU does not report when it discards a translation, so what is allocated here is never freed. */
static struct special *make_special(const struct translation *t, uint32_t number) {
    struct special is = {.number = number, .handler = syscalls_handler(t->address)};

    if (!is_shared()) is.loops = blocks_loops_ending(t->address, &is.loop_count);
    if (!is.handler && !is.loop_count && number != FIRST_BLOCK) return NULL;
    struct special *special = malloc(sizeof *special);
    if (special) *special = is;
    return special;
}

static void put_record(struct qemu_plugin_tb *tb, const struct translation *t, uint32_t number) {
    struct special *special = make_special(t, number);
    enum marks marks = marks_now();
    qemu_block_callback record = special                             ? special_begin
                                 : channel->head.accesses            ? record_block_with_accesses
                                 : marks == MARKS_COUNTED            ? record_block_solo
                                 : marks == MARKS_CALLED && t->marks ? record_marked_block
                                                                     : record_block;
    void *argument = special ? (void *)special : (void *)(uintptr_t)number;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, record, QEMU_NO_REGS, argument);
}

static void put_accesses(struct qemu_plugin_tb *tb, const struct translation *t) {
    for (size_t i = 0; i < t->instructions && channel->head.accesses; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), record_access, QEMU_NO_REGS, QEMU_MEM_RW,
                                         NULL);
}

static void put_all(struct qemu_plugin_tb *tb, struct translation *t) {
    if (!is_shared() && !channel->head.accesses && branches_to_itself(tb, t)) {
        t->flags |= CHANNEL_BLOCK_LOOP;
        if (syscalls_handler(t->address) || !blocks_loop_allowed(t)) t->flags &= (uint8_t)~CHANNEL_BLOCK_LOOP;
    }
    uint32_t number = blocks_number(t);
    if (!number) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, record_lost, QEMU_NO_REGS, NULL);
        return;
    }
    put_marks(tb, t, number);
    put_accesses(tb, t);
    if (!(t->flags & CHANNEL_BLOCK_LOOP)) put_record(tb, t, number);
}

QEMU_TB_CALLBACK(instrument) {
    static struct translation t; /* large; protected by the lock */

    QEMU_IGNORE;
    if (plugin_detached) {
        maps_find_base(tb);
        return;
    }
    plugin_lock();
    maps_begin(tb);
    if (describe(tb, &t)) put_all(tb, &t);
    plugin_unlock();
}
