/* Framer: divides a byte stream into slices. N-Trace 1.0 section 2.
 *
 * A slice is the bytes of one message, or bytes that cannot be part of a message. The framer reads only MSEO and does
 * not decode messages. Feed pieces of any size and call ntr_framer_next until it returns NTR_NEED_MORE; the division
 * into pieces has no effect on the slices. Nothing is allocated: a message that continues in the next piece is kept
 * inside the framer. */
#ifndef NTRACE_FRAMER_H
#define NTRACE_FRAMER_H

#include <ntrace/bytes.h>
#include <ntrace/message_end.h>
#include <ntrace/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_slice {
    uint64_t offset; /* stream offset of the first byte */
    uint64_t size;   /* number of bytes of the stream */
    ntr_bytes raw;   /* these bytes; only the first NTR_MESSAGE_BYTES_MAX when there are more */
    ntr_status defect;
} ntr_slice;

typedef struct ntr_framer {
    const uint8_t *data;  /* the current piece */
    size_t size, at;
    uint64_t base;        /* stream offset of data[0] */
    uint64_t idle;        /* idle bytes so far */
    uint64_t skipped;     /* bytes before the first message (ntr_framer_seek_start) */
    uint64_t slice_size;  /* bytes of the unfinished slice in earlier pieces */
    uint32_t held_size;   /* number of them in `held` */
    uint8_t mode;         /* state of the framer; private */
    bool zero_idle;       /* 0x00 between messages is also idle */
    bool last;            /* no more pieces follow */
    uint8_t held[NTR_MESSAGE_BYTES_MAX];
    uint64_t strays;      /* of the idle bytes: those that are not 0xff or 0x00 (any_end_idle) */
    bool any_end_idle;    /* every byte with MSEO 11 between messages is idle; set it after ntr_framer_init */
    uint64_t reserved[2]; /* must be 0; for later members */
} ntr_framer;

/* Initialize for the beginning of a stream. */
NTR_API void ntr_framer_init(ntr_framer *framer, bool zero_idle);

/* The stream begins inside a message (wrapped buffer): skip everything up to and including the first byte with MSEO 11,
 * without reporting a defect. */
NTR_API void ntr_framer_seek_start(ntr_framer *framer);

/* Give the next piece. The one before must have been read to NTR_NEED_MORE. `last`: the stream ends with this piece.
 * The memory stays the caller's and must not change until the piece has been read. Errors: NTR_E_STATE. */
NTR_API ntr_status ntr_framer_feed(ntr_framer *framer, const uint8_t *data, size_t size, bool last);

/* Returns NTR_OK and the next slice, NTR_NEED_MORE, or NTR_END. slice->raw is valid until the next call; it points into
 * the piece if the piece has the complete slice.
 *
 * slice->defect is one of:
 *   NTR_OK: a message from its start to MSEO 11 (ntr_message_decode checks for a reserved MSEO 10 inside);
 *   NTR_E_IDLE: one byte with MSEO 11 between messages;
 *   NTR_E_MSEO_SEQUENCE, NTR_E_MSEO_RESERVED: a byte that cannot start a message, up to the next MSEO 11;
 *   NTR_E_MESSAGE_LONG: more bytes than NTR_MESSAGE_BYTES_MAX;
 *   NTR_E_TRUNCATED: the beginning of a message at the end of the stream. */
NTR_API ntr_status ntr_framer_next(ntr_framer *framer, ntr_slice *slice);

/* Returns the number of bytes read so far, idle bytes included. */
NTR_API uint64_t ntr_framer_offset(const ntr_framer *framer);

#ifdef __cplusplus
}
#endif
#endif
