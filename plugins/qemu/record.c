/* The hot path: write block numbers to the ring of their vCPU. */
#include "state.h"

#include <string.h>

/* Those of the channel, at a place that the hot path reads in one step. */
static struct channel_lane *lanes;

void record_init_lane(unsigned vcpu) {
    struct channel_lane *lane = &channel->lanes[vcpu];

    lanes = channel->lanes;
    atomic_store_explicit(&lane->reached, UINT32_MAX, memory_order_relaxed);
    lane->name[0] = 0;
    lane->threads++;
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

/* ---- loops, and the last block ------------------------------------------------------------------------------------
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

void record_loop(struct channel_lane *lane, uint32_t number) {
    struct channel_block *block = &channel->blocks[number];
    uint64_t count = channel_pending(channel, block);

    if (!count) return;
    block->seen += count;
    lane_push(lane, CHANNEL_LOOP);
    lane_push(lane, number);
    lane_push(lane, (uint32_t)count);
    lane_push(lane, CHANNEL_RECORD | (uint32_t)(count >> 32));
}

uint32_t record_pending_loop(struct channel_lane *lane) {
    uint32_t last = record_last_block(lane);

    if (!atomic_load(&channel->head.shared) && last && last < atomic_load(&channel->head.blocks) &&
        channel->blocks[last].flags & CHANNEL_BLOCK_LOOP)
        record_loop(lane, last);
    return last;
}

void record_lost(unsigned vcpu, void *nothing) {
    struct channel_lane *lane = &channel->lanes[vcpu];

    (void)nothing;
    if (!lane_is_traced(lane)) return;
    record_pending_loop(lane);
    lane_push(lane, CHANNEL_LOST);
}
