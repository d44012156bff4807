/* The start of a block: the hot path, and what is settled about the block before.
 *
 * How many instructions of the block before have retired follows from three facts: whether its last instruction has
 * begun (BLOCK_OPEN is clear), the trap that was taken since (its epc), and where the next block begins.
 *   interrupt                       all when it ran to its end, else those before epc
 *   exception at the last one       all but the last
 *   exception at another one        those before it
 *   exception elsewhere             all: the fetch of the next instruction failed
 *   no trap                         all when it ran to its end, else those before the next block: QEMU executes an
 *                                   access to a device alone, untold, and goes on behind it
 * Example: `add; lw; add; j` is left at lw, which reads a device. The next block begins with the second add, and two
 * instructions have retired. */
#include "machine.h"
#include "riscv.h"

#include <string.h>

/* How many instructions of the block come before `address`; CHANNEL_ALL: it is not the address of one of them, nor the
 * end of one. */
static unsigned instructions_before(const struct channel_block *block, uint64_t address) {
    const uint8_t *code = channel->code + block->code;
    uint32_t at = 0;
    unsigned n = 0;

    for (; at < block->size; n++, at += riscv_is_short(code[at]) ? 2 : 4)
        if (block->address + at == address) return n;
    return CHANNEL_ALL;
}

/* The block was left at an unknown place. */
static unsigned retired_by_marks(const struct machine_hart *hart) {
    return hart->slow & BLOCK_MARKS ? (unsigned)hart->reached : 0;
}

static unsigned retired_at_trap(const struct machine_hart *hart, const struct channel_block *block, bool interrupt,
                                uint64_t epc) {
    bool open = hart->slow & BLOCK_OPEN;
    unsigned before = instructions_before(block, epc);

    if (interrupt) return !open ? CHANNEL_ALL : before != CHANNEL_ALL ? before : retired_by_marks(hart);
    if (before == block->instructions - 1u || (open && before != CHANNEL_ALL)) return before;
    return CHANNEL_ALL;
}

static void push_pair(struct machine_hart *hart, uint64_t value) {
    lane_push(hart->lane, (uint32_t)value);
    lane_push(hart->lane, (uint32_t)(value >> 32));
}

/* RV32 has the time in two registers. */
static uint64_t read_time(struct machine_hart *hart) {
    if (channel->head.xlen != 32) return machine_read(hart, REGISTER_TIME);
    for (;;) {
        const uint64_t high = machine_read(hart, REGISTER_TIMEH), low = machine_read(hart, REGISTER_TIME);
        if (high == machine_read(hart, REGISTER_TIMEH)) return high << 32 | low;
    }
}

/* The time of a guest is that of QEMU's clock. Reading it costs more than a block. */
static void report_time(struct machine_hart *hart) {
    enum { TIME_BLOCKS = 64 };

    hart->until_time = TIME_BLOCKS;
    lane_push(hart->lane, CHANNEL_TIME);
    push_pair(hart, read_time(hart));
}

void machine_take_trap(struct machine_hart *hart, uint32_t flags, uint64_t cause, uint64_t epc, uint64_t tval,
                       bool first) {
    const struct channel_block *block = &channel->blocks[hart->last];
    uint32_t retired = CHANNEL_ALL;

    if (channel->head.clock) report_time(hart);
    if (!first)
        flags |= CHANNEL_TRAP_AGAIN;
    else if (hart->last)
        retired = retired_at_trap(hart, block, flags & CHANNEL_TRAP_INTERRUPT, epc);
    lane_push(hart->lane, CHANNEL_TRAP | flags | retired);
    push_pair(hart, cause);
    push_pair(hart, epc);
    push_pair(hart, tval);
}

/* Is the last instruction of the block an access to memory? Such a one never leads to itself. */
static bool ends_with_access(const struct channel_block *block) {
    const uint8_t *code = channel->code + block->code;
    uint32_t at = 0, word = 0;

    for (unsigned n = 1; n < block->instructions; n++) at += riscv_is_short(code[at]) ? 2 : 4;
    memcpy(&word, code + at, block->size - at < sizeof word ? block->size - at : sizeof word);
    return riscv_is_load(word) || riscv_is_store(word);
}

/* At a watchpoint, QEMU stops when the last instruction has begun, and before its access. */
static unsigned retired_at_end(const struct machine_hart *hart) {
    const struct channel_block *block = &channel->blocks[hart->last];
    unsigned before = hart->stopped ? instructions_before(block, hart->stopped_at) : CHANNEL_ALL;

    if (!(hart->slow & BLOCK_OPEN))
        return before == block->instructions - 1u && ends_with_access(block) ? before : CHANNEL_ALL;
    return before != CHANNEL_ALL ? before : retired_by_marks(hart);
}

void machine_take_reset(struct machine_hart *hart) {
    if (hart->last) lane_push(hart->lane, CHANNEL_RESET | retired_at_end(hart));
    hart->last = 0;
    hart->slow = BLOCK_SPACE;
}

/* There was no trap: did the last block run to its end? The next one begins at `next`. */
static void settle_flow(struct machine_hart *hart, uint64_t next) {
    const struct channel_block *block = &channel->blocks[hart->last];
    unsigned before = instructions_before(block, next);

    if (!hart->last || !(hart->slow & (BLOCK_OPEN | BLOCK_ATOMIC))) return;
    if (hart->slow & BLOCK_OPEN)
        lane_push(hart->lane, CHANNEL_PART | (before == CHANNEL_ALL ? retired_by_marks(hart) : before));
    else if (before == block->instructions - 1u)
        lane_push(hart->lane, CHANNEL_PART | before);
}

/* While V is 1, the register satp is vsatp. */
static void settle_space(struct machine_hart *hart) {
    uint64_t satp = machine_read(hart, REGISTER_SATP), hgatp = hart->virtual ? machine_read(hart, REGISTER_HGATP) : 0;

    if (satp == hart->satp && hgatp == hart->hgatp) return;
    hart->epoch++;
    hart->satp = satp;
    hart->hgatp = hgatp;
    hart->renames = true;
    lane_push(hart->lane, CHANNEL_CONTEXT);
    push_pair(hart, satp);
    push_pair(hart, hgatp);
}

/* What the blocks before have left open. The next one begins at `address`. */
static COLD void settle(struct machine_hart *hart, unsigned vcpu, uint64_t address, uint8_t privilege) {
    static const volatile char always = 1;
    uint8_t before = hart->last ? channel->blocks[hart->last].privilege : 3;
    bool trapped = machine_read_log(hart, vcpu);

    machine_check_counter(hart);
    if ((privilege & PRIVILEGE_V) != hart->virtual) {
        hart->slow |= BLOCK_SPACE;
        hart->epoch++;
    }
    hart->virtual = privilege & PRIVILEGE_V;
    if (!trapped) settle_flow(hart, address);
    if (hart->slow & BLOCK_SPACE) settle_space(hart);
    if (hart->slow & BLOCK_TASK && privilege == 1) machine_switch_task(hart);
    machine_check_task(hart, before, privilege, trapped);
    hart->log = hart->waits ? &always : hart->line;
}

static inline void report_block(struct machine_hart *hart, uintptr_t block, uint32_t number) {
    hart->slow = (uint8_t)(block >> BLOCK_KIND_SHIFT);
    hart->last = number;
    lane_push(hart->lane, number);
}

/* The flow leaves its page, or there is something to settle. */
static __attribute__((noinline)) void settle_and_report(struct machine_hart *hart, unsigned vcpu, uintptr_t block,
                                                        const void *state) {
    uint32_t number = block_number(block);

    if (lane_is_traced(hart->lane)) {
        uint64_t address = machine_address(hart, block, state);
        uint8_t privilege = channel->blocks[number].privilege;
        if (hart->slow & ~(uint64_t)BLOCK_JUMPS || *hart->log || (privilege & PRIVILEGE_V) != hart->virtual)
            settle(hart, vcpu, address, privilege);
        number = machine_place(hart, block, address);
    }
    if (number)
        report_block(hart, block, number);
    else
        machine_lost(vcpu, NULL); /* the table is full */
}

/* Has the flow come to a page in which the hart has been before, in the same address space, with nothing else to
 * settle? */
static inline bool enters_page(struct machine_hart *hart, uintptr_t block) {
    uint64_t counter;

    if (!hart->counter || (hart->slow & ~(uint64_t)BLOCK_JUMPS) | (uint8_t)*hart->log) return false;
    const struct machine_entered *page = &hart->entered[block_page(block) % MACHINE_ENTERED];
    memcpy(&counter, hart->counter, sizeof counter); /* of a hart of 32 bits, the upper half is another word */
    if (page->number != block_page(block) || page->epoch != hart->epoch || (counter ^ page->address) & hart->page_bits)
        return false;
    hart->page = block_page(block);
    return true;
}

void machine_record_in(unsigned vcpu, void *data, const void *state) {
    struct machine_hart *hart = machine_hart(vcpu);
    uintptr_t block = (uintptr_t)data;
    bool stays = !(hart->slow | (uint8_t)*hart->log) && block_page(block) == hart->page;

    if (LIKELY(stays) || enters_page(hart, block))
        report_block(hart, block, block_number(block));
    else
        settle_and_report(hart, vcpu, block, state);
}

void machine_record_timed_in(unsigned vcpu, void *data, const void *state) {
    struct machine_hart *hart = machine_hart(vcpu);

    if (!hart->until_time && lane_is_traced(hart->lane))
        report_time(hart);
    else
        hart->until_time--;
    machine_record_in(vcpu, data, state);
}

void machine_lost(unsigned vcpu, void *nothing) {
    struct machine_hart *hart = machine_hart(vcpu);

    (void)nothing;
    if (lane_is_traced(hart->lane)) lane_push(hart->lane, CHANNEL_LOST);
    hart->last = 0;
}

/* What the last block leaves to the next one stays: address space and task. */
void machine_halt(unsigned vcpu) {
    struct machine_hart *hart = machine_hart(vcpu);

    if (!(channel->head.follow & CHANNEL_FOLLOW_HALT) || !hart->last || !lane_is_traced(hart->lane)) return;
    if (!machine_read_log(hart, vcpu)) lane_push(hart->lane, CHANNEL_PART | retired_at_end(hart));
    hart->last = 0;
    hart->slow &= BLOCK_SPACE | BLOCK_TASK;
}

void machine_end(unsigned vcpu) {
    struct machine_hart *hart = machine_hart(vcpu);

    if (!hart->lane || !hart->last || !lane_is_traced(hart->lane)) return;
    if (!machine_read_log(hart, vcpu)) lane_push(hart->lane, CHANNEL_END | retired_at_end(hart));
}
