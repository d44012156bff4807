/* PIB, parallel modes (trace-control sections 8.2 and 8.6). */
#include "transport/finder.h"
#include "transport/transports.h"

typedef struct pib_reader {
    ntr_transport_reader base;
    message_finder finder;
} pib_reader;

typedef struct pib_writer {
    ntr_transport_writer base;
    bool inside;          /* inside a message */
    uint32_t since_idle;  /* bytes since the last idle byte */
    uint16_t held;        /* 16-bit mode: the byte on the lower eight pins */
    bool holds;           /* `held` is valid */
    bool idle_due;        /* idle beats are needed before the next message */
} pib_writer;

/* Number of idle beats before the first message. Enough to find the alignment, also when a recording misses the first
 * few beats. */
enum { LEAD_IN = 80 };

static uint64_t pattern_of(unsigned beat_bits) {
    switch (beat_bits) {
    case 1: return CALIBRATION_1;
    case 2: return CALIBRATION_2;
    case 4: return CALIBRATION_4;
    case 8: return CALIBRATION_8;
    default: return CALIBRATION_16;
    }
}

static unsigned pattern_bits_of(unsigned beat_bits) {
    return beat_bits == 16 ? 64 : 32;
}

static ntr_status read_start(ntr_transport_reader *base) {
    pib_reader *reader = (pib_reader *)base;
    const unsigned bits = base->transport->beat_bits;
    finder_start(&reader->finder, bits < 8 ? bits : 8, base->options.begin, pattern_of(bits), pattern_bits_of(bits));
    return NTR_OK;
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned beat) {
    pib_reader *reader = (pib_reader *)base;
    if (base->transport->beat_bits < 16) return finder_beat(&reader->finder, base, beat, base->position);
    TRY(finder_beat(&reader->finder, base, beat & 0xff, base->position));
    return finder_beat(&reader->finder, base, beat >> 8, base->position);
}

static ntr_status read_end(ntr_transport_reader *base) {
    finder_end(&((pib_reader *)base)->finder, base);
    return NTR_OK;
}

static unsigned idle_beat(const ntr_transport_writer *base) {
    return (1u << base->transport->beat_bits) - 1;
}

static ntr_status put_byte(pib_writer *writer, uint8_t byte) {
    const unsigned bits = writer->base.transport->beat_bits;
    if (bits == 16) {
        writer->holds = !writer->holds;
        if (!writer->holds) return writer_give(&writer->base, writer->held | (unsigned)byte << 8);
        writer->held = byte;
        return NTR_OK;
    }
    for (unsigned at = 0; at < 8; at += bits)
        TRY(writer_give(&writer->base, (unsigned)byte >> at & idle_beat(&writer->base)));
    return NTR_OK;
}

static ntr_status fill_beat(pib_writer *writer) {
    return writer->holds ? put_byte(writer, 0xff) : NTR_OK;
}

static ntr_status write_start(ntr_transport_writer *base) {
    return writer_give_many(base, idle_beat(base), LEAD_IN);
}

/* In narrow modes a probe needs idle bytes at intervals to find the first MSEO bit. */
static bool wants_idle(const pib_writer *writer, uint8_t first) {
    const uint32_t every = writer->base.options.idle_every;
    if (writer->base.transport->beat_bits >= 8) return false;
    return ntr_tcode_is_sync(first >> 2) || (every && writer->since_idle >= every);
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    pib_writer *writer = (pib_writer *)base;
    (void)id;
    const byte_role role = message_byte(&writer->inside, byte);
    if (role == BYTE_IDLE) return NTR_OK;
    if (writer->idle_due) TRY(writer_give_many(base, idle_beat(base), LEAD_IN));
    writer->idle_due = false;
    if (role == BYTE_FIRST && wants_idle(writer, byte)) {
        TRY(put_byte(writer, 0xff));
        writer->since_idle = 0;
    }
    writer->since_idle++;
    return put_byte(writer, byte);
}

static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    pib_writer *writer = (pib_writer *)base;
    if (writer->inside) return NTR_E_STATE;
    TRY(fill_beat(writer));
    return writer_give_many(base, idle_beat(base), count);
}

static ntr_status write_calibration(ntr_transport_writer *base, uint32_t times) {
    pib_writer *writer = (pib_writer *)base;
    const unsigned bits = base->transport->beat_bits;
    if (writer->inside) return NTR_E_STATE;
    TRY(fill_beat(writer));
    for (; times; times--)
        for (unsigned at = 0; at < pattern_bits_of(bits); at += bits)
            TRY(writer_give(base, (unsigned)(pattern_of(bits) >> at) & idle_beat(base)));
    writer->idle_due = true; /* readers search for the alignment again */
    return NTR_OK;
}

static ntr_status write_end(ntr_transport_writer *base) {
    return fill_beat((pib_writer *)base);
}

/* One implementation for all widths; ntr_transport.beat_bits selects the width. */
const transport_ops ntr_pib_ops = {
    .reader_size = sizeof(pib_reader),
    .writer_size = sizeof(pib_writer),
    .read_start = read_start,
    .read_beat = read_beat,
    .read_end = read_end,
    .write_start = write_start,
    .write_byte = write_byte,
    .write_idle = write_idle,
    .write_calibration = write_calibration,
    .write_end = write_end,
};
