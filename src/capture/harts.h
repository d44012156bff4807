/* All harts of a capture: from the words of the source's lanes to one N-Trace stream. Each lane is a hart with an
 * encoder of its own, or a hart of a modelled system. */
#ifndef NTR_CAPTURE_HARTS_H
#define NTR_CAPTURE_HARTS_H

#include "capture/state.h"

/* What all harts share. */
struct ntr_capture_target {
    struct channel *channel;
    const ntr_encoder_config *config; /* with its sink; not read when there is a system, but for params and mode */
    struct ntr_bundle_writer *stream;
    struct ntr_capture_system *system; /* or NULL */
    struct ntr_capture_record *record; /* its mappings tell which file a block is of; NULL: the files do not change */
    /* Called before hart number `hart` is traced when SRC has too few bits for it; NULL: it is not traced then. On
     * success ntr_capture_harts_widen has been called. */
    ntr_status (*widen)(void *user, uint32_t hart);
    void *user;
};

/* Errors: NTR_E_MEMORY. */
ntr_status ntr_capture_harts_init(struct ntr_capture_harts *harts, const struct ntr_capture_target *target,
                                  const ntr_allocator *allocator);
void ntr_capture_harts_release(struct ntr_capture_harts *harts);

/* From here on, messages have SRC with so many bits. */
void ntr_capture_harts_widen(struct ntr_capture_harts *harts, unsigned src_bits);

/* Encode what the lanes hold; with `all` false only the batches that the guest has left. Returns whether there was
 * anything. Nothing is encoded once harts->failure is set. */
bool ntr_capture_harts_drain(struct ntr_capture_harts *harts, bool all);

/* The same for at most one batch of each lane, so that the caller can do something else in between. */
bool ntr_capture_harts_drain_part(struct ntr_capture_harts *harts);

/* The lanes are empty: encode executions of a loop that the guest counts but does not report while it runs. To be
 * called repeatedly, with some time in between.
 *
 * Idea: the count of a loop in shared memory may run ahead of the words in front of it, because both sides see each
 * other's writes late. A count is therefore encoded at the next poll, and only when no word has come since: by then all
 * words in front of it would have been seen. Invariant: `encoded` executions are in the stream already; when the guest
 * reports the loop, they are subtracted from its count. Example: polls see counts 0, 100, 250; the second poll encodes
 * nothing, the third encodes 100; then the guest reports 300 executions, and 200 more are encoded. */
void ntr_capture_harts_poll(struct ntr_capture_harts *harts);

/* The guest has ended and all lanes are drained: complete the last block of every hart. `fault`: the signal that
 * killed the guest, if it is one that an instruction raises, else 0. */
void ntr_capture_harts_finish(struct ntr_capture_harts *harts, int fault);

/* Is the index-th hart in the stream, and with which SRC? */
bool ntr_capture_harts_source(const struct ntr_capture_harts *harts, uint32_t index, uint16_t *src);

#endif
