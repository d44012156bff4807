/* Framer: a byte stream in, slices out. N-Trace 1.0 section 2.
 *
 * A slice is one message's bytes, or bytes that cannot be part of any message. The framer looks at MSEO
 * alone and knows no message, so it serves everything that only moves messages about. The caller feeds
 * spans of any size and pulls until NTR_NEED_MORE; how the stream is cut into spans changes nothing.
 * Nothing is allocated: a message cut by the end of a span is kept inside the framer. */
#ifndef NTRACE_FRAMER_H
#define NTRACE_FRAMER_H

#include <ntrace/bytes.h>
#include <ntrace/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Messages longer than this are reported as NTR_E_MESSAGE_LONG and skipped; the longest standard
 * message has 36 bytes (OQ-11), vendor messages may be longer. */
#define NTR_MESSAGE_BYTES_MAX 1024

/* Whether a message ends with this byte: its MSEO is 11. Idle bytes end nothing, but read so too. */
static inline bool ntr_ends_message(uint8_t byte) {
    return (byte & 3) == 3;
}

typedef struct ntr_slice {
    uint64_t offset; /* of the first byte, in bytes from the start of the stream */
    uint64_t size;   /* bytes of the stream it takes */
    ntr_bytes raw;   /* these bytes; only the first NTR_MESSAGE_BYTES_MAX when there are more */
    ntr_status defect;
} ntr_slice;

typedef struct ntr_framer {
    const uint8_t *data;  /* the span being read */
    size_t size, at;
    uint64_t base;        /* stream offset of data[0] */
    uint64_t idle;        /* idle bytes passed so far */
    uint64_t skipped;     /* bytes passed before the first start of a message (ntr_framer_seek_start) */
    uint64_t slice_size;  /* bytes of the unfinished slice in earlier spans */
    uint32_t held_size;   /* how many of them are in `held` */
    uint8_t mode;         /* where framing stands; private */
    bool zero_idle;       /* 0x00 between messages is idle too */
    bool last;            /* no further span will come */
    uint8_t held[NTR_MESSAGE_BYTES_MAX];
    uint64_t reserved[4]; /* must be 0; for later members */
} ntr_framer;

/* Start at the beginning of a stream. */
NTR_API void ntr_framer_init(ntr_framer *framer, bool zero_idle);

/* Tell that the stream begins in the middle of something (a wrapped buffer): everything up to and
 * including the first byte with MSEO 11 is skipped without being called a defect. */
NTR_API void ntr_framer_seek_start(ntr_framer *framer);

/* Give the next span; the one before must have been read to its end (NTR_NEED_MORE). `last` tells that
 * nothing follows. The bytes stay the caller's and must live until the span is read.
 * Errors: NTR_E_STATE. */
NTR_API ntr_status ntr_framer_feed(ntr_framer *framer, const uint8_t *data, size_t size, bool last);

/* NTR_OK with the next slice, NTR_NEED_MORE, or NTR_END. The slice's `raw` lives until the next call; it
 * points into the span whenever the span has the whole slice.
 *
 * slice->defect, in stream order: NTR_OK, a message from its start to its MSEO 11 (a reserved MSEO 10 inside
 * is left to ntr_message_decode); NTR_E_IDLE, one byte; NTR_E_MSEO_SEQUENCE or NTR_E_MSEO_RESERVED, a byte
 * that cannot start a message and everything up to the next MSEO 11; NTR_E_MESSAGE_LONG, the same for more
 * bytes than NTR_MESSAGE_BYTES_MAX; NTR_E_TRUNCATED, what the end of the stream left of a message. */
NTR_API ntr_status ntr_framer_next(ntr_framer *framer, ntr_slice *slice);

/* Bytes of the stream that have been passed, idle included. */
NTR_API uint64_t ntr_framer_offset(const ntr_framer *framer);

#ifdef __cplusplus
}
#endif
#endif
