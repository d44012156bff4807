/* Where in the stream the messages of a modelled system arrive.
 *
 * What a hart executes reaches the stream later: its messages wait in buffers, and a RAM sink is read at the end. The
 * messages of one encoder stay in order. So a moment of a hart is kept as the number of messages that its encoder has
 * made until then (a mark), and the offset is known when the last of them has arrived.
 *
 * Example: the code of hart 0 changes when its encoder has made 7 messages. The mark is 1 << 62 until message 7 of this
 * encoder is at the bytes 90 to 95 of the stream; then it stands for offset 96. */
#ifndef NTR_CAPTURE_ARRIVALS_H
#define NTR_CAPTURE_ARRIVALS_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NTR_ARRIVALS_SOURCES = 4096 };

struct ntr_capture_mark;

struct ntr_capture_arrivals { /* all zero but for `allocator` and `src_bits`: nothing has arrived */
    const ntr_allocator *allocator;
    unsigned src_bits;
    struct ntr_capture_mark *marks;
    size_t count, capacity;
    struct ntr_capture_source_arrivals {
        uint64_t messages, offset; /* arrived; where the last of them ends */
        size_t next, last;  /* marks: the next one that is waited for, the newest one; + 1, 0: none */
    } sources[NTR_ARRIVALS_SOURCES];
};

void ntr_capture_arrivals_release(struct ntr_capture_arrivals *arrivals);

/* The moment at which the encoder with this SRC has made so many messages, never fewer than before. Returns 0 when out
 * of memory. */
uint64_t ntr_capture_arrivals_mark(struct ntr_capture_arrivals *arrivals, unsigned src, uint64_t messages);

/* A message has arrived, and ends at this offset. */
void ntr_capture_arrivals_put(struct ntr_capture_arrivals *arrivals, ntr_bytes message, uint64_t end);

/* The first messages of the source, so many, will not arrive: a buffer has wrapped. The stream continues at `offset`.
 */
void ntr_capture_arrivals_skip(struct ntr_capture_arrivals *arrivals, unsigned src, uint64_t messages, uint64_t offset);

/* Nothing arrives any more; what has not arrived would be at offset `end`. The offsets of later marks become at least
 * those of earlier ones, also of other sources. */
void ntr_capture_arrivals_finish(struct ntr_capture_arrivals *arrivals, uint64_t end);

/* Replaces a mark by its offset. `user` is a struct ntr_capture_arrivals. Other numbers stay. */
void ntr_capture_arrivals_resolve(void *user, uint64_t *position);

/* The SRC of a message. */
unsigned ntr_capture_arrivals_source(const struct ntr_capture_arrivals *arrivals, ntr_bytes message);

#endif
