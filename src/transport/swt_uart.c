/* Serial wire, UART 8N1, least significant bit first, idle high (trace-control section 8.5). */
#include "transport/finder.h"
#include "transport/messages.h"
#include "transport/state_set.h"

/* UART_DATA + k: k of the eight data bits received. */
enum uart_state { UART_IDLE, UART_DATA, UART_STOP = UART_DATA + 8, UART_DEAD };

enum { UART_LEAD_IN = 16, FRAME_BITS = 10 };

typedef struct uart_reader {
    ntr_transport_reader base;
    uint32_t states;
    uint8_t byte, bits;
    bool complete; /* the byte was received from its start bit */
    message_finder finder;
} uart_reader;

typedef struct uart_writer {
    ntr_transport_writer base;
    bool inside;
    bool idle_due; /* idle bits are needed before the next message */
} uart_writer;

static unsigned next(unsigned state, unsigned bit) {
    switch (state) {
    case UART_IDLE: return bit ? UART_IDLE : UART_DATA;
    case UART_STOP: return bit ? UART_IDLE : UART_DEAD;
    default: return state + 1;
    }
}

static void search(uart_reader *reader) {
    reader->states = STATE(UART_DEAD) - 1;
    reader->complete = false;
}

static ntr_status read_start(ntr_transport_reader *base) {
    uart_reader *reader = (uart_reader *)base;
    search(reader);
    if (base->options.begin == NTR_BEGIN_ALIGNED) reader->states = STATE(UART_IDLE);
    finder_start(&reader->finder, 8, base->options.begin, CALIBRATION_8, 32);
    return NTR_OK;
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned bit) {
    uart_reader *reader = (uart_reader *)base;
    const uint32_t before = reader->states;
    reader->states = states_step(before, bit, next, UART_DEAD);
    if (!reader->states) {
        finder_break(&reader->finder, base, NTR_E_FORMAT, base->position);
        search(reader);
    } else if (before == STATE(UART_IDLE)) {
        reader->complete = reader->states == STATE(UART_DATA);
        reader->byte = reader->bits = 0;
    } else if (reader->complete && reader->bits < 8) {
        reader->byte = (uint8_t)(reader->byte | bit << reader->bits++);
    } else if (reader->complete && reader->states == STATE(UART_IDLE)) {
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

/* Idle bits determine where bytes begin, but they may occur inside a message. Only an idle byte, or the last byte of a
 * message, determines where messages begin. */
static ntr_status write_start(ntr_transport_writer *base) {
    TRY(writer_give_many(base, 1, UART_LEAD_IN));
    return put_byte(base, 0xff);
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    uart_writer *writer = (uart_writer *)base;
    (void)id;
    if (message_byte(&writer->inside, byte) == BYTE_IDLE) return NTR_OK;
    if (writer->idle_due) TRY(write_start(base));
    writer->idle_due = false;
    return put_byte(base, byte);
}

static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    return writer_give_many(base, 1, count);
}

static ntr_status write_calibration(ntr_transport_writer *base, uint32_t times) {
    if (((uart_writer *)base)->inside) return NTR_E_STATE;
    for (; times; times--)
        for (unsigned at = 0; at < 32; at += 8) TRY(put_byte(base, CALIBRATION_8 >> at & 0xff));
    ((uart_writer *)base)->idle_due = true; /* readers search for the alignment again */
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
