/* The hot path: write block numbers to the ring of their vCPU. */
#include "state.h"
#include "riscv.h"

#include <signal.h>
#include <string.h>

/* Those of the channel, at a place that the hot path reads in one step. */
static struct channel_lane *lanes;

void record_init_lane(unsigned vcpu) {
    struct channel_lane *lane = &channel->lanes[vcpu];

    lanes = channel->lanes;
    atomic_store_explicit(&lane->reached, UINT32_MAX, memory_order_relaxed);
    if (lane->ring) return; /* a new thread continues the ring of one that has ended */
    lane_begin(lane, vcpu);
}

static inline uint32_t number_of(void *argument) {
    return (uint32_t)(uintptr_t)argument;
}

void record_block_solo(unsigned vcpu, void *number) {
    (void)vcpu;
    lane_push(lanes, number_of(number)); /* of the first vCPU, which is the only one */
}

void record_block(unsigned vcpu, void *number) {
    lane_push(&lanes[vcpu], number_of(number));
}

void record_marked_block(unsigned vcpu, void *number) {
    struct channel_lane *lane = &channel->lanes[vcpu];
    atomic_store_explicit(&lane->reached, 0, memory_order_relaxed);
    lane_push(lane, number_of(number));
}

/* ---- loads and stores */

void record_block_with_accesses(unsigned vcpu, void *number) {
    struct channel_lane *lane = &channel->lanes[vcpu];
    atomic_store_explicit(&lane->reached, 0, memory_order_relaxed);
    lane->block = number_of(number);
    lane_push(lane, lane->block);
}

/* The data is what memory holds after the access. One of 16 bytes is two of 8: the messages have no such size. */
void record_access(unsigned vcpu, qemu_access info, uint64_t address, void *nothing) {
    const unsigned shift = qemu_plugin_mem_size_shift(info), part = shift < 3 ? shift : 3;
    const uint64_t end = address + (UINT64_C(1) << shift);

    (void)nothing;
    for (uint64_t data = 0; address != end; address += UINT64_C(1) << part) {
        memcpy(&data, (const void *)(uintptr_t)(channel->head.guest_base + address), (size_t)1 << part);
        lane_push_access(&channel->lanes[vcpu], qemu_plugin_mem_is_store(info), part, address, data);
    }
}

void record_mark(unsigned vcpu, void *passed) {
    atomic_store_explicit(&channel->lanes[vcpu].reached, number_of(passed), memory_order_relaxed);
}

void record_access_mark(unsigned vcpu, qemu_access info, uint64_t address, void *passed) {
    (void)info, (void)address;
    record_mark(vcpu, passed);
}

/* ---- blocks that need more words than their number ----------------------------------------------------------------
 */

/* With one thread, a loop that is executed has counted executions that were not reported. */
uint32_t record_last_block(const struct channel_lane *lane) {
    const uint32_t *at = atomic_load_explicit(&lane->at, memory_order_relaxed);
    uint32_t last = at == lane->ring ? lane->ring[CHANNEL_RING - 1] : at[-1];

    if (channel->head.accesses) return lane->block; /* the last words may be those of an access */
    for (uint32_t i = 0; !atomic_load(&channel->head.shared) && i < atomic_load(&channel->head.loops); i++)
        if (channel_pending(channel, &channel->blocks[channel->loops[i]])) return channel->loops[i];
    return last;
}

/* Report the executions of a loop that have not been reported. Returns whether there were any. */
static bool flush_loop(struct channel_lane *lane, uint32_t number) {
    struct channel_block *block = &channel->blocks[number];
    uint64_t count = channel_pending(channel, block);

    if (!count) return false;
    block->seen += count;
    lane_push(lane, CHANNEL_LOOP);
    lane_push(lane, number);
    lane_push(lane, (uint32_t)count);
    lane_push(lane, CHANNEL_RECORD | (uint32_t)(count >> 32));
    return true;
}

/* Number of the block that was executed last: the last word, or a loop executed since. */
static uint32_t flush_loops(struct channel_lane *lane) {
    uint32_t last = record_last_block(lane);

    if (!atomic_load(&channel->head.shared) && last && last < atomic_load(&channel->head.blocks) &&
        channel->blocks[last].flags & CHANNEL_BLOCK_LOOP)
        flush_loop(lane, last);
    return last;
}

/* Set the counters of marks that were not passed to the number of executions, as if they had been. */
static void level_passes(const struct channel_block *block) {
    uint64_t *passes = &channel->counters[block->counters];
    for (unsigned i = channel_counted(block->marks, block->flags); i; i--) passes[i] = passes[0];
}

/* How many instructions of the block come before address `pc`; CHANNEL_ALL: none of it is there. */
static unsigned instructions_before(const struct channel_block *block, uint64_t pc) {
    const uint8_t *code = channel->code + block->code;
    uint32_t at = 0;

    for (unsigned n = 0; at < block->size; n++, at += riscv_is_short(code[at]) ? 2 : 4)
        if (block->address + at == pc) return n;
    return CHANNEL_ALL;
}

/* How many instructions of the last block had retired when the signal arrived. */
static unsigned retired_before(struct channel_lane *lane, const struct channel_block *block,
                               const struct signal_frame *frame) {
    bool is_shared = atomic_load(&channel->head.shared);
    unsigned retired = CHANNEL_ALL;

    bool is_placed = channel_fault_is_placed(lane); /* if so, also where another signal arrived with the fault's */
    if (!is_shared || !frames_are_known() || is_placed) retired = channel_retired(channel, lane, block);
    /* Any instruction that is not defined traps, also one that has no mark. */
    if (retired == CHANNEL_ALL && frame && frame->is_fault) retired = instructions_before(block, frame->pc);
    if (block->marks && !is_shared) level_passes(block);
    atomic_store(&lane->fault, 0);
    atomic_store_explicit(&lane->reached, UINT32_MAX, memory_order_relaxed);
    return retired;
}

/* At the first block of a signal handler: record where the signal arrived. */
static void record_entry(struct channel_lane *lane, const struct signal_handler *handler, uint64_t env) {
    uint32_t last = flush_loops(lane), record = CHANNEL_ENTRY | CHANNEL_ALL;
    struct signal_frame read;
    const struct signal_frame *frame = frames_read(env, &read) ? &read : NULL;
    bool is_fault = frame ? frame->is_fault : (handler->signals & SIGNALS_RAISED) != 0;

    if (last && last < atomic_load(&channel->head.blocks))
        record = CHANNEL_ENTRY | retired_before(lane, &channel->blocks[last], frame);
    if (is_fault) record |= CHANNEL_ENTRY_FAULT;
    if (frame) record |= CHANNEL_ENTRY_PC;
    lane_push(lane, record);
    if (!frame) return;
    lane_push(lane, (uint32_t)frame->begun_at);
    lane_push(lane, (uint32_t)(frame->begun_at >> 32));
}

void record_lost(unsigned vcpu, void *nothing) {
    struct channel_lane *lane = &channel->lanes[vcpu];

    (void)nothing;
    if (!lane_is_traced(lane)) return;
    flush_loops(lane);
    lane_push(lane, CHANNEL_LOST);
}

void record_special(unsigned vcpu, void *argument, uint64_t env) {
    const struct special *special = argument;
    struct channel_lane *lane = &channel->lanes[vcpu];

    frames_begin(env);
    faults_know_code((uintptr_t)__builtin_return_address(0));
    if (lane_is_traced(lane)) {
        for (uint32_t i = 0; i < special->loop_count; i++) flush_loop(lane, special->loops[i]);
        if (special->handler) record_entry(lane, special->handler, env);
    }
    if (!frames_are_known()) atomic_store_explicit(&lane->reached, 0, memory_order_relaxed);
    lane->block = special->number;
    lane_push(lane, special->number);
}
