/* CoreSight formatter frames as one stream of messages: what an ETR, ETF or ETB stores, /dev/tmc_etrN returns and
 * perf's AUX data contain. Messages of several trace IDs are put in the order in which they end; SRC says which hart
 * sent a message.
 *
 *   ntr_frames_new(NULL, &frames);
 *   ntr_frames_feed(frames, bytes, size, sink, user);   // any number of times
 *   ntr_frames_finish(frames, sink, user);
 *
 * Left out: idle bytes, the rest of a message inside which the data of an ID begin, padding (ID 0) and data before the
 * first ID. Where Linux's barrier says that data are lost, the stream gets a damaged message, so that nothing is
 * decoded across the loss. Memory use is bounded. docs/k3.md. */
#ifndef NTRACE_FRAMES_H
#define NTRACE_FRAMES_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/config.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTR_FRAME_BYTES 16

typedef struct ntr_frames ntr_frames;

typedef struct ntr_frames_options {
    size_t size;    /* sizeof(ntr_frames_options) */
    uint8_t id;     /* the trace ID to keep; 0: all */
    bool cut;       /* the data of each ID begin inside a message: a buffer that has wrapped */
    uint8_t skip;   /* number of bytes before the first frame: 0 to 15 */
    bool whole;     /* the data of each ID begin with a whole message, as registers say. Without `cut` and `whole` the
                 * first message is kept if a trace may begin with it */
    const ntr_allocator *allocator; /* NULL: malloc and free */
} ntr_frames_options;

NTR_DEFINE_CONFIG_INIT(ntr_frames_options)

/* What was found. */
typedef struct ntr_frames_totals {
    uint64_t bytes;      /* of frames */
    uint64_t messages;   /* passed on */
    uint64_t left_out;   /* bytes of messages whose beginning or end is missing, and of data before the first ID */
    uint64_t barriers;   /* of Linux, after the beginning */
    unsigned ids;        /* number of trace IDs with data */
    uint64_t incomplete; /* frames of which bytes are missing, as at the end of a file that was cut */
    uint64_t reserved[3];
} ntr_frames_totals;

/* Receives whole messages, and at the end of the data perhaps the beginning of one. Another result than NTR_OK ends the
 * call in progress with that result. */
typedef ntr_status (*ntr_frames_sink)(void *user, const uint8_t *bytes, size_t size);

/* Makes an object. `options` is copied, may be NULL. Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_frames_new(const ntr_frames_options *options, ntr_frames **out);
NTR_API void ntr_frames_free(ntr_frames *frames);

/* The next bytes do not continue those before: they are of another buffer, or something is missing between. `cut`: they
 * begin inside a message. `skip`: number of bytes before the first frame, 0 to 15. What was found so far is kept.
 * Errors: NTR_E_INVALID (skip); NTR_E_MEMORY: the object can then only be freed. */
NTR_API ntr_status ntr_frames_restart(ntr_frames *frames, bool cut, unsigned skip);

/* Errors: those of the sink, NTR_E_MEMORY. */
NTR_API ntr_status ntr_frames_feed(ntr_frames *frames, const uint8_t *bytes, size_t size, ntr_frames_sink sink,
                                   void *user);
NTR_API ntr_status ntr_frames_finish(ntr_frames *frames, ntr_frames_sink sink, void *user);

NTR_API void ntr_frames_totals_get(const ntr_frames *frames, ntr_frames_totals *totals);

/* Returns the number of message bytes of a trace ID (0 to 127). */
NTR_API uint64_t ntr_frames_id_bytes(const ntr_frames *frames, unsigned id);

/* Returns whether two trace IDs have sent messages with the same SRC of `src_bits` bits, so that their messages cannot
 * be distinguished, and stores one such pair in ids[2]. */
NTR_API bool ntr_frames_mixed(const ntr_frames *frames, unsigned src_bits, unsigned ids[2]);

/* Returns the width of SRC, 2 to 12 bits, if the messages of each trace ID are of one hart: so many bits after TCODE
 * are the same in all of them. 12 is certain; a smaller width is likely. 0: there are too few messages, or it is not
 * known. */
NTR_API unsigned ntr_frames_src_bits(const ntr_frames *frames);

/* Returns whether the bytes, the beginning of a file, are frames: trace IDs are at their places, and the data are
 * better messages when the frames are taken off. *skip: number of bytes before the first frame. */
NTR_API bool ntr_frames_seen(ntr_bytes beginning, unsigned *skip);

#ifdef __cplusplus
}
#endif
#endif
