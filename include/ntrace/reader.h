/* Reader: divides a byte stream into messages. Framing of N-Trace 1.0 section 2.
 *
 * The caller feeds pieces of any size (a mapped file, or data from a pipe) and reads messages until NTR_NEED_MORE.
 * The reader does not allocate; it keeps a message that the end of a piece divides. Damaged framing (framer.h) is
 * returned in stream order as a message with `defect` set; the reader then continues at the next start of a message.
 * Every byte of the stream is idle or part of exactly one message. */
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
    uint64_t number; /* messages returned so far, including defects */
    const struct ntr_quick *quick; /* functions for this processor; private */
    uint64_t reserved[8]; /* must be 0; for later members */
} ntr_reader;

/* Prepares to read a stream from its start. `params` is copied; NULL: N-Trace 1.0 without options. Errors: those of
 * ntr_params_check. */
NTR_API ntr_status ntr_reader_init(ntr_reader *reader, const ntr_params *params);

/* The stream may begin in the middle of a message (a wrapped buffer): bytes up to and including the first MSEO 11
 * are skipped without a defect. Call it before any data is fed. */
NTR_API void ntr_reader_seek_start(ntr_reader *reader);

/* The data fed next begins at this byte offset of the stream with the message of this number. Call it before any
 * data is fed. */
NTR_API void ntr_reader_begin(ntr_reader *reader, uint64_t offset, uint64_t message);

/* Sets the next piece of the stream. The previous piece must have been read to its end (NTR_NEED_MORE). `last`: no data
 * follows. The caller owns the bytes; they must stay valid until the piece is read. Errors: NTR_E_STATE. */
NTR_API ntr_status ntr_reader_feed(ntr_reader *reader, const uint8_t *data, size_t size, bool last);

/* Reads the next message. Returns NTR_OK (check message->defect), NTR_NEED_MORE (feed the next piece) or NTR_END.
 * `raw` of the message is valid until the next call. */
NTR_API ntr_status ntr_reader_next(ntr_reader *reader, ntr_message *message);

/* Number and bytes of the messages without defect, by TCODE. */
typedef struct ntr_message_mix {
    uint64_t messages[64], bytes[64];
} ntr_message_mix;

/* Reads to the next defect. Messages without defect are only added to *mix, which is faster than ntr_reader_next.
 * Returns NTR_OK with the next message that has a defect, NTR_NEED_MORE or NTR_END. */
NTR_API ntr_status ntr_reader_check(ntr_reader *reader, ntr_message_mix *mix, ntr_message *message);

/* Returns the number of bytes read so far, including idle bytes. */
NTR_API uint64_t ntr_reader_offset(const ntr_reader *reader);

/* Returns the number of idle bytes read so far. */
NTR_API uint64_t ntr_reader_idle(const ntr_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
