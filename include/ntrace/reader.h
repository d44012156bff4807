/* Reader: a byte stream in, messages out. Framing of N-Trace 1.0 section 2.
 *
 * The caller feeds spans of any size (a whole mapped file, or what a pipe just gave) and pulls messages
 * until NTR_NEED_MORE. Nothing is allocated; a message cut by the end of a span is kept inside the reader.
 * Bad framing comes out in stream order as a message with `defect` set; the reader then continues at the
 * next start of a message. Every byte is idle, part of one message, or part of one defect. */
#ifndef NTRACE_READER_H
#define NTRACE_READER_H

#include <ntrace/message.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_reader {
    ntr_params params;
    const uint8_t *data; /* the span being read */
    size_t size, at;
    uint64_t base;        /* stream offset of data[0] */
    uint64_t number;      /* messages given out so far */
    uint64_t idle;        /* idle bytes skipped so far */
    uint64_t held_offset; /* stream offset of held[0] */
    uint32_t held_size;
    uint8_t mode;         /* where framing stands; private */
    bool last;            /* no further span will come */
    uint8_t held[NTR_MESSAGE_BYTES_MAX];
} ntr_reader;

/* Start at the beginning of a stream. `params` is copied; NULL is the plain N-Trace 1.0 stream.
 * Errors: as ntr_params_check. */
NTR_API ntr_status ntr_reader_init(ntr_reader *reader, const ntr_params *params);

/* Tell that the stream begins in the middle of something (a wrapped buffer): everything up to and
 * including the first byte with MSEO 11 is skipped without being called a defect. */
NTR_API void ntr_reader_seek_start(ntr_reader *reader);

/* Give the next span; the one before must have been read to its end (NTR_NEED_MORE). `last` tells that
 * nothing follows. The bytes stay the caller's and must live until the span is read.
 * Errors: NTR_E_STATE. */
NTR_API ntr_status ntr_reader_feed(ntr_reader *reader, const uint8_t *data, size_t size, bool last);

/* NTR_OK with the next message (check `message->defect`), NTR_NEED_MORE, or NTR_END. The message's `raw`
 * lives until the next call. */
NTR_API ntr_status ntr_reader_next(ntr_reader *reader, ntr_message *message);

/* Bytes of the stream that have been passed, idle included. */
NTR_API uint64_t ntr_reader_offset(const ntr_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
