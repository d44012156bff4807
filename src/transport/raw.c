/* The N-Trace byte stream without idle bytes. */
#include "transport/transports.h"

typedef struct raw_reader {
    ntr_transport_reader base;
    bool inside;
} raw_reader;

typedef struct raw_writer {
    ntr_transport_writer base;
    bool inside;
} raw_writer;

static ntr_status read_start(ntr_transport_reader *base) {
    ((raw_reader *)base)->inside = base->options.begin == NTR_BEGIN_ANYWHERE;
    return NTR_OK;
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned beat) {
    raw_reader *reader = (raw_reader *)base;
    const uint8_t byte = (uint8_t)beat;
    if (message_byte(&reader->inside, byte) == BYTE_IDLE) return NTR_OK;
    return reader_give(base, 0, &byte, 1);
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    raw_writer *writer = (raw_writer *)base;
    (void)id;
    if (message_byte(&writer->inside, byte) == BYTE_IDLE) return NTR_OK;
    return writer_give(base, byte);
}

static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    if (((raw_writer *)base)->inside) return NTR_E_STATE;
    return writer_give_many(base, 0xff, count);
}

const transport_ops ntr_raw_ops = {
    .reader_size = sizeof(raw_reader),
    .writer_size = sizeof(raw_writer),
    .read_start = read_start,
    .read_beat = read_beat,
    .write_byte = write_byte,
    .write_idle = write_idle,
};
