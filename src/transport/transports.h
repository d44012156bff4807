/* Private interface between transport.c, the implementations of the transports, and what they share (beats.c). */
#ifndef NTR_TRANSPORT_TRANSPORTS_H
#define NTR_TRANSPORT_TRANSPORTS_H

#include "base/macros.h"
#include "wire/ends.h"

#include <ntrace/transport.h>

enum { OUT_BYTES = 4096, OUT_BEATS = 512 };

/* The reader and writer structs of each transport begin with these structs. */
struct ntr_transport_reader {
    const struct transport_ops *ops;
    const ntr_transport *transport;
    ntr_reader_options options;
    uint64_t position; /* number of beats before the current one */
    unsigned out_id;
    size_t out_size;
    uint8_t out[OUT_BYTES];
};

struct ntr_transport_writer {
    const struct transport_ops *ops;
    const ntr_transport *transport;
    ntr_writer_options options;
    size_t out_size;
    uint16_t out[OUT_BEATS];
};

/* Functions that are not marked as required may be NULL: not supported, or nothing to do. */
typedef struct transport_ops {
    size_t reader_size, writer_size;
    ntr_status (*read_start)(ntr_transport_reader *reader);
    ntr_status (*read_beat)(ntr_transport_reader *reader, unsigned beat); /* required */
    ntr_status (*read_end)(ntr_transport_reader *reader);
    void (*read_release)(ntr_transport_reader *reader);
    ntr_status (*write_start)(ntr_transport_writer *writer);
    ntr_status (*write_byte)(ntr_transport_writer *writer, unsigned id, uint8_t byte); /* required */
    ntr_status (*write_idle)(ntr_transport_writer *writer, uint32_t count);            /* required */
    ntr_status (*write_calibration)(ntr_transport_writer *writer, uint32_t times);
    ntr_status (*write_trigger)(ntr_transport_writer *writer, unsigned id);
    ntr_status (*write_end)(ntr_transport_writer *writer);
    ntr_status (*write_ram)(const ntr_transport_writer *writer, ntr_ram_window *ram);
    void (*write_release)(ntr_transport_writer *writer);
} transport_ops;

#define NTR_TRANSPORT(ops, ...) extern const transport_ops ntr_##ops##_ops;
#include "transport/transports.def"
#undef NTR_TRANSPORT

/* Passes bytes of stream `id` to the sink. The bytes are buffered; `size` is at most OUT_BYTES, and the bytes of one
 * call are never split. */
ntr_status reader_give(ntr_transport_reader *reader, unsigned id, const uint8_t *bytes, size_t size);

void reader_note(ntr_transport_reader *reader, ntr_note_kind kind, ntr_status reason, uint64_t position,
                 uint64_t value);

/* Delivers bytes with trace ID `id`: to the sink for a trace source, as a note for a trigger, a flush or a reserved
 * ID, nowhere for the null ID. *noted is the last reserved ID that was reported. Errors: those of the sink. */
ntr_status trace_id_give(ntr_transport_reader *reader, unsigned *noted, unsigned id, const uint8_t *bytes, size_t size);

/* Passes what is buffered to the sink. */
ntr_status reader_flush(ntr_transport_reader *reader);
ntr_status writer_flush(ntr_transport_writer *writer);

/* Passes one beat to the sink. */
ntr_status writer_give(ntr_transport_writer *writer, unsigned beat);
ntr_status writer_give_many(ntr_transport_writer *writer, unsigned beat, uint32_t count);

/* ---- Message boundaries in a plain stream of N-Trace bytes, without decoding fields. */

typedef enum byte_role { BYTE_IDLE, BYTE_FIRST, BYTE_NEXT } byte_role;

/* Returns the role of `byte` and updates `*inside`, which is true inside a message. N-Trace 1.0 section 2. */
static inline byte_role message_byte(bool *inside, uint8_t byte) {
    if (!*inside && byte == NTR_IDLE) return BYTE_IDLE;
    const byte_role role = *inside ? BYTE_NEXT : BYTE_FIRST;
    *inside = !ntr_ends_message(byte);
    return role;
}

#endif
