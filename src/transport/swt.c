/* Serial wire: UART and Manchester encoding (trace-control sections 8.4 and 8.5). */
#include "transport/finder.h"
#include "transport/transports.h"

typedef struct swt_reader {
    ntr_transport_reader base;
    uint32_t states;
    uint8_t byte, bits;
    bool complete; /* what is being received, a byte or a message, was received from its start bit */
    message_finder finder;
} swt_reader;

typedef struct swt_writer {
    ntr_transport_writer base;
    bool inside;
    bool idle_due; /* UART: idle bits are needed before the next message */
} swt_writer;

/* Returns to all states; `dead` is the last one. */
static void search(swt_reader *reader, unsigned dead) {
    reader->states = STATE(dead) - 1;
    reader->complete = false;
}

static ntr_status read_end(ntr_transport_reader *base) {
    finder_end(&((swt_reader *)base)->finder, base);
    return NTR_OK;
}

/* ---- Serial wire, UART 8N1, least significant bit first, idle high (trace-control section 8.5). */

/* UART_DATA + k: k of the eight data bits received. */
enum uart_state { UART_IDLE, UART_DATA, UART_STOP = UART_DATA + 8, UART_DEAD };

enum { UART_LEAD_IN = 16, FRAME_BITS = 10 };

static unsigned uart_next(unsigned state, unsigned bit) {
    switch (state) {
    case UART_IDLE: return bit ? UART_IDLE : UART_DATA;
    case UART_STOP: return bit ? UART_IDLE : UART_DEAD;
    default: return state + 1;
    }
}

static ntr_status uart_read_start(ntr_transport_reader *base) {
    swt_reader *reader = (swt_reader *)base;
    search(reader, UART_DEAD);
    if (base->options.begin == NTR_BEGIN_ALIGNED) reader->states = STATE(UART_IDLE);
    finder_start(&reader->finder, 8, base->options.begin, CALIBRATION_8, 32);
    return NTR_OK;
}

static ntr_status uart_read_beat(ntr_transport_reader *base, unsigned bit) {
    swt_reader *reader = (swt_reader *)base;
    const uint32_t before = reader->states;
    reader->states = states_step(before, bit, uart_next, UART_DEAD);
    if (!reader->states) {
        finder_break(&reader->finder, base, NTR_E_FORMAT, base->position);
        search(reader, UART_DEAD);
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

static ntr_status uart_put_byte(ntr_transport_writer *base, unsigned byte) {
    const unsigned frame = 0x200 | byte << 1; /* stop bit, data, start bit */
    for (unsigned i = 0; i < FRAME_BITS; i++) TRY(writer_give(base, frame >> i & 1));
    return NTR_OK;
}

/* Idle bits determine where bytes begin, but they may occur inside a message. Only an idle byte, or the last byte of a
 * message, determines where messages begin. */
static ntr_status uart_write_start(ntr_transport_writer *base) {
    TRY(writer_give_many(base, 1, UART_LEAD_IN));
    return uart_put_byte(base, 0xff);
}

static ntr_status uart_write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    swt_writer *writer = (swt_writer *)base;
    (void)id;
    if (message_byte(&writer->inside, byte) == BYTE_IDLE) return NTR_OK;
    if (writer->idle_due) TRY(uart_write_start(base));
    writer->idle_due = false;
    return uart_put_byte(base, byte);
}

static ntr_status uart_write_idle(ntr_transport_writer *base, uint32_t count) {
    return writer_give_many(base, 1, count);
}

static ntr_status uart_write_calibration(ntr_transport_writer *base, uint32_t times) {
    if (((swt_writer *)base)->inside) return NTR_E_STATE;
    for (; times; times--)
        for (unsigned at = 0; at < 32; at += 8) TRY(uart_put_byte(base, CALIBRATION_8 >> at & 0xff));
    ((swt_writer *)base)->idle_due = true; /* readers search for the alignment again */
    return NTR_OK;
}

const transport_ops ntr_swt_uart_ops = {
    .reader_size = sizeof(swt_reader),
    .writer_size = sizeof(swt_writer),
    .read_start = uart_read_start,
    .read_beat = uart_read_beat,
    .read_end = read_end,
    .write_start = uart_write_start,
    .write_byte = uart_write_byte,
    .write_idle = uart_write_idle,
    .write_calibration = uart_write_calibration,
};

/* ---- Serial wire, Manchester encoding, idle low: a start bit, the bits of one complete message, a stop bit. Each bit
 * has two phases (trace-control section 8.4). A beat is one phase. */

/* MANCHESTER_FIRST: before the first phase of a bit. SECOND_x: the first phase of the bit was x. */
enum manchester_state {
    MANCHESTER_IDLE,
    MANCHESTER_START,
    MANCHESTER_FIRST,
    MANCHESTER_SECOND_0,
    MANCHESTER_SECOND_1,
    MANCHESTER_DEAD
};

enum { MANCHESTER_LEAD_IN = 8 };

static unsigned manchester_next(unsigned state, unsigned phase) {
    switch (state) {
    case MANCHESTER_IDLE: return phase ? MANCHESTER_START : MANCHESTER_IDLE;
    case MANCHESTER_START: return phase ? MANCHESTER_DEAD : MANCHESTER_FIRST;
    case MANCHESTER_FIRST: return phase ? MANCHESTER_SECOND_1 : MANCHESTER_SECOND_0;
    case MANCHESTER_SECOND_0: return phase ? MANCHESTER_FIRST : MANCHESTER_IDLE; /* 00 is the stop bit */
    default: return phase ? MANCHESTER_DEAD : MANCHESTER_FIRST;
    }
}

static ntr_status manchester_read_start(ntr_transport_reader *base) {
    swt_reader *reader = (swt_reader *)base;
    search(reader, MANCHESTER_DEAD);
    if (base->options.begin == NTR_BEGIN_ALIGNED) reader->states = STATE(MANCHESTER_IDLE);
    finder_start(&reader->finder, 8, NTR_BEGIN_ALIGNED, CALIBRATION_8, 32);
    return NTR_OK;
}

static ntr_status take_bit(swt_reader *reader, unsigned bit) {
    reader->byte = (uint8_t)(reader->byte | bit << reader->bits);
    if (++reader->bits < 8) return NTR_OK;
    const uint8_t byte = reader->byte;
    reader->byte = reader->bits = 0;
    return finder_beat(&reader->finder, &reader->base, byte, reader->base.position - 15);
}

/* Handles a start or stop bit: a message boundary, independent of the framing of the bytes. */
static void at_boundary(swt_reader *reader, bool starts) {
    finder_boundary(&reader->finder, &reader->base, reader->complete && reader->bits);
    reader->byte = reader->bits = 0;
    reader->complete = starts;
}

static ntr_status manchester_read_beat(ntr_transport_reader *base, unsigned phase) {
    swt_reader *reader = (swt_reader *)base;
    const uint32_t before = reader->states;
    reader->states = states_step(before, phase, manchester_next, MANCHESTER_DEAD);
    if (!reader->states) {
        finder_break(&reader->finder, base, NTR_E_FORMAT, base->position);
        search(reader, MANCHESTER_DEAD);
    } else if (before == STATE(MANCHESTER_IDLE) && phase) {
        at_boundary(reader, true);
    } else if (before != STATE(MANCHESTER_IDLE) && reader->states == STATE(MANCHESTER_IDLE)) {
        at_boundary(reader, false);
    } else if (reader->complete && reader->states == STATE(MANCHESTER_FIRST) && before != STATE(MANCHESTER_START)) {
        return take_bit(reader, before == STATE(MANCHESTER_SECOND_1));
    }
    return NTR_OK;
}

static ntr_status put_bit(ntr_transport_writer *base, unsigned bit) {
    TRY(writer_give(base, bit));
    return writer_give(base, !bit);
}

static ntr_status manchester_put_byte(ntr_transport_writer *base, unsigned byte) {
    for (unsigned i = 0; i < 8; i++) TRY(put_bit(base, byte >> i & 1));
    return NTR_OK;
}

static ntr_status manchester_write_start(ntr_transport_writer *base) {
    return writer_give_many(base, 0, MANCHESTER_LEAD_IN);
}

static ntr_status manchester_write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    swt_writer *writer = (swt_writer *)base;
    (void)id;
    const byte_role role = message_byte(&writer->inside, byte);
    if (role == BYTE_IDLE) return NTR_OK;
    if (role == BYTE_FIRST) TRY(put_bit(base, 1));
    TRY(manchester_put_byte(base, byte));
    return writer->inside ? NTR_OK : writer_give_many(base, 0, 2);
}

static ntr_status manchester_write_idle(ntr_transport_writer *base, uint32_t count) {
    if (((swt_writer *)base)->inside) return NTR_E_STATE;
    return writer_give_many(base, 0, count);
}

static ntr_status manchester_write_calibration(ntr_transport_writer *base, uint32_t times) {
    if (((swt_writer *)base)->inside) return NTR_E_STATE;
    for (; times; times--) {
        TRY(put_bit(base, 1));
        for (unsigned at = 0; at < 32; at += 8) TRY(manchester_put_byte(base, CALIBRATION_8 >> at & 0xff));
        TRY(writer_give_many(base, 0, 2));
    }
    return NTR_OK;
}

const transport_ops ntr_swt_manchester_ops = {
    .reader_size = sizeof(swt_reader),
    .writer_size = sizeof(swt_writer),
    .read_start = manchester_read_start,
    .read_beat = manchester_read_beat,
    .read_end = read_end,
    .write_start = manchester_write_start,
    .write_byte = manchester_write_byte,
    .write_idle = manchester_write_idle,
    .write_calibration = manchester_write_calibration,
};
