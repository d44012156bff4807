/* Serial wire, Manchester encoding, idle low: a start bit, the bits of one complete message, a stop bit. Each bit has
 * two phases (trace-control section 8.4). A beat is one phase. */
#include "transport/finder.h"
#include "transport/messages.h"
#include "transport/state_set.h"

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

typedef struct manchester_reader {
    ntr_transport_reader base;
    uint32_t states;
    uint8_t byte, bits;
    bool complete; /* the message was received from its start bit */
    message_finder finder;
} manchester_reader;

typedef struct manchester_writer {
    ntr_transport_writer base;
    bool inside;
} manchester_writer;

static unsigned next(unsigned state, unsigned phase) {
    switch (state) {
    case MANCHESTER_IDLE: return phase ? MANCHESTER_START : MANCHESTER_IDLE;
    case MANCHESTER_START: return phase ? MANCHESTER_DEAD : MANCHESTER_FIRST;
    case MANCHESTER_FIRST: return phase ? MANCHESTER_SECOND_1 : MANCHESTER_SECOND_0;
    case MANCHESTER_SECOND_0: return phase ? MANCHESTER_FIRST : MANCHESTER_IDLE; /* 00 is the stop bit */
    default: return phase ? MANCHESTER_DEAD : MANCHESTER_FIRST;
    }
}

static void search(manchester_reader *reader) {
    reader->states = STATE(MANCHESTER_DEAD) - 1;
    reader->complete = false;
}

static ntr_status read_start(ntr_transport_reader *base) {
    manchester_reader *reader = (manchester_reader *)base;
    search(reader);
    if (base->options.begin == NTR_BEGIN_ALIGNED) reader->states = STATE(MANCHESTER_IDLE);
    finder_start(&reader->finder, 8, NTR_BEGIN_ALIGNED, CALIBRATION_8, 32);
    return NTR_OK;
}

static ntr_status take_bit(manchester_reader *reader, unsigned bit) {
    reader->byte = (uint8_t)(reader->byte | bit << reader->bits);
    if (++reader->bits < 8) return NTR_OK;
    const uint8_t byte = reader->byte;
    reader->byte = reader->bits = 0;
    return finder_beat(&reader->finder, &reader->base, byte, reader->base.position - 15);
}

/* Handles a start or stop bit: a message boundary, independent of the framing of the bytes. */
static void at_boundary(manchester_reader *reader, bool starts) {
    finder_boundary(&reader->finder, &reader->base, reader->complete && reader->bits);
    reader->byte = reader->bits = 0;
    reader->complete = starts;
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned phase) {
    manchester_reader *reader = (manchester_reader *)base;
    const uint32_t before = reader->states;
    reader->states = states_step(before, phase, next, MANCHESTER_DEAD);
    if (!reader->states) {
        finder_break(&reader->finder, base, NTR_E_FORMAT, base->position);
        search(reader);
    } else if (before == STATE(MANCHESTER_IDLE) && phase) {
        at_boundary(reader, true);
    } else if (before != STATE(MANCHESTER_IDLE) && reader->states == STATE(MANCHESTER_IDLE)) {
        at_boundary(reader, false);
    } else if (reader->complete && reader->states == STATE(MANCHESTER_FIRST) && before != STATE(MANCHESTER_START)) {
        return take_bit(reader, before == STATE(MANCHESTER_SECOND_1));
    }
    return NTR_OK;
}

static ntr_status read_end(ntr_transport_reader *base) {
    finder_end(&((manchester_reader *)base)->finder, base);
    return NTR_OK;
}

static ntr_status put_bit(ntr_transport_writer *base, unsigned bit) {
    TRY(writer_give(base, bit));
    return writer_give(base, !bit);
}

static ntr_status put_byte(ntr_transport_writer *base, unsigned byte) {
    for (unsigned i = 0; i < 8; i++) TRY(put_bit(base, byte >> i & 1));
    return NTR_OK;
}

static ntr_status write_start(ntr_transport_writer *base) {
    return writer_give_many(base, 0, MANCHESTER_LEAD_IN);
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    manchester_writer *writer = (manchester_writer *)base;
    (void)id;
    const byte_role role = message_byte(&writer->inside, byte);
    if (role == BYTE_IDLE) return NTR_OK;
    if (role == BYTE_FIRST) TRY(put_bit(base, 1));
    TRY(put_byte(base, byte));
    return writer->inside ? NTR_OK : writer_give_many(base, 0, 2);
}

static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    if (((manchester_writer *)base)->inside) return NTR_E_STATE;
    return writer_give_many(base, 0, count);
}

static ntr_status write_calibration(ntr_transport_writer *base, uint32_t times) {
    if (((manchester_writer *)base)->inside) return NTR_E_STATE;
    for (; times; times--) {
        TRY(put_bit(base, 1));
        for (unsigned at = 0; at < 32; at += 8) TRY(put_byte(base, CALIBRATION_8 >> at & 0xff));
        TRY(writer_give_many(base, 0, 2));
    }
    return NTR_OK;
}

const transport_ops ntr_swt_manchester_ops = {
    .reader_size = sizeof(manchester_reader),
    .writer_size = sizeof(manchester_writer),
    .read_start = read_start,
    .read_beat = read_beat,
    .read_end = read_end,
    .write_start = write_start,
    .write_byte = write_byte,
    .write_idle = write_idle,
    .write_calibration = write_calibration,
};
