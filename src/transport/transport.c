#include "transport/transports.h"

#include "base/allocator.h"
#include "base/config.h"
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
    [NTR_NOTE_ALIGNED] = "aligned",       [NTR_NOTE_LOST] = "lost",       [NTR_NOTE_CALIBRATION] = "calibration",
    [NTR_NOTE_TRIGGER] = "trigger",       [NTR_NOTE_FLUSH] = "flush",     [NTR_NOTE_ID] = "reserved-id",
    [NTR_NOTE_UNKNOWN_ID] = "unknown-id", [NTR_NOTE_BARRIER] = "barrier",
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

/* ---- reader */

ntr_status ntr_transport_reader_new(const ntr_transport *transport, const ntr_reader_options *given,
                                    ntr_transport_reader **out) {
    *out = NULL;
    const transport_ops *ops = find_ops(transport);
    ntr_reader_options options;
    ntr_status loaded = ntr_config_load(&options, sizeof options, given);
    if (loaded != NTR_OK) return loaded;
    if (!ops || !options.sink) return NTR_E_INVALID;
    ntr_transport_reader *reader = ntr_alloc(options.allocator, 1, ops->reader_size);
    if (!reader) return NTR_E_MEMORY;
    reader->ops = ops;
    reader->transport = transport;
    reader->options = options;
    ntr_status started = ops->read_start ? ops->read_start(reader) : NTR_OK;
    if (started != NTR_OK) {
        ntr_transport_reader_free(reader);
        return started;
    }
    *out = reader;
    return NTR_OK;
}

void ntr_transport_reader_free(ntr_transport_reader *reader) {
    if (!reader) return;
    if (reader->ops->read_release) reader->ops->read_release(reader);
    ntr_dealloc(reader->options.allocator, reader);
}

ntr_status ntr_transport_reader_feed(ntr_transport_reader *reader, const uint16_t *beats, size_t count) {
    const unsigned mask = (1u << reader->transport->beat_bits) - 1;
    for (size_t i = 0; i < count; i++) {
        TRY(reader->ops->read_beat(reader, beats[i] & mask));
        reader->position++;
    }
    return reader_flush(reader);
}

ntr_status ntr_transport_reader_finish(ntr_transport_reader *reader) {
    if (reader->ops->read_end) TRY(reader->ops->read_end(reader));
    return reader_flush(reader);
}

/* ---- writer */

ntr_status ntr_transport_writer_new(const ntr_transport *transport, const ntr_writer_options *given,
                                    ntr_transport_writer **out) {
    *out = NULL;
    const transport_ops *ops = find_ops(transport);
    ntr_writer_options options;
    ntr_status loaded = ntr_config_load(&options, sizeof options, given);
    if (loaded != NTR_OK) return loaded;
    if (!ops || !options.sink) return NTR_E_INVALID;
    ntr_transport_writer *writer = ntr_alloc(options.allocator, 1, ops->writer_size);
    if (!writer) return NTR_E_MEMORY;
    writer->ops = ops;
    writer->transport = transport;
    writer->options = options;
    ntr_status started = ops->write_start ? ops->write_start(writer) : NTR_OK;
    if (started != NTR_OK) {
        ntr_transport_writer_free(writer);
        return started;
    }
    *out = writer;
    return NTR_OK;
}

void ntr_transport_writer_free(ntr_transport_writer *writer) {
    if (!writer) return;
    if (writer->ops->write_release) writer->ops->write_release(writer);
    ntr_dealloc(writer->options.allocator, writer);
}

ntr_status ntr_transport_writer_put(ntr_transport_writer *writer, unsigned id, const uint8_t *bytes, size_t size) {
    if (writer->transport->ids && (id == NTR_ATB_ID_NULL || id >= NTR_ATB_ID_RESERVED)) return NTR_E_RANGE;
    for (size_t i = 0; i < size; i++) TRY(writer->ops->write_byte(writer, id, bytes[i]));
    return writer_flush(writer);
}

ntr_status ntr_transport_writer_idle(ntr_transport_writer *writer, uint32_t count) {
    TRY(writer->ops->write_idle(writer, count));
    return writer_flush(writer);
}

ntr_status ntr_transport_writer_calibrate(ntr_transport_writer *writer, uint32_t times) {
    if (!writer->ops->write_calibration) return NTR_E_UNSUPPORTED;
    TRY(writer->ops->write_calibration(writer, times));
    return writer_flush(writer);
}

ntr_status ntr_transport_writer_trigger(ntr_transport_writer *writer, unsigned id) {
    if (!writer->ops->write_trigger) return NTR_E_UNSUPPORTED;
    TRY(writer->ops->write_trigger(writer, id & 0x7f));
    return writer_flush(writer);
}

ntr_status ntr_transport_writer_finish(ntr_transport_writer *writer) {
    if (writer->ops->write_end) TRY(writer->ops->write_end(writer));
    return writer_flush(writer);
}

ntr_status ntr_transport_writer_ram(const ntr_transport_writer *writer, ntr_ram_window *ram) {
    return writer->ops->write_ram ? writer->ops->write_ram(writer, ram) : NTR_E_UNSUPPORTED;
}
