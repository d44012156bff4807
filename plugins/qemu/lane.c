/* The rings of the lanes: one writer, the vCPU, and one reader, the capture engine. */
#include "shared.h"

/* vCPUs beyond CHANNEL_LANES, and those of a detached process, write here. */
static uint32_t nowhere[CHANNEL_BATCH];

bool lane_is_traced(const struct channel_lane *lane) {
    return lane->ring != nowhere;
}

static void use_ring(struct channel_lane *lane, uint32_t *ring) {
    lane->ring = ring;
    lane->limit = ring + CHANNEL_BATCH;
    atomic_store_explicit(&lane->at, ring, memory_order_release);
}

void lane_begin(struct channel_lane *lane, unsigned vcpu) {
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

COLD void lane_next_batch(struct channel_lane *lane) {
    if (lane_is_traced(lane)) {
        lane->batch++;
        wait_for_reader(lane);
    }
    if (!lane_is_traced(lane)) {
        use_ring(lane, nowhere);
    } else if (lane->limit == lane->ring + CHANNEL_RING) {
        use_ring(lane, lane->ring);
    } else {
        lane->limit += CHANNEL_BATCH;
    }
}
