/* What is told about the block before: how many of its instructions retired.
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

/* The block was left at an unknown place. */
static unsigned retired_by_marks(const struct machine_hart *hart) {
    return hart->slow & BLOCK_MARKS ? (unsigned)hart->reached : 0;
}

static unsigned retired_at_trap(const struct machine_hart *hart, const struct channel_block *block, bool interrupt,
                                uint64_t epc) {
    bool open = hart->slow & BLOCK_OPEN;
    unsigned before = blocks_instructions_before(block, epc);

    if (interrupt) return !open ? CHANNEL_ALL : before != CHANNEL_ALL ? before : retired_by_marks(hart);
    if (before == block->instructions - 1u || (open && before != CHANNEL_ALL)) return before;
    return CHANNEL_ALL;
}

void machine_push_pair(struct machine_hart *hart, uint64_t value) {
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
void machine_report_time(struct machine_hart *hart) {
    enum { TIME_BLOCKS = 64 };

    hart->until_time = TIME_BLOCKS;
    lane_push(hart->lane, CHANNEL_TIME);
    machine_push_pair(hart, read_time(hart));
}

void machine_take_trap(struct machine_hart *hart, uint32_t flags, uint64_t cause, uint64_t epc, uint64_t tval,
                       bool first) {
    const struct channel_block *block = &channel->blocks[hart->last];
    uint32_t retired = CHANNEL_ALL;

    if (channel->head.clock) machine_report_time(hart);
    if (!first)
        flags |= CHANNEL_TRAP_AGAIN;
    else if (hart->last)
        retired = retired_at_trap(hart, block, flags & CHANNEL_TRAP_INTERRUPT, epc);
    lane_push(hart->lane, CHANNEL_TRAP | flags | retired);
    machine_push_pair(hart, cause);
    machine_push_pair(hart, epc);
    machine_push_pair(hart, tval);
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
unsigned machine_retired_at_end(const struct machine_hart *hart) {
    const struct channel_block *block = &channel->blocks[hart->last];
    unsigned before = hart->stopped ? blocks_instructions_before(block, hart->stopped_at) : CHANNEL_ALL;

    if (!(hart->slow & BLOCK_OPEN))
        return before == block->instructions - 1u && ends_with_access(block) ? before : CHANNEL_ALL;
    return before != CHANNEL_ALL ? before : retired_by_marks(hart);
}

void machine_take_reset(struct machine_hart *hart) {
    if (hart->last) lane_push(hart->lane, CHANNEL_RESET | machine_retired_at_end(hart));
    hart->last = 0;
    hart->slow = BLOCK_SPACE;
}

/* There was no trap: did the last block run to its end? The next one begins at `next`. */
void machine_settle_flow(struct machine_hart *hart, uint64_t next) {
    const struct channel_block *block = &channel->blocks[hart->last];
    unsigned before = blocks_instructions_before(block, next);

    if (!hart->last || !(hart->slow & (BLOCK_OPEN | BLOCK_ATOMIC))) return;
    if (hart->slow & BLOCK_OPEN)
        lane_push(hart->lane, CHANNEL_PART | (before == CHANNEL_ALL ? retired_by_marks(hart) : before));
    else if (before == block->instructions - 1u)
        lane_push(hart->lane, CHANNEL_PART | before);
}
