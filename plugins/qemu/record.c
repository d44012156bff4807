/* The hot path: write block numbers to the ring of their vCPU. */
#include "state.h"
#include "riscv.h"

#include <signal.h>

/* vCPUs beyond CHANNEL_LANES, and those of a detached process, write here. */
static uint32_t nowhere[CHANNEL_BATCH];

static bool is_traced(const struct channel_lane *lane) {
    return lane->ring != nowhere;
}

/* The lane of the first vCPU, while it is the only one. */
static struct channel_lane *solo;

static void use_ring(struct channel_lane *lane, uint32_t *ring) {
    lane->ring = ring;
    lane->limit = ring + CHANNEL_BATCH;
    atomic_store_explicit(&lane->at, ring, memory_order_release);
}

void record_init_lane(unsigned vcpu) {
    struct channel_lane *lane = &channel->lanes[vcpu];

    solo = &channel->lanes[0];
    atomic_store_explicit(&lane->reached, UINT32_MAX, memory_order_relaxed);
    if (lane->ring) return; /* a new thread continues the ring of one that has ended */
    use_ring(lane, vcpu >= CHANNEL_LANES || plugin_detached ? nowhere : channel->rings[vcpu]);
    if (vcpu >= atomic_load(&channel->head.lanes)) atomic_store(&channel->head.lanes, vcpu + 1);
}

/* Wait until the reader has passed the batch that is to be overwritten, and the one behind it. */
static void wait_for_reader(struct channel_lane *lane) {
    while (lane->batch - atomic_load_explicit(&lane->consumed, memory_order_acquire) > CHANNEL_BATCHES - 2) {
        plugin_nap();
        if (plugin_given_up()) {
            plugin_detached = true;
            use_ring(lane, nowhere);
            return;
        }
    }
}

static COLD void next_batch(struct channel_lane *lane) {
    if (is_traced(lane)) {
        lane->batch++;
        wait_for_reader(lane);
    }
    if (!is_traced(lane)) {
        use_ring(lane, nowhere);
    } else if (lane->limit == lane->ring + CHANNEL_RING) {
        use_ring(lane, lane->ring);
    } else {
        lane->limit += CHANNEL_BATCH;
    }
}

/* The cache lines that are written next are in the reader's cache. Fetching one takes longer than filling it. */
static inline void fetch_ahead(const uint32_t *at) {
#ifdef __x86_64__
    __asm__ volatile("prefetchw 512(%0)" : : "r"(at)); /* without -mprfchw the builtin prefetches for reading */
#else
    __builtin_prefetch(at + 128, 1);
#endif
}

static inline __attribute__((always_inline)) void push(struct channel_lane *lane, uint32_t word) {
    uint32_t *at = atomic_load_explicit(&lane->at, memory_order_relaxed);
    fetch_ahead(at);
    *at++ = word;
    atomic_store_explicit(&lane->at, at, memory_order_release);
    if (!LIKELY(at != lane->limit)) next_batch(lane);
}

static inline uint32_t number_of(void *argument) {
    return (uint32_t)(uintptr_t)argument;
}

void record_block_solo(unsigned vcpu, void *number) {
    (void)vcpu;
    push(solo, number_of(number));
}

void record_block(unsigned vcpu, void *number) {
    push(&channel->lanes[vcpu], number_of(number));
}

void record_marked_block(unsigned vcpu, void *number) {
    struct channel_lane *lane = &channel->lanes[vcpu];
    atomic_store_explicit(&lane->reached, 0, memory_order_relaxed);
    push(lane, number_of(number));
}

void record_mark(unsigned vcpu, void *passed) {
    atomic_store_explicit(&channel->lanes[vcpu].reached, number_of(passed), memory_order_relaxed);
}

void record_access_mark(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *passed) {
    (void)info, (void)address;
    record_mark(vcpu, passed);
}

/* ---- blocks that need more words than their number ----------------------------------------------------------------
 */

/* Report the executions of a loop that have not been reported. Returns whether there were any. */
static bool flush_loop(struct channel_lane *lane, uint32_t number) {
    struct channel_block *block = &channel->blocks[number];
    uint64_t count = channel_pending(channel, block);

    if (!count) return false;
    block->seen += count;
    push(lane, CHANNEL_LOOP);
    push(lane, number);
    push(lane, (uint32_t)count);
    push(lane, CHANNEL_RECORD | (uint32_t)(count >> 32));
    return true;
}

/* Number of the block that was executed last: the last word, or a loop executed since. */
static uint32_t flush_loops(struct channel_lane *lane) {
    uint32_t *at = atomic_load_explicit(&lane->at, memory_order_relaxed);
    uint32_t last = at == lane->ring ? lane->ring[CHANNEL_RING - 1] : at[-1];

    if (atomic_load(&channel->head.shared)) return last;
    for (uint32_t i = 0; i < atomic_load(&channel->head.loops); i++) {
        if (flush_loop(lane, channel->loops[i])) return channel->loops[i];
    }
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

    if (!is_shared || !frames_are_known()) retired = channel_retired(channel, lane, block);
    else if (frame && frame->is_fault) retired = instructions_before(block, frame->pc);
    if (block->marks && !is_shared) level_passes(block);
    atomic_store(&channel->head.faulted, 0);
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
    push(lane, record);
}

void record_lost(unsigned vcpu, void *nothing) {
    struct channel_lane *lane = &channel->lanes[vcpu];

    (void)nothing;
    if (!is_traced(lane)) return;
    flush_loops(lane);
    push(lane, CHANNEL_LOST);
}

void record_special(unsigned vcpu, void *argument, uint64_t env) {
    const struct special *special = argument;
    struct channel_lane *lane = &channel->lanes[vcpu];

    if (is_traced(lane)) {
        for (uint32_t i = 0; i < special->loop_count; i++) flush_loop(lane, special->loops[i]);
        if (special->handler) record_entry(lane, special->handler, env);
    }
    if (!frames_are_known()) atomic_store_explicit(&lane->reached, 0, memory_order_relaxed);
    push(lane, special->number);
}
