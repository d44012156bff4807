/* Memory image of a RAM sink (trace-control section 6.4, step 7). */
#include "transport/transports.h"

#include "base/allocator.h"

#include <string.h>

enum { ACCESS_MIN = 4, ACCESS_MAX = 128 };

/* Limit of the buffer size. A larger window is treated as an error. */
#define BUFFER_MAX (1ull << 32)

typedef struct ram_reader {
    ntr_transport_reader base;
    ntr_ram_part oldest; /* passed on as it is read */
    uint64_t newer_size; /* size of the newer data, which precedes the oldest in memory */
    uint8_t *newer;      /* the newer data, kept until the end of the input */
    bool aligned;        /* the end of the first, incomplete message was seen */
    bool inside;         /* inside a message */
} ram_reader;

typedef struct ram_writer {
    ntr_transport_writer base;
    uint8_t access;
    bool inside, wrapped;
    uint64_t at, size;
    uint8_t *image;
} ram_writer;

static unsigned access_of(const ntr_ram_window *ram) {
    return ram->access ? ram->access : ACCESS_MIN;
}

ntr_status ntr_ram_parts(const ntr_ram_window *ram, ntr_ram_part parts[2]) {
    const unsigned access = access_of(ram);
    if (access < ACCESS_MIN || access > ACCESS_MAX || (access & (access - 1))) return NTR_E_RANGE;
    if ((ram->start | ram->limit | ram->wp) & (ACCESS_MIN - 1)) return NTR_E_RANGE;
    if (ram->wp < ram->start || ram->wp > ram->limit) return NTR_E_RANGE;
    if ((ram->wrapped ? ram->limit : ram->wp) - ram->start >= BUFFER_MAX) return NTR_E_RANGE;
    const uint64_t written = ram->wp - ram->start, size = ram->limit - ram->start + access;
    parts[0] = ram->wrapped ? (ntr_ram_part){written, size - written} : (ntr_ram_part){0, written};
    parts[1] = ram->wrapped ? (ntr_ram_part){0, written} : (ntr_ram_part){0, 0};
    return NTR_OK;
}

/* ---- reader */

static ntr_status read_start(ntr_transport_reader *base) {
    ram_reader *reader = (ram_reader *)base;
    ntr_ram_part parts[2];
    TRY(ntr_ram_parts(&base->options.ram, parts));
    reader->oldest = parts[0];
    reader->newer_size = parts[1].size;
    reader->aligned = !base->options.ram.wrapped && base->options.begin != NTR_BEGIN_ANYWHERE;
    if (!reader->newer_size) return NTR_OK;
    reader->newer = ntr_alloc(base->options.allocator, (size_t)reader->newer_size, 1);
    return reader->newer ? NTR_OK : NTR_E_MEMORY;
}

static void read_release(ntr_transport_reader *base) {
    ntr_dealloc(base->options.allocator, ((ram_reader *)base)->newer);
}

/* A wrapped buffer begins inside a message. Bytes up to the end of that message are skipped. */
static ntr_status take_byte(ram_reader *reader, uint8_t byte, uint64_t position) {
    if (!reader->aligned) {
        reader->aligned = ntr_ends_message(byte);
        if (reader->aligned) reader_note(&reader->base, NTR_NOTE_ALIGNED, NTR_OK, position + 1, 0);
        return NTR_OK;
    }
    if (message_byte(&reader->inside, byte) == BYTE_IDLE) return NTR_OK;
    return reader_give(&reader->base, 0, &byte, 1);
}

static ntr_status read_beat(ntr_transport_reader *base, unsigned beat) {
    ram_reader *reader = (ram_reader *)base;
    const uint64_t at = base->position;
    if (at < reader->newer_size) reader->newer[at] = (uint8_t)beat;
    if (at < reader->oldest.offset || at - reader->oldest.offset >= reader->oldest.size) return NTR_OK;
    return take_byte(reader, (uint8_t)beat, at);
}

static ntr_status read_end(ntr_transport_reader *base) {
    ram_reader *reader = (ram_reader *)base;
    if (base->position < reader->oldest.offset + reader->oldest.size)
        reader_note(base, NTR_NOTE_LOST, NTR_E_TRUNCATED, base->position, 0);
    for (uint64_t at = 0; at < reader->newer_size && at < base->position; at++)
        TRY(take_byte(reader, reader->newer[at], at));
    return NTR_OK;
}

/* ---- writer */

static ntr_status write_start(ntr_transport_writer *base) {
    ram_writer *writer = (ram_writer *)base;
    const ntr_ram_window *ram = &base->options.ram;
    ntr_ram_part parts[2];
    TRY(ntr_ram_parts(ram, parts));
    if (ram->limit - ram->start >= BUFFER_MAX) return NTR_E_RANGE;
    writer->access = (uint8_t)access_of(ram);
    writer->at = ram->wp - ram->start;
    writer->size = ram->limit - ram->start + writer->access;
    writer->image = ntr_alloc(base->options.allocator, (size_t)writer->size, 1);
    return writer->image ? NTR_OK : NTR_E_MEMORY;
}

static void write_release(ntr_transport_writer *base) {
    ntr_dealloc(base->options.allocator, ((ram_writer *)base)->image);
}

static void put_byte(ram_writer *writer, uint8_t byte) {
    writer->image[writer->at++] = byte;
    if (writer->at < writer->size) return;
    writer->at = 0;
    writer->wrapped = true;
}

static ntr_status write_byte(ntr_transport_writer *base, unsigned id, uint8_t byte) {
    ram_writer *writer = (ram_writer *)base;
    (void)id;
    if (message_byte(&writer->inside, byte) != BYTE_IDLE) put_byte(writer, byte);
    return NTR_OK;
}

static ntr_status write_idle(ntr_transport_writer *base, uint32_t count) {
    ram_writer *writer = (ram_writer *)base;
    if (writer->inside) return NTR_E_STATE;
    for (; count; count--) put_byte(writer, 0xff);
    return NTR_OK;
}

static ntr_status write_end(ntr_transport_writer *base) {
    ram_writer *writer = (ram_writer *)base;
    while (writer->at % writer->access) put_byte(writer, 0xff);
    for (uint64_t at = 0; at < writer->size; at++) TRY(writer_give(base, writer->image[at]));
    return NTR_OK;
}

static ntr_status write_ram(const ntr_transport_writer *base, ntr_ram_window *ram) {
    const ram_writer *writer = (const ram_writer *)base;
    *ram = base->options.ram;
    ram->wp = ram->start + writer->at;
    ram->wrapped = writer->wrapped;
    return NTR_OK;
}

const transport_ops ntr_ram_ops = {
    .reader_size = sizeof(ram_reader),
    .writer_size = sizeof(ram_writer),
    .read_start = read_start,
    .read_beat = read_beat,
    .read_end = read_end,
    .read_release = read_release,
    .write_start = write_start,
    .write_byte = write_byte,
    .write_idle = write_idle,
    .write_end = write_end,
    .write_ram = write_ram,
    .write_release = write_release,
};
