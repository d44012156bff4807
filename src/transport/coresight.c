/* CoreSight formatter frames, as a TPIU, ETF or ETR gives them.
 *
 * A frame has 16 bytes. Bytes 0, 2, .. 14 are a data byte's bits 7:1 above a 0, or a trace ID above a 1; byte 15
 * holds one bit for each of them: bit 0 of the data byte, or whether one more byte of the old ID comes
 * before the new one. Bytes 1, 3, .. 13 are data. Between frames a TPIU sends the full synchronization word
 * 0x7fffffff, between the pairs of a frame the half one 0x7fff; ID 0x7f does not exist, so neither can be
 * mistaken. */
#include "transport/trace_ids.h"

enum { FRAME = 16, FLAGS = 15, ID_NONE = 0x80, REPEAT_ID = 10 /* frames */ };

static const uint8_t full_sync[4] = {0xff, 0xff, 0xff, 0x7f};
static const uint8_t half_sync[2] = {0xff, 0x7f};

typedef struct frame_reader {
    ntr_transport_reader base;
    bool aligned;
    bool had_frame;
    uint8_t size;        /* bytes of the frame so far */
    uint32_t last;       /* the last four bytes */
    unsigned id;         /* stream of the next data byte; ID_NONE until one is named */
    uint64_t unnamed;    /* data bytes passed over meanwhile */
    unsigned noted;
    uint8_t frame[FRAME];
} frame_reader;

typedef struct frame_writer {
    ntr_transport_writer base;
    uint8_t size;        /* bytes of the frame so far */
    uint8_t pair[2];     /* the last one or two of them */
    uint8_t flags;       /* byte 15 as far as known */
    unsigned id;         /* stream of the next data byte */
    uint32_t frames;     /* since the last full synchronization */
    uint32_t unnamed;    /* frames since an ID was last sent */
} frame_writer;

/* ---- reader */

static ntr_status read_start(ntr_transport_reader *base) {
    frame_reader *reader = (frame_reader *)base;
    reader->aligned = base->options.begin != NTR_BEGIN_ANYWHERE;
    reader->id = ID_NONE;
    return NTR_OK;
}

static ntr_status give(frame_reader *reader, uint8_t byte) {
    if (reader->id == ID_NONE) {
        reader->unnamed++;
        return NTR_OK;
    }
    return trace_id_give(&reader->base, &reader->noted, reader->id, &byte, 1);
}

static void name(frame_reader *reader, unsigned id) {
    if (reader->unnamed) reader_note(&reader->base, NTR_NOTE_UNKNOWN_ID, NTR_OK, reader->base.position, reader->unnamed);
    reader->unnamed = 0;
    reader->id = id;
}

/* The pair at `at` is an ID or data, then (but for the last) data. */
static ntr_status take_pair(frame_reader *reader, unsigned at) {
    const uint8_t first = reader->frame[at], flag = reader->frame[FLAGS] >> (at / 2) & 1;
    const bool second = at + 1 < FLAGS;
    if (!(first & 1)) {
        TRY(give(reader, first | flag));
    } else if (flag && second) {
        TRY(give(reader, reader->frame[at + 1]));
        name(reader, first >> 1);
        return NTR_OK;
    } else {
        name(reader, first >> 1);
    }
    return second ? give(reader, reader->frame[at + 1]) : NTR_OK;
}

static ntr_status take_frame(frame_reader *reader) {
    if (!reader->had_frame)
        reader_note(&reader->base, NTR_NOTE_ALIGNED, NTR_OK, reader->base.position - (FRAME - 1), 0);
    reader->had_frame = true;
    reader->size = 0;
    for (unsigned at = 0; at < FLAGS; at += 2) TRY(take_pair(reader, at));
    return NTR_OK;
}

static void lose(frame_reader *reader, ntr_status reason) {
    if (reader->had_frame) reader_note(&reader->base, NTR_NOTE_LOST, reason, reader->base.position, 0);
    reader->had_frame = false;
    reader->id = ID_NONE;
}

/* A full synchronization ended here: a frame starts with the next byte, wherever this one was put. */
static void take_full_sync(frame_reader *reader) {
    if (reader->aligned && reader->size != sizeof full_sync) lose(reader, NTR_E_FORMAT);
    reader->aligned = true;
    reader->size = 0;
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned beat) {
    frame_reader *reader = (frame_reader *)base;
    reader->last = reader->last >> 8 | (uint32_t)beat << 24;
    reader->frame[reader->size++] = (uint8_t)beat;
    if (reader->last == 0x7fffffff) {
        take_full_sync(reader);
    } else if (!reader->aligned) {
        reader->size = 0;
    } else if (reader->size % 2 == 0 && reader->frame[reader->size - 2] == 0xff && beat == 0x7f) {
        reader->size = (uint8_t)(reader->size - sizeof half_sync);
    } else if (reader->size == FRAME) {
        return take_frame(reader);
    }
    return NTR_OK;
}

static ntr_status read_end(ntr_transport_reader *base) {
    frame_reader *reader = (frame_reader *)base;
    if (reader->size) lose(reader, NTR_E_TRUNCATED);
    name(reader, ID_NONE);
    if (!reader->aligned) reader_note(base, NTR_NOTE_LOST, NTR_E_NOT_SYNCED, base->position, 0);
    return NTR_OK;
}

/* ---- writer */

static ntr_status put_bytes(frame_writer *writer, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) TRY(writer_give(&writer->base, bytes[i]));
    return NTR_OK;
}

static ntr_status end_frame(frame_writer *writer) {
    const uint32_t every = writer->base.options.sync_every;
    writer->pair[1] = writer->flags;
    TRY(put_bytes(writer, writer->pair, sizeof writer->pair));
    writer->size = writer->flags = 0;
    writer->unnamed++;
    if (!every || ++writer->frames < every) return NTR_OK;
    writer->frames = 0;
    writer->unnamed = REPEAT_ID;
    return put_bytes(writer, full_sync, sizeof full_sync);
}

static ntr_status put_slot(frame_writer *writer, uint8_t byte) {
    writer->pair[writer->size++ % 2] = byte;
    if (writer->size == FLAGS) return end_frame(writer);
    return writer->size % 2 ? NTR_OK : put_bytes(writer, writer->pair, sizeof writer->pair);
}

static void set_flag(frame_writer *writer, unsigned at, unsigned flag) {
    writer->flags = (uint8_t)(writer->flags | flag << (at / 2));
}

/* The next data byte belongs to `id`. In the second place of a pair only data can stand: then the ID takes
 * the first place, and the data byte there moves up (the flag says that it belongs to the old ID). */
static ntr_status change_id(frame_writer *writer, unsigned id) {
    const uint8_t byte = (uint8_t)(id << 1 | 1);
    writer->id = id;
    writer->unnamed = 0;
    if (writer->size % 2 == 0) return put_slot(writer, byte);
    const unsigned at = writer->size - 1u;
    const uint8_t moved = (uint8_t)(writer->pair[0] | (writer->flags >> (at / 2) & 1));
    writer->pair[0] = byte;
    set_flag(writer, at, 1);
    return put_slot(writer, moved);
}

static ntr_status put_data(frame_writer *writer, unsigned id, uint8_t byte) {
    if (id != writer->id || (writer->size == 0 && writer->unnamed >= REPEAT_ID)) TRY(change_id(writer, id));
    if (writer->size % 2) return put_slot(writer, byte);
    set_flag(writer, writer->size, byte & 1);
    return put_slot(writer, byte & 0xfe);
}

static ntr_status write_start(ntr_transport_writer *base) {
    frame_writer *writer = (frame_writer *)base;
    writer->id = ID_NONE;
    return base->options.sync_every ? put_bytes(writer, full_sync, sizeof full_sync) : NTR_OK;
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    return put_data((frame_writer *)base, id, byte);
}

/* Padding as a flush makes it: the rest of the frame belongs to the null ID. */
static ntr_status fill_frame(frame_writer *writer) {
    while (writer->size) TRY(put_data(writer, NTR_ATB_ID_NULL, 0));
    return NTR_OK;
}

/* A TPIU rests with half synchronizations. A memory has no rest: its frame is filled with null data. */
static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    frame_writer *writer = (frame_writer *)base;
    for (; count; count--) {
        if (!base->options.sync_every || writer->size % 2)
            TRY(put_data(writer, NTR_ATB_ID_NULL, 0));
        else
            TRY(put_bytes(writer, half_sync, sizeof half_sync));
    }
    return NTR_OK;
}

static ntr_status write_trigger(ntr_transport_writer *base, unsigned id) {
    return put_data((frame_writer *)base, NTR_ATB_ID_TRIGGER, (uint8_t)id);
}

static ntr_status write_end(ntr_transport_writer *base) {
    return fill_frame((frame_writer *)base);
}

const transport_ops ntr_coresight_ops = {
    .reader_size = sizeof(frame_reader),
    .writer_size = sizeof(frame_writer),
    .read_start = read_start,
    .read_beat = read_beat,
    .read_end = read_end,
    .write_start = write_start,
    .write_byte = write_byte,
    .write_idle = write_idle,
    .write_trigger = write_trigger,
    .write_end = write_end,
};
