/* The stream is written anew while the program runs.
 *
 * SRC for a second thread. While a program has one thread, its messages have no SRC: it would cost a byte each. Before
 * the second thread is traced, the stream written so far is rewritten with SRC 0. Idea: TCODE has 6 bits, as many as a
 * byte of a message holds. With 6 or 12 bits of SRC the fields after it keep their places in their bytes, so that a
 * message gets SRC by the insertion of one byte behind its first one or two bytes. Example: `10 0b` becomes `10 00 0b`.
 *
 * Compression. Only a stream that has become large is worth it.
 *
 * This process may be killed at any time. Invariant: once capture.json has been written, it describes a file of the
 * bundle that is complete up to some message. So the old file gets a second name and capture.json refers to that, until
 * the new file is complete and capture.json refers to it. */
#include "capture/session.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "wire/ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/stream_reader.h>

enum { COPY_BYTES = 1 << 14 };

/* ---- positions: offsets in the stream that the session has noted -------------------------------------------------
 */

struct positions {
    const ntr_allocator *allocator;
    uint64_t **items;
    size_t count, capacity, moved;
    bool failed; /* out of memory */
};

static void collect(void *user, uint64_t *position) {
    struct positions *p = user;

    if (!*position || p->failed) return;
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 64;
        uint64_t **items = ntr_realloc(p->allocator, p->items, capacity, sizeof *items);
        p->failed = !items;
        if (!items) return;
        p->items = items;
        p->capacity = capacity;
    }
    p->items[p->count++] = position;
}

static int by_value(const void *a, const void *b) {
    uint64_t x = **(uint64_t *const *)a, y = **(uint64_t *const *)b;
    return (x > y) - (x < y);
}

/* What was at `offset` or before it, and has not moved yet, is at `now`. */
static void move_up_to(struct positions *p, uint64_t offset, uint64_t now) {
    for (; p->moved < p->count && *p->items[p->moved] <= offset; p->moved++) *p->items[p->moved] = now;
}

/* ---- the stream ---------------------------------------------------------------------------------------------------
 */

/* The stream before. */
struct old_file {
    char path[PATH_MAX + 8];
    bool described; /* by capture.json */
};

/* A copy of the stream. */
struct rewriting {
    struct ntr_bundle_writer *to;
    struct positions positions;
    unsigned behind; /* the byte is inserted behind so many bytes of each message; 0: nothing is inserted */
    unsigned within; /* bytes of the present message that have been read */
    uint64_t read;
};

/* Writes what comes for one byte, and returns its size. When the message ends where SRC is inserted, SRC ends it. */
static size_t widen_byte(struct rewriting *w, uint8_t byte, uint8_t *out) {
    bool ends = ntr_ends_message(byte);

    out[0] = byte;
    bool inserts = ++w->within == w->behind;
    if (ends) w->within = 0;
    if (!inserts) return 1;
    out[0] = (uint8_t)(byte & ~3u);
    out[1] = ends ? NTR_MSEO_MESSAGE : 0;
    return 2;
}

/* The bytes behind SRC stay as they are, and are copied eight at a time. */
static size_t widen(struct rewriting *w, const uint8_t *data, size_t size, uint8_t *out) {
    uint8_t *to = out;

    for (size_t i = 0; i < size;) {
        if (!w->within) move_up_to(&w->positions, w->read + i, w->to->offset + (size_t)(to - out));
        if (w->within < w->behind || size - i < 8) {
            to += widen_byte(w, data[i++], to);
            continue;
        }
        uint64_t word = ntr_load8(data + i), ends = ntr_word_ends(word);
        unsigned n = ends ? ntr_word_size(ends) : 8;
        ntr_store8(to, word);
        w->within = ends ? 0 : w->within + n;
        to += n;
        i += n;
    }
    w->read += size;
    return (size_t)(to - out);
}

static void copy_span(struct rewriting *w, ntr_bytes piece) {
    for (size_t n; piece.size; piece.data += n, piece.size -= n) {
        n = piece.size < COPY_BYTES ? piece.size : COPY_BYTES;
        uint8_t *room = ntr_bundle_writer_room(w->to, 2 * COPY_BYTES + 8);
        if (!w->behind) memcpy(room, piece.data, n);
        ntr_bundle_writer_advance(w->to, w->behind ? widen(w, piece.data, n, room) : n);
    }
}

static ntr_status read_file(void *user, uint8_t *to, size_t capacity, size_t *got) {
    size_t n = fread(to, 1, capacity, user);

    *got = n;
    return n || !ferror((FILE *)user) ? NTR_OK : NTR_E_IO;
}

static ntr_status copy(struct rewriting *w, FILE *file, const ntr_allocator *allocator) {
    ntr_stream_reader_config config;
    ntr_status status;
    ntr_bytes piece;
    bool last = false;

    ntr_stream_reader_config_init(&config);
    config.read = read_file;
    config.user = file;
    config.allocator = allocator;
    ntr_stream_reader *reader;
    status = ntr_stream_reader_new(&config, &reader);
    while (reader && !last) {
        status = ntr_stream_reader_next(reader, &piece, &last);
        if (status == NTR_OK) copy_span(w, piece);
    }
    ntr_stream_reader_free(reader);
    move_up_to(&w->positions, UINT64_MAX, w->to->offset);
    return status;
}

/* The stream is closed, and its file gets another name, `old`. On a file system without links, capture.json describes
 * no file until the new one is complete. Call it before positions are collected. */
static ntr_status set_aside(struct ntr_capture *session, struct old_file *old) {
    char path[PATH_MAX];

    ntr_capture_stream_path(session, path, sizeof path);
    snprintf(old->path, sizeof old->path, "%s.old", path);
    TRY(ntr_capture_stream_close(session));
    old->described = session->saved_size && link(path, old->path) == 0;
    if (old->described) ntr_capture_session_describe(session, strrchr(old->path, '/') + 1);
    if (old->described ? unlink(path) : rename(path, old->path)) return ntr_capture_fail_errno(&session->reason, path);
    return NTR_OK;
}

/* The new file is complete. */
static ntr_status drop(struct ntr_capture *session, const struct old_file *old) {
    char path[PATH_MAX];

    ntr_capture_stream_path(session, path, sizeof path);
    if (old->described) {
        ntr_bundle_writer_save(&session->stream);
        ntr_capture_session_describe(session, strrchr(path, '/') + 1);
    }
    session->saved_at = 1; /* it is due: with compression, a part of the stream is not in the file yet */
    return unlink(old->path) ? ntr_capture_fail_errno(&session->reason, old->path) : NTR_OK;
}

/* The stream is written anew, compressed or not. */
static ntr_status rewrite(struct ntr_capture *session, struct rewriting *w, const struct old_file *old,
                          bool compresses) {
    session->compresses = compresses;
    FILE *file = fopen(old->path, "rb");
    if (!file) return ntr_capture_fail_errno(&session->reason, old->path);
    ntr_status status = ntr_capture_stream_open(session);
    if (status == NTR_OK) {
        status = copy(w, file, session->config.allocator);
        if (status != NTR_OK) ntr_capture_fail(&session->reason, status, "%s: cannot be read again", old->path);
    }
    fclose(file);
    return status;
}

ntr_status ntr_capture_widen(struct ntr_capture *session, uint32_t hart) {
    unsigned bits = session->encoder.params.src_bits;

    while (bits < 2 * NTR_MDO_BITS && hart >> bits) {
        struct rewriting w = {.to = &session->stream, .behind = 1 + bits / NTR_MDO_BITS};
        struct old_file old;
        TRY(set_aside(session, &old));
        w.positions.allocator = session->config.allocator;
        ntr_capture_code_positions(&session->harts.code, collect, &w.positions);
        ntr_capture_record_positions(&session->record, collect, &w.positions);
        if (w.positions.count) qsort(w.positions.items, w.positions.count, sizeof *w.positions.items, by_value);
        ntr_status status = w.positions.failed ? ntr_capture_fail_memory(&session->reason)
                                               : rewrite(session, &w, &old, session->compresses);
        ntr_dealloc(session->config.allocator, w.positions.items);
        if (status != NTR_OK) return status;
        bits += NTR_MDO_BITS;
        session->encoder.params.src_bits = (uint8_t)bits;
        ntr_capture_harts_widen(&session->harts, bits);
        TRY(drop(session, &old));
    }
    return NTR_OK;
}

ntr_status ntr_capture_compress(struct ntr_capture *session) {
    struct rewriting w = {.to = &session->stream};
    struct old_file old;

    TRY(set_aside(session, &old));
    TRY(rewrite(session, &w, &old, true));
    return drop(session, &old);
}
