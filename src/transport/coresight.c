/* CoreSight formatter frames, as produced by a TPIU, ETF or ETR.
 *
 * A frame has 16 bytes. Each even byte 0 to 14 is either a trace ID (bit 0 is 1, bits 7:1 are the ID) or data
 * (bit 0 is 0, bits 7:1 are bits 7:1 of the data byte). Bytes 1, 3, .. 13 are data. Byte 15 has one flag for each
 * even byte: for data, bit 0 of the data byte; for an ID, whether the following data byte still belongs to the
 * previous ID. A TPIU sends the full synchronization word 0x7fffffff between frames and the half synchronization
 * word 0x7fff between the byte pairs of a frame. ID 0x7f is not a valid trace ID, so neither word can occur as
 * frame content. Linux overwrites the first frame of a buffer that has lost data with a barrier: four full
 * synchronization words. */
#include "transport/transports.h"

enum { FRAME = 16, FLAGS = 15, ID_NONE = 0x80, REPEAT_ID = 10 /* frames */, BARRIER = 4 /* words */ };

static const uint8_t full_sync[4] = {0xff, 0xff, 0xff, 0x7f};
static const uint8_t half_sync[2] = {0xff, 0x7f};

typedef struct frame_reader {
    ntr_transport_reader base;
    bool aligned;
    bool had_frame;
    uint8_t size;        /* number of bytes of the current frame */
    uint32_t last;       /* the last four bytes */
    unsigned id;         /* trace ID of the next data byte; ID_NONE before the first ID */
    uint64_t unnamed;    /* data bytes skipped because no ID was received yet */
    unsigned noted;
    unsigned syncs;      /* full synchronization words in a row */
    uint8_t frame[FRAME];
} frame_reader;

typedef struct frame_writer {
    ntr_transport_writer base;
    uint8_t size;        /* number of bytes of the current frame */
    uint8_t pair[2];     /* the last one or two of these bytes */
    uint8_t flags;       /* the flags of byte 15 that are known so far */
    unsigned id;         /* trace ID of the next data byte */
    uint32_t frames;     /* frames since the last full synchronization */
    uint32_t unnamed;    /* frames since the last ID */
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
    if (reader->unnamed)
        reader_note(&reader->base, NTR_NOTE_UNKNOWN_ID, NTR_OK, reader->base.position, reader->unnamed);
    reader->unnamed = 0;
    reader->id = id;
}

/* Decodes the byte pair at `at`: an ID or data, then data (except for the last pair). */
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
    reader->syncs = 0;
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

/* Handles the end of a full synchronization word. The next byte starts a frame, also when the current one is not
 * complete. The words of a barrier follow each other: what was before it is not continued after it. */
static ntr_status take_full_sync(frame_reader *reader) {
    const bool between = reader->aligned && reader->size == sizeof full_sync;
    if (reader->aligned && !between) lose(reader, NTR_E_FORMAT);
    reader->syncs = between ? reader->syncs + 1 : 1;
    reader->aligned = true;
    reader->size = 0;
    if (reader->syncs != BARRIER) return NTR_OK;
    TRY(reader_flush(&reader->base));
    name(reader, ID_NONE);
    reader_note(&reader->base, NTR_NOTE_BARRIER, NTR_OK, reader->base.position, 0);
    return NTR_OK;
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned beat) {
    frame_reader *reader = (frame_reader *)base;
    reader->last = reader->last >> 8 | (uint32_t)beat << 24;
    reader->frame[reader->size++] = (uint8_t)beat;
    if (reader->last == 0x7fffffff) {
        return take_full_sync(reader);
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

/* Selects `id` for the next data byte. The second byte of a pair can only be data. When an ID is needed there, the ID
 * becomes the first byte of the pair, the data byte moves to the second, and the flag says that this data byte still
 * belongs to the previous ID. */
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

/* Pads the frame as a flush does: the remaining bytes belong to the null ID. */
static ntr_status fill_frame(frame_writer *writer) {
    while (writer->size) TRY(put_data(writer, NTR_ATB_ID_NULL, 0));
    return NTR_OK;
}

/* An idle TPIU sends half synchronization words. A memory sink has no idle state; the frame is padded with null
 * data. */
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
