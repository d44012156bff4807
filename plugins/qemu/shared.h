/* What the plugins for user mode and for whole machines share: the reader, the table of blocks, the rings. Nothing here
 * depends on the version of QEMU's interface. There is one plugin in a process, so its state is global. */
#ifndef NTRACE_QEMU_SHARED_H
#define NTRACE_QEMU_SHARED_H

#include "channel/channel.h"

#define COLD      __attribute__((cold, noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)

/* ---- reader.c ------------------------------------------------------------------------------------------------------
 */

extern struct channel *channel;

/* Tracing has ended: this process is a child after fork, the reader has ended, or there is no room. Callbacks still
 * run. */
extern bool plugin_detached;

/* QEMU was started by the reader itself. When its parent is another process then, the reader has ended, even if no
 * process has waited for it yet. */
extern bool plugin_is_readers_child;

/* The reader reads no more. When it has ended, this process is killed. */
bool plugin_given_up(void);

/* Sleep for a moment, while something is awaited from the reader. */
void plugin_nap(void);

/* From now on, this process is killed soon after the reader has ended, because nothing reads its trace any more. */
void plugin_end_with_reader(void);

/* To be held while the tables of blocks and handlers are used. */
void plugin_lock(void);
void plugin_unlock(void);

/* ---- lane.c: rings -------------------------------------------------------------------------------------------------
 */

/* Is the lane read? Others write to a batch that nobody reads. */
bool lane_is_traced(const struct channel_lane *lane);

/* Begin to write: to the ring of this vCPU, if it has one. */
void lane_begin(struct channel_lane *lane, unsigned vcpu);

/* The batch is full. */
void lane_next_batch(struct channel_lane *lane);

/* The cache lines that are written next are in the reader's cache. Fetching one takes longer than filling it. */
static inline void lane_fetch_ahead(const uint32_t *at) {
#ifdef __x86_64__
    __asm__ volatile("prefetchw 512(%0)" : : "r"(at)); /* without -mprfchw the builtin prefetches for reading */
#else
    __builtin_prefetch(at + 128, 1);
#endif
}

static inline __attribute__((always_inline)) void lane_push(struct channel_lane *lane, uint32_t word) {
    uint32_t *at = atomic_load_explicit(&lane->at, memory_order_relaxed);
    lane_fetch_ahead(at);
    *at++ = word;
    atomic_store_explicit(&lane->at, at, memory_order_release);
    if (!LIKELY(at != lane->limit)) lane_next_batch(lane);
}

/* A load or store of 2^shift bytes, up to 8, if it is in the range that is traced. */
static inline void lane_push_access(struct channel_lane *lane, bool store, unsigned shift, uint64_t address,
                                    uint64_t data) {
    const struct channel_head *head = &channel->head;

    if (address < head->access_first || address > head->access_last) return;
    lane_push(lane, CHANNEL_ACCESS | shift | (store ? CHANNEL_ACCESS_WRITE : 0u));
    lane_push(lane, (uint32_t)address);
    lane_push(lane, (uint32_t)(address >> 32));
    lane_push(lane, (uint32_t)data);
    lane_push(lane, (uint32_t)(data >> 32));
}

/* ---- blocks.c: the table of blocks --------------------------------------------------------------------------------
 */

/* A translated block that has no number yet. */
struct translation {
    uint64_t address;
    uint32_t size;
    uint16_t instructions, marks;
    uint8_t flags;
    uint8_t privilege; /* as struct channel_block */
    uint32_t file; /* as struct channel_block; whole machines: 0, */
    uint64_t names; /* ... and 0 */
    uint8_t bytes[4096 + 2]; /* a block ends behind the end of a page at the latest */
    uint16_t mark_at[2048 + 1]; /* see struct channel_block */
};

/* The number of the block; an equal translation has the same number. 0: no room. */
uint32_t blocks_number(const struct translation *translation);

/* Was any block that begins at this address translated before? */
bool blocks_known(uint64_t address);

/* How many counters the translation has: one for executions and one for each mark that is counted; or none. */
unsigned blocks_counter_count(const struct translation *translation);

/* The counters of a block: executions, then passes of each mark. */
uint64_t *blocks_counters(uint32_t number);

/* May executions of this block, which branches to itself, be counted instead of recorded? */
bool blocks_loop_allowed(const struct translation *loop);

/* The loops that end at `address`, as a new array. */
uint32_t *blocks_loops_ending(uint64_t address, uint32_t *count);

/* How many instructions of the block come before `address`; CHANNEL_ALL: no instruction begins there. Without the lock.
 */
unsigned blocks_instructions_before(const struct channel_block *block, uint64_t address);

#endif
