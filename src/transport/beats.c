/* What all transports use: beats packed in bytes, the buffers in front of the sinks, and trace IDs. */
#include "transport/transports.h"

#include <ntrace/transport.h>
#include <string.h>

/* ---- beats packed in bytes: the first beat in the least significant bits, 16-bit beats in little-endian order */

size_t ntr_beats_unpack(unsigned beat_bits, int *held, const uint8_t *bytes, size_t size, uint16_t *beats) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        if (beat_bits == 16) {
            if (*held < 0) {
                *held = bytes[i];
            } else {
                beats[count++] = (uint16_t)(*held | bytes[i] << 8);
                *held = -1;
            }
            continue;
        }
        for (unsigned at = 0; at < 8; at += beat_bits)
            beats[count++] = (uint16_t)(bytes[i] >> at & ((1u << beat_bits) - 1));
    }
    return count;
}

size_t ntr_beats_pack(unsigned beat_bits, unsigned *held, unsigned *held_bits, const uint16_t *beats, size_t count,
                      uint8_t *bytes) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        *held |= (unsigned)beats[i] << *held_bits;
        for (*held_bits += beat_bits; *held_bits >= 8; *held_bits -= 8) {
            bytes[size++] = (uint8_t)*held;
            *held >>= 8;
        }
    }
    return size;
}

/* ---- bytes to the sink of a reader */

ntr_status reader_flush(ntr_transport_reader *reader) {
    size_t size = reader->out_size;
    reader->out_size = 0;
    return size ? reader->options.sink(reader->options.user, reader->out_id, reader->out, size) : NTR_OK;
}

ntr_status reader_give(ntr_transport_reader *reader, unsigned id, const uint8_t *bytes, size_t size) {
    if (id != reader->out_id || size > OUT_BYTES - reader->out_size) {
        TRY(reader_flush(reader));
        reader->out_id = id;
    }
    memcpy(reader->out + reader->out_size, bytes, size);
    reader->out_size += size;
    return NTR_OK;
}

void reader_note(ntr_transport_reader *reader, ntr_note_kind kind, ntr_status reason, uint64_t position,
                 uint64_t value) {
    if (!reader->options.note) return;
    ntr_transport_note note = {(uint8_t)kind, (int16_t)reason, position, value};
    reader->options.note(reader->options.user, &note);
}

ntr_status trace_id_give(ntr_transport_reader *reader, unsigned *noted, unsigned id, const uint8_t *bytes,
                         size_t size) {
    if (id == NTR_ATB_ID_NULL) return NTR_OK;
    if (id < NTR_ATB_ID_RESERVED) return reader_give(reader, id, bytes, size);
    if (id == NTR_ATB_ID_TRIGGER || id == NTR_ATB_ID_FLUSH) {
        const ntr_note_kind kind = id == NTR_ATB_ID_TRIGGER ? NTR_NOTE_TRIGGER : NTR_NOTE_FLUSH;
        for (size_t i = 0; i < size; i++) reader_note(reader, kind, NTR_OK, reader->position, bytes[i]);
    } else if (*noted != id) { /* one note per ID */
        *noted = id;
        reader_note(reader, NTR_NOTE_ID, NTR_OK, reader->position, id);
    }
    return NTR_OK;
}

/* ---- beats to the sink of a writer */

ntr_status writer_flush(ntr_transport_writer *writer) {
    size_t count = writer->out_size;
    writer->out_size = 0;
    return count ? writer->options.sink(writer->options.user, writer->out, count) : NTR_OK;
}

ntr_status writer_give(ntr_transport_writer *writer, unsigned beat) {
    if (writer->out_size == OUT_BEATS) TRY(writer_flush(writer));
    writer->out[writer->out_size++] = (uint16_t)beat;
    return NTR_OK;
}

ntr_status writer_give_many(ntr_transport_writer *writer, unsigned beat, uint32_t count) {
    for (; count; count--) TRY(writer_give(writer, beat));
    return NTR_OK;
}
