/* Serial wire, UART 8N1, least significant bit first, idle high (trace-control section 8.5). */
#include "transport/finder.h"
#include "transport/messages.h"
#include "transport/places.h"

/* DATA + k: k of eight data bits seen. */
enum place { IDLE, DATA, STOP = DATA + 8, DEAD };

enum { LEAD_IN = 16, FRAME_BITS = 10 };

typedef struct uart_reader {
    ntr_transport_reader base;
    uint32_t places;
    uint8_t byte, bits;
    bool whole; /* the byte was seen from its start bit */
    message_finder finder;
} uart_reader;

typedef struct uart_writer {
    ntr_transport_writer base;
    bool inside;
    bool rest_due; /* before the next message */
} uart_writer;

static unsigned next(unsigned place, unsigned bit) {
    switch (place) {
    case IDLE: return bit ? IDLE : DATA;
    case STOP: return bit ? IDLE : DEAD;
    default: return place + 1;
    }
}

static void search(uart_reader *reader) {
    reader->places = PLACE(DEAD) - 1;
    reader->whole = false;
}

static ntr_status read_start(ntr_transport_reader *base) {
    uart_reader *reader = (uart_reader *)base;
    search(reader);
    if (base->options.begin == NTR_BEGIN_ALIGNED) reader->places = PLACE(IDLE);
    finder_start(&reader->finder, 8, base->options.begin, CALIBRATION_8, 32);
    return NTR_OK;
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned bit) {
    uart_reader *reader = (uart_reader *)base;
    const uint32_t before = reader->places;
    reader->places = places_step(before, bit, next, DEAD);
    if (!reader->places) {
        finder_break(&reader->finder, base, NTR_E_FORMAT, base->position);
        search(reader);
    } else if (before == PLACE(IDLE)) {
        reader->whole = reader->places == PLACE(DATA);
        reader->byte = reader->bits = 0;
    } else if (reader->whole && reader->bits < 8) {
        reader->byte = (uint8_t)(reader->byte | bit << reader->bits++);
    } else if (reader->whole && reader->places == PLACE(IDLE)) {
        return finder_beat(&reader->finder, base, reader->byte, base->position - (FRAME_BITS - 1));
    }
    return NTR_OK;
}

static ntr_status read_end(ntr_transport_reader *base) {
    finder_end(&((uart_reader *)base)->finder, base);
    return NTR_OK;
}

static ntr_status put_byte(ntr_transport_writer *base, unsigned byte) {
    const unsigned frame = 0x200 | byte << 1; /* stop bit, data, start bit */
    for (unsigned i = 0; i < FRAME_BITS; i++) TRY(writer_give(base, frame >> i & 1));
    return NTR_OK;
}

/* A rest settles where bytes begin, but may stand inside a message: only a last byte, or an idle one,
 * settles where messages do. */
static ntr_status write_start(ntr_transport_writer *base) {
    TRY(writer_give_many(base, 1, LEAD_IN));
    return put_byte(base, 0xff);
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    uart_writer *writer = (uart_writer *)base;
    (void)id;
    if (message_byte(&writer->inside, byte) == BYTE_IDLE) return NTR_OK;
    if (writer->rest_due) TRY(write_start(base));
    writer->rest_due = false;
    return put_byte(base, byte);
}

static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    return writer_give_many(base, 1, count);
}

static ntr_status write_calibration(ntr_transport_writer *base, uint32_t times) {
    if (((uart_writer *)base)->inside) return NTR_E_STATE;
    for (; times; times--)
        for (unsigned at = 0; at < 32; at += 8) TRY(put_byte(base, CALIBRATION_8 >> at & 0xff));
    ((uart_writer *)base)->rest_due = true; /* readers look for their place again */
    return NTR_OK;
}

const transport_ops ntr_swt_uart_ops = {
    .reader_size = sizeof(uart_reader),
    .writer_size = sizeof(uart_writer),
    .read_start = read_start,
    .read_beat = read_beat,
    .read_end = read_end,
    .write_start = write_start,
    .write_byte = write_byte,
    .write_idle = write_idle,
    .write_calibration = write_calibration,
};
