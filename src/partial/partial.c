#include "partial/partial.h"

#include "base/allocator.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void ntr_partial_fail(ntr_partial *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->error, sizeof p->error, format, arguments);
    va_end(arguments);
}

ntr_status ntr_partial_reader_error(ntr_partial *p) {
    const ntr_block_reader *r = &p->reader;
    const char *name = p->name ? p->name : "the partial answer";
    if (r->status == NTR_E_IO)
        ntr_partial_fail(p, "%s: cannot be read: %s", name, strerror(errno));
    else if (r->what)
        ntr_partial_fail(p, "%s: byte 0x%" PRIx64 ": %s", name, r->offset, r->what);
    else if (r->status < 0)
        ntr_partial_fail(p, "%s: %s", name, ntr_status_text(r->status));
    return r->status;
}

ntr_status ntr_partial_new(const ntr_allocator *allocator, ntr_partial **out) {
    *out = NULL;
    ntr_partial *p = ntr_alloc(allocator, 1, sizeof *p);
    if (!p) return NTR_E_MEMORY;
    if (allocator) p->own = *allocator;
    p->allocator = allocator ? &p->own : NULL;
    p->file = -1;
    p->tables.allocator = p->reader.allocator = p->allocator;
    *out = p;
    return NTR_OK;
}

static void close_input(ntr_partial *p) {
    if (p->file >= 0) close(p->file);
    p->file = -1;
    ntr_block_reader_release(&p->reader);
    p->reader = (ntr_block_reader){.allocator = p->allocator};
    ntr_tables_release(&p->tables);
    ntr_event_coder_release(&p->events.coder);
    p->events = (ntr_partial_events_state){0};
    ntr_dealloc(p->allocator, p->name);
    p->name = NULL;
    p->error[0] = 0;
}

void ntr_partial_free(ntr_partial *p) {
    if (!p) return;
    const ntr_allocator own = p->own, *allocator = p->allocator ? &own : NULL;
    close_input(p);
    ntr_dealloc(allocator, p);
}

bool ntr_partial_seen(const char *path) {
    char magic[sizeof NTR_PARTIAL_MAGIC - 1];
    uint64_t size;
    const int file = ntr_open_regular(path, UINT64_MAX, &size); /* the writer of a pipe sees that it is opened */
    const bool seen = file >= 0 && pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                      memcmp(magic, NTR_PARTIAL_MAGIC, sizeof magic) == 0;
    if (file >= 0) close(file);
    return seen;
}

/* ---- input */

static ntr_status read_file(void *user, void *to, size_t size, size_t *got) {
    const ntr_partial *p = user;
    ssize_t n;
    do n = read(p->file, to, size);
    while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    return n < 0 ? NTR_E_IO : NTR_OK;
}

static ntr_status read_bytes(void *user, void *to, size_t size, size_t *got) {
    ntr_partial *p = user;
    *got = p->bytes.size - p->at < size ? p->bytes.size - p->at : size;
    if (*got) memcpy(to, p->bytes.data + p->at, *got);
    p->at += *got;
    return NTR_OK;
}

static ntr_status start(ntr_partial *p, ntr_block_read *read_some, uint64_t offset) {
    p->reader.read = read_some;
    p->reader.user = p;
    p->reader.offset = offset;
    ntr_status status = ntr_block_reader_start(&p->reader);
    if (status == NTR_END) return status;
    if (status == NTR_OK) ntr_tables_get(&p->tables, &p->reader);
    return ntr_partial_reader_error(p);
}

ntr_status ntr_partial_open(ntr_partial *p, const char *path, uint64_t offset) {
    close_input(p);
    const size_t size = strlen(path) + 1;
    p->name = ntr_alloc(p->allocator, size, 1);
    if (!p->name) return NTR_E_MEMORY;
    memcpy(p->name, path, size);
    p->file = open(path, O_RDONLY | O_CLOEXEC);
    if (p->file < 0 || (offset && lseek(p->file, (off_t)offset, SEEK_SET) < 0)) {
        ntr_partial_fail(p, "%s: cannot open: %s", path, strerror(errno));
        return NTR_E_IO;
    }
    return start(p, read_file, offset);
}

ntr_status ntr_partial_open_bytes(ntr_partial *p, ntr_bytes bytes, uint64_t offset) {
    close_input(p);
    p->bytes = bytes;
    p->at = offset < bytes.size ? (size_t)offset : bytes.size;
    return start(p, read_bytes, offset);
}

/* ---- */

static const struct record_kind {
    uint8_t block;
    unsigned keys, fields;
} record_kinds[] = {
    {NTR_BLOCK_ROWS, NTR_COUNTED_KEYS, NTR_COUNTED_FIELDS},  {NTR_BLOCK_NODES, NTR_NODE_KEYS, NTR_NODE_FIELDS},
    {NTR_BLOCK_PART_NODES, NTR_NODE_KEYS, NTR_NODE_CAPTURE}, {NTR_BLOCK_ENTRIES, NTR_ENTRY_FIELDS, NTR_ENTRY_FIELDS},
    {NTR_BLOCK_FRAMES, NTR_FRAME_FIELDS, NTR_FRAME_FIELDS},
};

ntr_status ntr_partial_check(ntr_partial *p, uint64_t *next) {
    ntr_record record;
    for (size_t i = 0; i < sizeof record_kinds / sizeof *record_kinds; i++)
        while (ntr_block_get_fields(&p->reader, record_kinds[i].block, &record, record_kinds[i].keys,
                                    record_kinds[i].fields))
            continue;
    ntr_block_skip(&p->reader);
    *next = p->reader.offset;
    return ntr_partial_reader_error(p);
}

const char *ntr_partial_error(const ntr_partial *p) {
    return p->error;
}

unsigned ntr_partial_holds(const ntr_partial *p) {
    return p->tables.holds;
}

const ntr_partial_capture *ntr_partial_capture_at(const ntr_partial *p, size_t index) {
    return index < p->tables.capture_count ? &p->tables.captures[index] : NULL;
}

const ntr_partial_image *ntr_partial_image_at(const ntr_partial *p, size_t index) {
    return index < p->tables.image_count ? &p->tables.images[index] : NULL;
}
