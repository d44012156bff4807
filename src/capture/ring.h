/* The most recent part of a stream (ntr_capture_config.max_size). The stream is cut into segments, each in a file of
 * its own; the oldest ones are removed. At a cut the trace of every hart stops, so that the messages behind it begin
 * with a synchronizing one. At the end, the segments become one file. From time to time they are copied into one file,
 * which can be read if this process is killed. */
#ifndef NTR_CAPTURE_RING_H
#define NTR_CAPTURE_RING_H

#include "bundle/stream_write.h"
#include "capture/error.h"

#include <ntrace/allocator.h>

#include <limits.h>

enum { NTR_CAPTURE_SEGMENTS = 12 };

struct ntr_capture_ring {
    uint64_t limit;            /* bytes of files; 0: the stream is not cut */
    unsigned first, count;     /* segments that have been completed: first .. first + count - 1 */
    struct ntr_capture_segment {
        uint64_t size, stream; /* bytes of its file, and before compression */
    } segments[NTR_CAPTURE_SEGMENTS];
    uint64_t dropped; /* bytes of the stream, before compression, in removed segments */
    uint64_t begin;   /* offset in the stream at which the present segment begins */
    unsigned copies;  /* that have been made */
};

/* The offset in the stream at which the present segment is full, as far as it is known before compression. */
uint64_t ntr_capture_ring_end(const struct ntr_capture_ring *ring, const struct ntr_bundle_writer *stream);

/* Is it time for a cut? */
bool ntr_capture_ring_is_full(const struct ntr_capture_ring *ring, const struct ntr_bundle_writer *stream);

/* All harts have stopped: begin a new segment. `path`: the file of the stream. */
ntr_status ntr_capture_ring_cut(struct ntr_capture_ring *ring, struct ntr_bundle_writer *stream, const char *path,
                                bool compress, const ntr_allocator *allocator, struct ntr_capture_reason *reason);

/* Copy all segments and the present one, as far as it is in its file, into one file with a new name. False: it cannot
 * be made. */
bool ntr_capture_ring_copy(struct ntr_capture_ring *ring, const char *path, char copy[PATH_MAX]);

/* Remove the copy before the last one (`before`), or the last one. */
void ntr_capture_ring_drop_copy(const struct ntr_capture_ring *ring, const char *path, bool before);

/* The stream is closed: makes one file of the segments. If that fails, the parts that are not joined are kept, and
 * *reason names them. Errors: NTR_E_IO. */
ntr_status ntr_capture_ring_join(struct ntr_capture_ring *ring, const char *path, struct ntr_capture_reason *reason);

#endif
