/* Reader: a byte stream in, messages out. Framing of N-Trace 1.0 section 2.
 *
 * The caller feeds spans of any size (a whole mapped file, or what a pipe just gave) and pulls messages
 * until NTR_NEED_MORE. Nothing is allocated; a message cut by the end of a span is kept inside the framer.
 * Bad framing (framer.h tells what) comes out in stream order as a message with `defect` set; the reader then
 * continues at the next start of a message. Every byte is idle or part of exactly one message. */
#ifndef NTRACE_READER_H
#define NTRACE_READER_H

#include <ntrace/framer.h>
#include <ntrace/message.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_reader {
    ntr_params params;
    ntr_framer framer;
    uint64_t number; /* messages given out so far, defects included */
    const struct ntr_quick *quick; /* how this processor reads best; private */
    uint64_t reserved[8]; /* must be 0; for later members */
} ntr_reader;

/* Start at the beginning of a stream. `params` is copied; NULL is the plain N-Trace 1.0 stream.
 * Errors: as ntr_params_check. */
NTR_API ntr_status ntr_reader_init(ntr_reader *reader, const ntr_params *params);

/* Tell that the stream begins in the middle of something (a wrapped buffer): everything up to and
 * including the first byte with MSEO 11 is skipped without being called a defect. */
NTR_API void ntr_reader_seek_start(ntr_reader *reader);

/* Tell, before anything is fed, that what is fed begins at this offset of the stream, with this message. */
NTR_API void ntr_reader_begin(ntr_reader *reader, uint64_t offset, uint64_t message);

/* Give the next span; the one before must have been read to its end (NTR_NEED_MORE). `last` tells that
 * nothing follows. The bytes stay the caller's and must live until the span is read.
 * Errors: NTR_E_STATE. */
NTR_API ntr_status ntr_reader_feed(ntr_reader *reader, const uint8_t *data, size_t size, bool last);

/* NTR_OK with the next message (check `message->defect`), NTR_NEED_MORE, or NTR_END. The message's `raw`
 * lives until the next call. */
NTR_API ntr_status ntr_reader_next(ntr_reader *reader, ntr_message *message);

/* Good messages by TCODE. */
typedef struct ntr_message_mix {
    uint64_t messages[64], bytes[64];
} ntr_message_mix;

/* As ntr_reader_next, but good messages are only counted (added to *mix): NTR_OK gives the next defect. The
 * quickest way through a stream for those who need no fields. */
NTR_API ntr_status ntr_reader_check(ntr_reader *reader, ntr_message_mix *mix, ntr_message *message);

/* Bytes of the stream that have been passed, idle included. */
NTR_API uint64_t ntr_reader_offset(const ntr_reader *reader);

/* How many of them were idle. */
NTR_API uint64_t ntr_reader_idle(const ntr_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
