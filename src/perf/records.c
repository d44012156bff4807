/* The records of perf.data: division into records, decompression, id blocks, order. */
#include "perf/file.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "bundle/zstd_read.h"

#include <stdlib.h>

enum { RECORD_HEADER = 8, UNPACKED_MAX = 1 << 30 };

/* ---- id block: at the end of each record of the kernel */

enum { SAMPLE_TID = 1, SAMPLE_TIME, SAMPLE_ID = 6, SAMPLE_CPU = 7, SAMPLE_STREAM_ID = 9, SAMPLE_IDENTIFIER = 16 };

/* Its fields in their order; each has 8 bytes. */
static const uint8_t id_fields[] = {SAMPLE_TID,       SAMPLE_TIME, SAMPLE_ID,
                                    SAMPLE_STREAM_ID, SAMPLE_CPU,  SAMPLE_IDENTIFIER};
enum { ID_FIELDS = sizeof id_fields };

static size_t id_block_size(const struct ntr_perf_attr *attr) {
    size_t size = 0;

    if (!attr || !attr->sample_id_all) return 0;
    for (size_t i = 0; i < ID_FIELDS; i++) size += attr->sample_type >> id_fields[i] & 1 ? 8 : 0;
    return size;
}

static bool all_have_identifier(const struct ntr_perf_file *file) {
    for (size_t i = 0; i < file->attr_count; i++)
        if (!(file->attrs[i].sample_type >> SAMPLE_IDENTIFIER & 1) || !file->attrs[i].sample_id_all) return false;
    return file->attr_count > 0;
}

static bool has_id(const struct ntr_perf_attr *attr, uint64_t id) {
    for (size_t i = 0; i < attr->id_count; i++) {
        struct ntr_perf_cursor c = ntr_perf_cursor_at(attr->ids + 8 * i, 8);
        if (ntr_perf_u64(&c) == id) return true;
    }
    return false;
}

/* The attribute that a record belongs to. Without IDENTIFIER all have the same fields. */
static const struct ntr_perf_attr *attr_of(const struct ntr_perf_file *file, ntr_bytes body) {
    if (file->attr_count > 1 && body.size >= 8 && all_have_identifier(file)) {
        struct ntr_perf_cursor c = ntr_perf_cursor_at(body.data + body.size - 8, 8);
        uint64_t id = ntr_perf_u64(&c);
        for (size_t i = 0; i < file->attr_count; i++)
            if (has_id(&file->attrs[i], id)) return &file->attrs[i];
    }
    return file->attr_count ? &file->attrs[0] : NULL;
}

static void read_id_block(struct ntr_perf_record *r, const struct ntr_perf_attr *attr, ntr_bytes block) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(block.data, block.size);

    for (size_t i = 0; i < ID_FIELDS; i++) {
        if (!(attr->sample_type >> id_fields[i] & 1)) continue;
        uint64_t value = ntr_perf_u64(&c);
        if (id_fields[i] == SAMPLE_TID) {
            r->pid = (uint32_t)value;
            r->tid = (uint32_t)(value >> 32);
        }
        if (id_fields[i] == SAMPLE_TIME) r->time = value;
        if (id_fields[i] == SAMPLE_CPU) r->cpu = (uint32_t)value;
    }
}

/* ---- records by type */

static ntr_status add_record(struct ntr_perf_file *file, uint16_t type, uint16_t misc, ntr_bytes body) {
    struct ntr_perf_record r = {.type = type,
                                .misc = misc,
                                .body = body.data,
                                .body_size = (uint32_t)body.size,
                                .pid = UINT32_MAX,
                                .tid = UINT32_MAX,
                                .cpu = UINT32_MAX,
                                .time = file->last_time,
                                .order = file->record_count};

    if (type < NTR_PERF_USER_FIRST) {
        const struct ntr_perf_attr *attr = attr_of(file, body);
        size_t block = id_block_size(attr);
        if (block > body.size) return NTR_OK; /* too short: ignored */
        r.body_size -= (uint32_t)block;
        if (block) read_id_block(&r, attr, (ntr_bytes){body.data + r.body_size, block});
        file->last_time = r.time;
    }
    if (ntr_reserve(file->allocator, (void **)&file->records, &file->record_capacity, file->record_count + 1, sizeof r))
        return NTR_E_MEMORY;
    file->records[file->record_count++] = r;
    return NTR_OK;
}

static ntr_status add_block(struct ntr_perf_file *file, ntr_bytes body, ntr_bytes behind) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(body.data, body.size);
    struct ntr_perf_block block = {.bytes = behind.data};

    block.size = ntr_perf_u64(&c);
    block.offset = ntr_perf_u64(&c);
    ntr_perf_u64(&c); /* reference */
    block.index = ntr_perf_u32(&c);
    block.tid = ntr_perf_u32(&c);
    block.cpu = ntr_perf_u32(&c);
    if (c.broken) return NTR_OK;
    if (block.size > behind.size) {
        file->cut = true;
        block.size = behind.size;
    }
    if (ntr_reserve(file->allocator, (void **)&file->blocks, &file->block_capacity, file->block_count + 1,
                    sizeof block))
        return NTR_E_MEMORY;
    file->blocks[file->block_count++] = block;
    return NTR_OK;
}

/* HEADER_ATTR: an attribute, whose size is its second word, then its ids. */
static ntr_status add_attr(struct ntr_perf_file *file, ntr_bytes body) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(body.data, body.size);

    ntr_perf_u32(&c);
    uint32_t size = ntr_perf_u32(&c);
    if (c.broken || size > body.size) return NTR_OK;
    return ntr_perf_attr_add(file, (ntr_bytes){body.data, size}, (ntr_bytes){body.data + size, body.size - size});
}

static void add_feature(struct ntr_perf_file *file, ntr_bytes body) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(body.data, body.size);
    uint64_t feature = ntr_perf_u64(&c);

    if (!c.broken && feature < NTR_PERF_FEATURES) file->features[feature] = (ntr_bytes){c.at, ntr_perf_left(&c)};
}

/* ---- compressed records: one zstd stream over all of them */

static ntr_status unpack(struct ntr_perf_file *file, struct ntr_zstd_reader *zstd, ntr_bytes body) {
    ntr_bytes span;

    ntr_zstd_reader_feed(zstd, body.data, body.size);
    for (;;) {
        ntr_status status = ntr_zstd_reader_next(zstd, &span);
        if (status == NTR_E_MEMORY) return status;
        if (status != NTR_OK || span.size > UNPACKED_MAX - file->unpacked_size) {
            file->cut = true;
            return NTR_OK;
        }
        if (!span.size) return NTR_OK;
        if (ntr_reserve(file->allocator, (void **)&file->unpacked, &file->unpacked_capacity,
                        file->unpacked_size + span.size, 1))
            return NTR_E_MEMORY;
        memcpy(file->unpacked + file->unpacked_size, span.data, span.size);
        file->unpacked_size += span.size;
    }
}

/* ---- division */

typedef struct record_walk {
    struct ntr_zstd_reader *zstd;
    uint64_t skip; /* bytes of AUX data behind the record */
    bool unpacked; /* the records were compressed */
} record_walk;

static ntr_status take(struct ntr_perf_file *file, record_walk *walk, uint16_t type, uint16_t misc, ntr_bytes body,
                       ntr_bytes behind) {
    switch (type) {
    case NTR_PERF_HEADER_ATTR: return add_attr(file, body);
    case NTR_PERF_HEADER_FEATURE: add_feature(file, body); return NTR_OK;
    case NTR_PERF_AUXTRACE_INFO: file->info = body; return NTR_OK;
    case NTR_PERF_COMPRESSED:
        file->cut |= walk->unpacked; /* `unpacked` must stay where it is, as records point to it */
        if (walk->unpacked) return NTR_OK;
        if (!walk->zstd) TRY(ntr_zstd_reader_new(&walk->zstd, file->allocator));
        return unpack(file, walk->zstd, body);
    case NTR_PERF_AUXTRACE: {
        struct ntr_perf_cursor c = ntr_perf_cursor_at(body.data, body.size);
        uint64_t size = ntr_perf_u64(&c);
        walk->skip = size > behind.size ? behind.size : size;
        return add_block(file, body, behind);
    }
    default: return add_record(file, type, misc, body);
    }
}

static ntr_status walk_records(struct ntr_perf_file *file, record_walk *walk, ntr_bytes bytes) {
    size_t at = 0;

    while (bytes.size - at >= RECORD_HEADER) {
        struct ntr_perf_cursor c = ntr_perf_cursor_at(bytes.data + at, RECORD_HEADER);
        uint32_t type = ntr_perf_u32(&c);
        uint16_t misc = ntr_perf_u16(&c), size = ntr_perf_u16(&c);
        if (size < RECORD_HEADER || size > bytes.size - at) break;
        ntr_bytes body = {bytes.data + at + RECORD_HEADER, size - RECORD_HEADER};
        at += size;
        walk->skip = 0;
        TRY(take(file, walk, type > UINT16_MAX ? UINT16_MAX : (uint16_t)type, misc, body,
                 (ntr_bytes){bytes.data + at, bytes.size - at}));
        at += (size_t)walk->skip;
    }
    file->cut |= at != bytes.size;
    return NTR_OK;
}

ntr_status ntr_perf_records_add(struct ntr_perf_file *file, ntr_bytes bytes) {
    record_walk walk = {0};
    ntr_status status = bytes.data ? walk_records(file, &walk, bytes) : NTR_OK;

    if (status == NTR_E_UNSUPPORTED) ntr_perf_fail(file, status, "compressed records, and zstd is not built in");
    ntr_zstd_reader_free(walk.zstd);
    return status;
}

static int by_time(const void *a, const void *b) {
    const struct ntr_perf_record *x = a, *y = b;

    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

ntr_status ntr_perf_records_finish(struct ntr_perf_file *file) {
    record_walk inner = {.unpacked = true};

    file->last_time = 0;
    if (file->unpacked_size) TRY(walk_records(file, &inner, (ntr_bytes){file->unpacked, file->unpacked_size}));
    if (file->record_count) qsort(file->records, file->record_count, sizeof *file->records, by_time);
    for (size_t i = 0; i < file->record_count; i++) {
        const struct ntr_perf_record *r = &file->records[i];
        struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
        if (r->type != NTR_PERF_LOST) continue;
        ntr_perf_u64(&c);
        file->lost += ntr_perf_u64(&c);
    }
    return NTR_OK;
}
