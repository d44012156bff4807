/* The source of executed blocks: the memory shared with the capture plugin (channel/channel.h), as its reader sees it.
 *
 * The engine needs of a source: a table of blocks (address, code bytes, number of instructions), one lane of words for
 * each hart, counts of loops, and how much of its last block a hart retired. Which process fills the memory is not
 * known here: guest.h starts QEMU in user mode, a unit test writes the memory itself. */
#ifndef NTR_CAPTURE_SOURCE_H
#define NTR_CAPTURE_SOURCE_H

#include "capture/error.h"
#include "channel/channel.h"

struct ntr_capture_source {
    struct channel *channel; /* NULL: not open */
    int file;                /* descriptor of the shared memory, for the writer; valid while `channel` is not NULL */
};

/* Create the shared memory. It is sparse: pages that are never written to take no memory. */
ntr_status ntr_capture_source_open(struct ntr_capture_source *source, struct ntr_capture_reason *reason);

/* Open the memory that another process has created. */
ntr_status ntr_capture_source_adopt(struct ntr_capture_source *source, const char *path,
                                    struct ntr_capture_reason *reason);
void ntr_capture_source_close(struct ntr_capture_source *source);

/* Number of lanes in use. Threads beyond CHANNEL_LANES are not counted. */
uint32_t ntr_capture_source_lanes(const struct channel *channel);

/* ---- reading a lane: a ring of batches; the writer overwrites a batch once the reader has passed its end */

struct ntr_capture_lane {
    uint32_t *at;      /* next word to read; NULL: reading has not begun */
    uint64_t consumed; /* batches passed */
};

/* Where the writer of the lane will put its next word; NULL: it has written nothing. */
uint32_t *ntr_capture_lane_writer(struct channel *channel, uint32_t index);

/* Begin at the start of the ring. */
void ntr_capture_lane_begin(struct ntr_capture_lane *lane, struct channel *channel, uint32_t index);

/* Is there anything to read? *end becomes the word at which reading is to stop. With `all` false only whole batches
 * count, those that the writer has left. */
bool ntr_capture_lane_ready(const struct ntr_capture_lane *lane, struct channel *channel, uint32_t index, bool all,
                            uint32_t **end);

/* The words from lane->at to the returned address lie in one batch. Not to be called at `end`. */
uint32_t *ntr_capture_lane_stop(const struct ntr_capture_lane *lane, struct channel *channel, uint32_t index,
                                uint32_t *end);

/* The words up to `stop` (from ntr_capture_lane_stop) have been read. */
void ntr_capture_lane_pass(struct ntr_capture_lane *lane, struct channel *channel, uint32_t index, uint32_t *stop);

/* ---- loops: blocks that branch to themselves are counted in memory while there is one hart */

/* Number of the loop with executions that no record has reported yet; 0: there is none. */
uint32_t ntr_capture_source_running_loop(const struct channel *channel);

#endif
