/* Private interface between transport.c and the implementations of the transports. */
#ifndef NTR_TRANSPORT_TRANSPORTS_H
#define NTR_TRANSPORT_TRANSPORTS_H

#include "base/macros.h"

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

/* Passes one beat to the sink. */
ntr_status writer_give(ntr_transport_writer *writer, unsigned beat);
ntr_status writer_give_many(ntr_transport_writer *writer, unsigned beat, uint32_t count);

#endif
