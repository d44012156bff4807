/* ATB transfers as records: ATID, number of bytes (ATBYTES + 1), the bytes in order. A zero in place of an ATID is
 * a cycle without transfer.
 *
 * A run of at least MARK_SEEN bytes 0x7f is an alignment mark. A record cannot contain such a run: 0x7f is neither a
 * valid ATID nor a valid length, and a record has at most 16 data bytes. A reader therefore finds the next record
 * after any interruption. The writer emits MARK_BYTES bytes, so that a mark is still recognized when its first
 * bytes are missing. */
#include "transport/transports.h"

enum { MARK = 0x7f, MARK_BYTES = 20, MARK_SEEN = 17, TRANSFER_MAX = 16, DEFAULT_WIDTH = 4 };

/* SEARCH: not aligned, waiting for a mark. MARKING: aligned, inside a mark. */
typedef enum expect { SEARCH, MARKING, EXPECT_ID, EXPECT_COUNT, EXPECT_DATA } expect;

typedef struct atb_reader {
    ntr_transport_reader base;
    uint8_t expect;
    uint8_t id, left, size;
    uint32_t marks; /* bytes 0x7f in a row */
    uint64_t record_position;
    unsigned noted;
    uint8_t bytes[TRANSFER_MAX];
} atb_reader;

typedef struct atb_writer {
    ntr_transport_writer base;
    uint8_t width, id, size;
    uint32_t transfers; /* since the last mark */
    uint8_t bytes[TRANSFER_MAX];
} atb_writer;

static ntr_status read_start(ntr_transport_reader *base) {
    ((atb_reader *)base)->expect = base->options.begin == NTR_BEGIN_ANYWHERE ? SEARCH : EXPECT_ID;
    return NTR_OK;
}

static ntr_status lose(atb_reader *reader, ntr_status reason) {
    if (reader->expect != SEARCH) reader_note(&reader->base, NTR_NOTE_LOST, reason, reader->record_position, 0);
    reader->expect = SEARCH;
    return NTR_OK;
}

static ntr_status take_id(atb_reader *reader, uint8_t byte) {
    reader->record_position = reader->base.position;
    reader->expect = EXPECT_ID;
    if (byte > MARK) return lose(reader, NTR_E_FORMAT);
    if (byte == NTR_ATB_ID_NULL) return NTR_OK;
    reader->id = byte;
    reader->expect = byte == MARK ? MARKING : EXPECT_COUNT;
    return NTR_OK;
}

static ntr_status take_count(atb_reader *reader, uint8_t byte) {
    if (byte < 1 || byte > TRANSFER_MAX) return lose(reader, NTR_E_FORMAT);
    reader->left = byte;
    reader->size = 0;
    reader->expect = EXPECT_DATA;
    return NTR_OK;
}

static ntr_status take_data(atb_reader *reader, uint8_t byte) {
    reader->bytes[reader->size++] = byte;
    if (--reader->left) return NTR_OK;
    reader->expect = EXPECT_ID;
    return trace_id_give(&reader->base, &reader->noted, reader->id, reader->bytes, reader->size);
}

/* Handles the first byte after a mark of `run` bytes. */
static ntr_status take_after_mark(atb_reader *reader, uint8_t byte, uint32_t run) {
    if (run < MARK_SEEN) return lose(reader, NTR_E_FORMAT);
    if (reader->expect == SEARCH) reader_note(&reader->base, NTR_NOTE_ALIGNED, NTR_OK, reader->base.position, 0);
    return take_id(reader, byte);
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned beat) {
    atb_reader *reader = (atb_reader *)base;
    const uint8_t byte = (uint8_t)beat;
    const uint32_t run = reader->marks;
    reader->marks = byte == MARK ? run + 1 : 0;
    if (reader->marks >= MARK_SEEN && reader->expect > EXPECT_ID) return lose(reader, NTR_E_FORMAT);
    switch (reader->expect) {
    case EXPECT_ID: return take_id(reader, byte);
    case EXPECT_COUNT: return take_count(reader, byte);
    case EXPECT_DATA: return take_data(reader, byte);
    default: return byte == MARK ? NTR_OK : take_after_mark(reader, byte, run);
    }
}

static ntr_status read_end(ntr_transport_reader *base) {
    atb_reader *reader = (atb_reader *)base;
    return reader->expect > EXPECT_ID ? lose(reader, NTR_E_TRUNCATED) : NTR_OK;
}

static ntr_status put_mark(atb_writer *writer) {
    writer->transfers = 0;
    return writer_give_many(&writer->base, MARK, MARK_BYTES);
}

static ntr_status write_start(ntr_transport_writer *base) {
    atb_writer *writer = (atb_writer *)base;
    const uint8_t width = base->options.atb_bytes ? base->options.atb_bytes : DEFAULT_WIDTH;
    if (width > TRANSFER_MAX || (width & (width - 1))) return NTR_E_RANGE;
    writer->width = width;
    return put_mark(writer);
}

static ntr_status put_record(atb_writer *writer, unsigned id, const uint8_t *bytes, unsigned size) {
    const uint32_t every = writer->base.options.sync_every;
    if (every && writer->transfers >= every) TRY(put_mark(writer));
    writer->transfers++;
    TRY(writer_give(&writer->base, id));
    TRY(writer_give(&writer->base, size));
    for (unsigned i = 0; i < size; i++) TRY(writer_give(&writer->base, bytes[i]));
    return NTR_OK;
}

/* Writes the bytes that wait for a complete transfer. */
static ntr_status flush(atb_writer *writer) {
    const unsigned size = writer->size;
    writer->size = 0;
    return size ? put_record(writer, writer->id, writer->bytes, size) : NTR_OK;
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    atb_writer *writer = (atb_writer *)base;
    if (id != writer->id) TRY(flush(writer));
    writer->id = (uint8_t)id;
    writer->bytes[writer->size++] = byte;
    return writer->size == writer->width ? flush(writer) : NTR_OK;
}

static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    TRY(flush((atb_writer *)base));
    return writer_give_many(base, NTR_ATB_ID_NULL, count);
}

static ntr_status write_trigger(ntr_transport_writer *base, unsigned id) {
    const uint8_t source = (uint8_t)id;
    TRY(flush((atb_writer *)base));
    return put_record((atb_writer *)base, NTR_ATB_ID_TRIGGER, &source, 1);
}

static ntr_status write_end(ntr_transport_writer *base) {
    return flush((atb_writer *)base);
}

const transport_ops ntr_atb_ops = {
    .reader_size = sizeof(atb_reader),
    .writer_size = sizeof(atb_writer),
    .read_start = read_start,
    .read_beat = read_beat,
    .read_end = read_end,
    .write_start = write_start,
    .write_byte = write_byte,
    .write_idle = write_idle,
    .write_trigger = write_trigger,
    .write_end = write_end,
};
