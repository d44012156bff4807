/* Reading of a stream that may be compressed (<ntrace/stream_reader.h>).
 *
 * Plain bytes are read into `buffer` and returned from there. Compressed bytes are read into `buffer` and expanded by
 * the zstd reader. In both cases ntr_stream_reader_start reads the first bytes to detect compression; `held` counts
 * them until they are used. */
#include <ntrace/stream_reader.h>

#include "base/allocator.h"
#include "base/config.h"
#include "bundle/zstd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define READ_BUFFER_SIZE (64u * 1024u) /* together with the data of a decoder it stays in the second-level cache */
#define READ_BUFFER_MIN  64u

static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};

struct ntr_stream_reader {
    ntr_stream_reader_config config;
    ntr_limits limits;
    ntr_allocator allocator;
    uint8_t *buffer;
    size_t capacity;
    size_t held;   /* bytes in `buffer` that were read and not used yet */
    bool started;  /* compression was detected */
    bool ended;    /* the file has no more bytes */
    bool stopped;  /* `read` returned NTR_END */
    bool begun;    /* bytes were used */
    uint64_t read; /* bytes read from the file; after a seek, its position */
    uint64_t skip; /* bytes of the stream that are still to be dropped */
    uint64_t next; /* plain: offset of the next byte to give out */
    struct ntr_zstd_reader *zstd; /* NULL: plain */
    ntr_status failure;           /* what every further call returns */
    char error[256];
};

static ntr_stream_reader *make(const ntr_stream_reader_config *config) {
    ntr_stream_reader *reader = ntr_alloc(config->allocator, 1, sizeof *reader);

    if (!reader) return NULL;
    reader->config = *config;
    if (config->allocator) {
        reader->allocator = *config->allocator;
        reader->config.allocator = &reader->allocator;
    }
    if (config->limits) {
        reader->limits = *config->limits;
        reader->config.limits = &reader->limits;
    }
    reader->capacity = config->buffer_size ? config->buffer_size : READ_BUFFER_SIZE;
    if (reader->capacity < READ_BUFFER_MIN) reader->capacity = READ_BUFFER_MIN;
    reader->buffer = ntr_realloc(config->allocator, NULL, reader->capacity, 1); /* not zeroed */
    if (reader->buffer) return reader;
    ntr_dealloc(config->allocator, reader);
    return NULL;
}

ntr_status ntr_stream_reader_new(const ntr_stream_reader_config *config, ntr_stream_reader **out) {
    *out = NULL;
    ntr_stream_reader_config own;
    bool valid = ntr_config_load(&own, sizeof own, config) == NTR_OK && own.read;

    *out = valid ? make(&own) : NULL;
    return *out ? NTR_OK : valid ? NTR_E_MEMORY : NTR_E_INVALID;
}

void ntr_stream_reader_free(ntr_stream_reader *reader) {
    if (!reader) return;
    ntr_allocator copy = reader->allocator;
    const ntr_allocator *allocator = reader->config.allocator ? &copy : NULL;
    if (reader->config.close) reader->config.close(reader->config.user);
    ntr_zstd_reader_free(reader->zstd);
    ntr_dealloc(allocator, reader->buffer);
    ntr_dealloc(allocator, reader);
}

static ntr_status fail(ntr_stream_reader *reader, ntr_status status, const char *why) {
    snprintf(reader->error, sizeof reader->error, "%s", why);
    reader->failure = status;
    return status;
}

static ntr_status fail_read(ntr_stream_reader *reader, ntr_status status) {
    const char *why = status == NTR_E_IO ? strerror(errno) : ntr_status_text(status);

    snprintf(reader->error, sizeof reader->error, "byte 0x%llx: cannot be read: %s", (unsigned long long)reader->read,
             why);
    reader->failure = status;
    return status;
}

/* Reads once. *got is 0 at the end. */
static ntr_status read_once(ntr_stream_reader *reader, uint8_t *to, size_t room, size_t *got) {
    *got = 0;
    ntr_status status = reader->config.read(reader->config.user, to, room, got);

    if (status < 0) return fail_read(reader, status);
    reader->stopped |= status == NTR_END;
    reader->ended = status == NTR_END || *got == 0;
    if (reader->ended) *got = 0;
    reader->read += *got;
    return NTR_OK;
}

/* Reads once, after the bytes that are held. */
static ntr_status read_more(ntr_stream_reader *reader, size_t room) {
    size_t got;
    ntr_status status = read_once(reader, reader->buffer + reader->held, room, &got);

    if (status == NTR_OK) reader->held += got;
    return status;
}

static ntr_status make_zstd(ntr_stream_reader *reader) {
    ntr_status status = ntr_zstd_reader_new(&reader->zstd, reader->config.limits, reader->config.allocator);

    if (status == NTR_OK) return NTR_OK;
    return fail(reader, status,
                status == NTR_E_UNSUPPORTED
                    ? "expected a plain stream, found zstd data, and this library was built without zstd; "
                      "decompress the stream first (zstd -d)"
                    : "out of memory");
}

ntr_status ntr_stream_reader_start(ntr_stream_reader *reader) {
    if (reader->failure != NTR_OK || reader->started) return reader->failure;
    while (reader->held < sizeof zstd_magic && !reader->ended) {
        ntr_status status = read_more(reader, sizeof zstd_magic - reader->held);
        if (status != NTR_OK) return status;
    }
    reader->started = true;
    if (reader->held < sizeof zstd_magic || memcmp(reader->buffer, zstd_magic, sizeof zstd_magic) != 0) return NTR_OK;
    return make_zstd(reader);
}

static ntr_status next_plain(ntr_stream_reader *reader, ntr_bytes *piece, bool *last) {
    ntr_status status = reader->ended ? NTR_OK : read_more(reader, reader->capacity - reader->held);

    if (status != NTR_OK) return status;
    *piece = (ntr_bytes){reader->buffer, reader->held};
    *last = reader->ended;
    reader->next += reader->held;
    reader->held = 0;
    return NTR_OK;
}

static ntr_status fail_zstd(ntr_stream_reader *reader, ntr_status status) {
    return fail(reader, status, ntr_zstd_reader_error(reader->zstd));
}

/* Into `to`, or, if it is NULL, into a buffer of the zstd reader. */
static ntr_status next_compressed(ntr_stream_reader *reader, uint8_t *to, size_t capacity, ntr_bytes *piece,
                                  bool *last) {
    for (;;) {
        ntr_status status;
        if (to) {
            status = ntr_zstd_reader_read(reader->zstd, to, capacity, &piece->size);
            piece->data = to;
        } else {
            status = ntr_zstd_reader_next(reader->zstd, piece);
        }
        if (status != NTR_OK) return fail_zstd(reader, status);
        if (piece->size) return NTR_OK;
        if (!reader->held && !reader->ended) status = read_more(reader, reader->capacity);
        if (status != NTR_OK) return status;
        if (!reader->held) {
            *last = true;
            if (!reader->stopped) status = ntr_zstd_reader_finish(reader->zstd);
            return status == NTR_OK ? status : fail_zstd(reader, status);
        }
        ntr_zstd_reader_feed(reader->zstd, reader->buffer, reader->held);
        reader->held = 0;
    }
}

static ntr_status next(ntr_stream_reader *reader, ntr_bytes *piece, bool *last) {
    return reader->zstd ? next_compressed(reader, NULL, 0, piece, last) : next_plain(reader, piece, last);
}

/* Bytes that are held come first. */
static ntr_status read_plain(ntr_stream_reader *reader, uint8_t *to, size_t capacity, ntr_bytes *piece, bool *last) {
    size_t got = reader->held < capacity ? reader->held : capacity;
    ntr_status status = NTR_OK;

    if (got) {
        memcpy(to, reader->buffer, got);
        reader->held -= got;
        memmove(reader->buffer, reader->buffer + got, reader->held);
    } else if (!reader->ended) {
        status = read_once(reader, to, capacity, &got);
    }
    if (status != NTR_OK) return status;
    *piece = (ntr_bytes){to, got};
    *last = reader->ended && !reader->held;
    reader->next += got;
    return NTR_OK;
}

/* Take bytes that are to be skipped off the front of a piece. */
static void drop(ntr_stream_reader *reader, ntr_bytes *piece) {
    size_t size = reader->skip < piece->size ? (size_t)reader->skip : piece->size;

    if (!size) return;
    *piece = (ntr_bytes){piece->data + size, piece->size - size};
    reader->skip -= size;
}

ntr_status ntr_stream_reader_next(ntr_stream_reader *reader, ntr_bytes *piece, bool *last) {
    ntr_status status = ntr_stream_reader_start(reader);

    *piece = (ntr_bytes){reader->buffer, 0};
    *last = false;
    reader->begun = true;
    while (status == NTR_OK) {
        status = next(reader, piece, last);
        if (status != NTR_OK) break;
        drop(reader, piece);
        if (piece->size || *last) return NTR_OK;
    }
    *piece = (ntr_bytes){reader->buffer, 0};
    *last = true;
    return status;
}

ntr_status ntr_stream_reader_read(ntr_stream_reader *reader, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    ntr_status status = ntr_stream_reader_start(reader);
    ntr_bytes piece = {to, 0};

    *last = false;
    reader->begun = true;
    while (status == NTR_OK) {
        status = reader->zstd ? next_compressed(reader, to, capacity, &piece, last)
                              : read_plain(reader, to, capacity, &piece, last);
        if (status != NTR_OK) break;
        drop(reader, &piece);
        if (!piece.size && !*last) continue;
        if (piece.data != to) memmove(to, piece.data, piece.size);
        *got = piece.size;
        return NTR_OK;
    }
    *got = 0;
    *last = true;
    return status;
}

/* ---- skipping */

/* An ntr_zstd_read_at. */
static bool read_at(void *user, uint64_t at, uint8_t *to, size_t size) {
    const ntr_stream_reader *reader = user;

    if (!reader->config.seek(reader->config.user, at)) return false;
    for (size_t have = 0, got; have < size; have += got)
        if (reader->config.read(reader->config.user, to + have, size - have, &got) != NTR_OK || !got) return false;
    return true;
}

static bool move_to(ntr_stream_reader *reader, uint64_t offset) {
    if (!reader->config.seek(reader->config.user, offset)) return false;
    reader->held = 0;
    reader->ended = false;
    reader->read = offset;
    return true;
}

/* Passes the leading frames that are skipped as a whole. */
static void skip_frames(ntr_stream_reader *reader) {
    uint64_t at = 0, end, content;

    if (!reader->config.seek(reader->config.user, 0)) return;
    while (ntr_zstd_frame_find(read_at, reader, at, &end, &content) && content <= reader->skip) {
        reader->skip -= content;
        at = end;
    }
    if (!move_to(reader, at)) fail(reader, NTR_E_IO, "the position in the file cannot be set");
    ntr_zstd_reader_moved(reader->zstd, at);
}

void ntr_stream_reader_skip(ntr_stream_reader *reader, uint64_t bytes) {
    if (ntr_stream_reader_start(reader) != NTR_OK || bytes == 0) return;
    uint64_t left = UINT64_MAX - reader->next - reader->skip;
    reader->skip += bytes < left ? bytes : left;
    if (!reader->config.seek) return;
    if (reader->zstd) {
        if (!reader->begun) skip_frames(reader);
        reader->begun = true;
        return;
    }
    const uint64_t offset = reader->next + reader->skip;
    if (!move_to(reader, offset)) return;
    reader->skip = 0;
    reader->next = offset;
}

bool ntr_stream_reader_is_compressed(const ntr_stream_reader *reader) {
    return reader->zstd != NULL;
}

uint64_t ntr_stream_reader_position(const ntr_stream_reader *reader) {
    return reader->read;
}

const char *ntr_stream_reader_error(const ntr_stream_reader *reader) {
    return reader->error;
}
