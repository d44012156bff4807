#include "base/config.h"
#include "transport/transports.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <string.h>

static const ntr_transport transports[] = {
#define NTR_TRANSPORT(ops, name, bits, lines, idle_level, ids, summary)                                                \
    {name, summary, bits, NTR_LINES_##lines, idle_level, ids},
#include "transport/transports.def"
#undef NTR_TRANSPORT
};

static const transport_ops *const ops_of[] = {
#define NTR_TRANSPORT(ops, ...) &ntr_##ops##_ops,
#include "transport/transports.def"
#undef NTR_TRANSPORT
};

static const char *const note_names[] = {
    [NTR_NOTE_ALIGNED] = "aligned",       [NTR_NOTE_LOST] = "lost",   [NTR_NOTE_CALIBRATION] = "calibration",
    [NTR_NOTE_TRIGGER] = "trigger",       [NTR_NOTE_FLUSH] = "flush", [NTR_NOTE_ID] = "reserved-id",
    [NTR_NOTE_UNKNOWN_ID] = "unknown-id",
};

const ntr_transport *ntr_transport_at(size_t index) {
    return index < NTR_COUNT(transports) ? &transports[index] : NULL;
}

const ntr_transport *ntr_transport_find(const char *name) {
    for (size_t i = 0; name && i < NTR_COUNT(transports); i++)
        if (strcmp(transports[i].name, name) == 0) return &transports[i];
    return NULL;
}

const char *ntr_note_name(unsigned kind) {
    return kind < NTR_COUNT(note_names) ? note_names[kind] : NULL;
}

/* Returns NULL when `transport` is not an element of `transports`. */
static const transport_ops *find_ops(const ntr_transport *transport) {
    for (size_t i = 0; i < NTR_COUNT(transports); i++)
        if (transport == &transports[i]) return ops_of[i];
    return NULL;
}

static void *fail(ntr_status *status, ntr_status why) {
    if (status) *status = why;
    return NULL;
}

/* ---- reader */

ntr_transport_reader *ntr_transport_reader_new(const ntr_transport *transport, const ntr_reader_options *given,
                                               ntr_status *status) {
    const transport_ops *ops = find_ops(transport);
    ntr_reader_options options;
    ntr_status loaded = ntr_config_load(&options, sizeof options, given);
    if (loaded != NTR_OK) return fail(status, loaded);
    if (!ops || !options.sink) return fail(status, NTR_E_INVALID);
    ntr_transport_reader *reader = ntr_alloc(options.allocator, 1, ops->reader_size);
    if (!reader) return fail(status, NTR_E_MEMORY);
    reader->ops = ops;
    reader->transport = transport;
    reader->options = options;
    ntr_status started = ops->read_start ? ops->read_start(reader) : NTR_OK;
    if (started != NTR_OK) {
        ntr_transport_reader_free(reader);
        return fail(status, started);
    }
    if (status) *status = NTR_OK;
    return reader;
}

void ntr_transport_reader_free(ntr_transport_reader *reader) {
    if (!reader) return;
    if (reader->ops->read_release) reader->ops->read_release(reader);
    ntr_dealloc(reader->options.allocator, reader);
}

static ntr_status flush_bytes(ntr_transport_reader *reader) {
    size_t size = reader->out_size;
    reader->out_size = 0;
    return size ? reader->options.sink(reader->options.user, reader->out_id, reader->out, size) : NTR_OK;
}

ntr_status reader_give(ntr_transport_reader *reader, unsigned id, const uint8_t *bytes, size_t size) {
    if (id != reader->out_id || size > OUT_BYTES - reader->out_size) {
        TRY(flush_bytes(reader));
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

ntr_status ntr_transport_reader_push(ntr_transport_reader *reader, const uint16_t *beats, size_t count) {
    const unsigned mask = (1u << reader->transport->beat_bits) - 1;
    for (size_t i = 0; i < count; i++) {
        TRY(reader->ops->read_beat(reader, beats[i] & mask));
        reader->position++;
    }
    return flush_bytes(reader);
}

ntr_status ntr_transport_reader_end(ntr_transport_reader *reader) {
    if (reader->ops->read_end) TRY(reader->ops->read_end(reader));
    return flush_bytes(reader);
}

/* ---- writer */

ntr_transport_writer *ntr_transport_writer_new(const ntr_transport *transport, const ntr_writer_options *given,
                                               ntr_status *status) {
    const transport_ops *ops = find_ops(transport);
    ntr_writer_options options;
    ntr_status loaded = ntr_config_load(&options, sizeof options, given);
    if (loaded != NTR_OK) return fail(status, loaded);
    if (!ops || !options.sink) return fail(status, NTR_E_INVALID);
    ntr_transport_writer *writer = ntr_alloc(options.allocator, 1, ops->writer_size);
    if (!writer) return fail(status, NTR_E_MEMORY);
    writer->ops = ops;
    writer->transport = transport;
    writer->options = options;
    ntr_status started = ops->write_start ? ops->write_start(writer) : NTR_OK;
    if (started != NTR_OK) {
        ntr_transport_writer_free(writer);
        return fail(status, started);
    }
    if (status) *status = NTR_OK;
    return writer;
}

void ntr_transport_writer_free(ntr_transport_writer *writer) {
    if (!writer) return;
    if (writer->ops->write_release) writer->ops->write_release(writer);
    ntr_dealloc(writer->options.allocator, writer);
}

static ntr_status flush_beats(ntr_transport_writer *writer) {
    size_t count = writer->out_size;
    writer->out_size = 0;
    return count ? writer->options.sink(writer->options.user, writer->out, count) : NTR_OK;
}

ntr_status writer_give(ntr_transport_writer *writer, unsigned beat) {
    if (writer->out_size == OUT_BEATS) TRY(flush_beats(writer));
    writer->out[writer->out_size++] = (uint16_t)beat;
    return NTR_OK;
}

ntr_status writer_give_many(ntr_transport_writer *writer, unsigned beat, uint32_t count) {
    for (; count; count--) TRY(writer_give(writer, beat));
    return NTR_OK;
}

ntr_status ntr_transport_writer_put(ntr_transport_writer *writer, unsigned id, const uint8_t *bytes, size_t size) {
    if (writer->transport->ids && (id == NTR_ATB_ID_NULL || id >= NTR_ATB_ID_RESERVED)) return NTR_E_RANGE;
    for (size_t i = 0; i < size; i++) TRY(writer->ops->write_byte(writer, id, bytes[i]));
    return flush_beats(writer);
}

ntr_status ntr_transport_writer_idle(ntr_transport_writer *writer, uint32_t count) {
    TRY(writer->ops->write_idle(writer, count));
    return flush_beats(writer);
}

ntr_status ntr_transport_writer_calibrate(ntr_transport_writer *writer, uint32_t times) {
    if (!writer->ops->write_calibration) return NTR_E_UNSUPPORTED;
    TRY(writer->ops->write_calibration(writer, times));
    return flush_beats(writer);
}

ntr_status ntr_transport_writer_trigger(ntr_transport_writer *writer, unsigned id) {
    if (!writer->ops->write_trigger) return NTR_E_UNSUPPORTED;
    TRY(writer->ops->write_trigger(writer, id & 0x7f));
    return flush_beats(writer);
}

ntr_status ntr_transport_writer_end(ntr_transport_writer *writer) {
    if (writer->ops->write_end) TRY(writer->ops->write_end(writer));
    return flush_beats(writer);
}

ntr_status ntr_transport_writer_ram(const ntr_transport_writer *writer, ntr_ram_window *ram) {
    return writer->ops->write_ram ? writer->ops->write_ram(writer, ram) : NTR_E_UNSUPPORTED;
}
