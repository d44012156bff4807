/* The file: header, attributes and records. */
#include "perf/file.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "bundle/zstd.h"
#include "program/file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- The records of perf.data: division into records, decompression, id blocks, order. */

enum { RECORD_HEADER = 8 };

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

/* ---- compressed records: one zstd stream over all of them. perf before 6.16 writes records of any size; later ones
 * are filled up to a multiple of 8 bytes, and begin with the size of their content. */

static ntr_bytes content_of(struct ntr_perf_file *file, uint16_t type, ntr_bytes body) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(body.data, body.size);

    if (type == NTR_PERF_COMPRESSED) return body;
    const uint64_t size = ntr_perf_u64(&c);
    file->cut |= c.broken || size > ntr_perf_left(&c);
    if (c.broken) return (ntr_bytes){0};
    return (ntr_bytes){c.at, size < ntr_perf_left(&c) ? (size_t)size : ntr_perf_left(&c)};
}

static ntr_status unpack(struct ntr_perf_file *file, struct ntr_zstd_reader *zstd, ntr_bytes body) {
    const uint64_t most = ntr_limits_get(&file->limits, NTR_LIMIT_PERF_OUTPUT);
    ntr_bytes piece;

    ntr_zstd_reader_feed(zstd, body.data, body.size);
    for (;;) {
        ntr_status status = ntr_zstd_reader_next(zstd, &piece);
        if (status == NTR_E_MEMORY) return status;
        file->limited |= status == NTR_E_LIMIT || (status == NTR_OK && piece.size > most - file->unpacked_size);
        if (status != NTR_OK || piece.size > most - file->unpacked_size) {
            file->cut = true;
            return NTR_OK;
        }
        if (!piece.size) return NTR_OK;
        if (ntr_reserve(file->allocator, (void **)&file->unpacked, &file->unpacked_capacity,
                        file->unpacked_size + piece.size, 1))
            return NTR_E_MEMORY;
        memcpy(file->unpacked + file->unpacked_size, piece.data, piece.size);
        file->unpacked_size += piece.size;
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
    case NTR_PERF_COMPRESSED2:
        file->cut |= walk->unpacked; /* `unpacked` must stay where it is, as records point to it */
        if (walk->unpacked) return NTR_OK;
        if (!walk->zstd) TRY(ntr_zstd_reader_new(&walk->zstd, &file->limits, file->allocator));
        return unpack(file, walk->zstd, content_of(file, type, body));
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

enum { FILE_HEADER = 104, PIPE_HEADER = 16, PARTS_MAX = 4096 };

ntr_status ntr_perf_fail(struct ntr_perf_file *file, ntr_status status, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(file->error, sizeof file->error, format, arguments);
    va_end(arguments);
    return status;
}

bool ntr_perf_file_is(ntr_bytes beginning) {
    return beginning.size >= PIPE_HEADER &&
           (memcmp(beginning.data, "PERFILE2", 8) == 0 || memcmp(beginning.data, "2ELIFREP", 8) == 0);
}

/* ---- attributes */

ntr_status ntr_perf_attr_add(struct ntr_perf_file *file, ntr_bytes attr, ntr_bytes ids) {
    enum { SAMPLE_ID_ALL = 18 };
    struct ntr_perf_cursor c = ntr_perf_cursor_at(attr.data, attr.size);
    struct ntr_perf_attr a = {.ids = ids.data, .id_count = ids.size / 8};

    a.type = ntr_perf_u32(&c);
    ntr_perf_take(&c, 4 + 8 + 8); /* size, config, period */
    a.sample_type = ntr_perf_u64(&c);
    ntr_perf_u64(&c); /* read_format */
    a.sample_id_all = ntr_perf_u64(&c) >> SAMPLE_ID_ALL & 1;
    if (c.broken) return ntr_perf_fail(file, NTR_E_FORMAT, "an event attribute is too short");
    if (ntr_reserve(file->allocator, (void **)&file->attrs, &file->attr_capacity, file->attr_count + 1, sizeof a))
        return NTR_E_MEMORY;
    file->attrs[file->attr_count++] = a;
    return NTR_OK;
}

/* ---- header */

/* A part of the file, or nothing when it is not inside. */
static ntr_bytes section(ntr_bytes whole, uint64_t offset, uint64_t size) {
    if (offset > whole.size || size > whole.size - offset) return (ntr_bytes){0};
    return (ntr_bytes){whole.data + offset, (size_t)size};
}

static ntr_status read_attrs(struct ntr_perf_file *file, ntr_bytes whole, ntr_bytes attrs, uint64_t entry) {
    enum { ID_SECTION = 16 }; /* offset and size of the ids, at the end of an entry */
    if (entry < ID_SECTION + 48 || entry > 4096)
        return ntr_perf_fail(file, NTR_E_FORMAT, "expected event attributes of 64 to 4096 bytes, found %" PRIu64,
                             entry);
    for (size_t at = 0; attrs.size - at >= entry; at += entry) {
        struct ntr_perf_cursor c = ntr_perf_cursor_at(attrs.data + at + entry - ID_SECTION, ID_SECTION);
        uint64_t offset = ntr_perf_u64(&c), size = ntr_perf_u64(&c);
        TRY(ntr_perf_attr_add(file, (ntr_bytes){attrs.data + at, entry - ID_SECTION}, section(whole, offset, size)));
    }
    return NTR_OK;
}

/* Behind the data is one {offset, size} for each feature, in ascending order. */
static void read_features(struct ntr_perf_file *file, ntr_bytes whole, uint64_t end, const uint8_t *bits) {
    ntr_bytes rest = section(whole, end, end < whole.size ? whole.size - end : 0);
    struct ntr_perf_cursor c = ntr_perf_cursor_at(rest.data, rest.size);

    for (unsigned i = 0; i < NTR_PERF_FEATURES && rest.data; i++) {
        if (!(bits[i / 8] >> i % 8 & 1)) continue;
        uint64_t offset = ntr_perf_u64(&c), size = ntr_perf_u64(&c);
        if (c.broken) return;
        file->features[i] = section(whole, offset, size);
    }
}

static ntr_status read_file(struct ntr_perf_file *file, ntr_bytes whole) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(whole.data + 16, FILE_HEADER - 16);
    uint64_t entry = ntr_perf_u64(&c), attrs = ntr_perf_u64(&c), attrs_size = ntr_perf_u64(&c);
    uint64_t data = ntr_perf_u64(&c), size = ntr_perf_u64(&c);

    ntr_perf_take(&c, 16); /* event types */
    if (data > whole.size) return ntr_perf_fail(file, NTR_E_FORMAT, "the data begins behind the end of the file");
    TRY(read_attrs(file, whole, section(whole, attrs, attrs_size), entry));
    if (size == 0 || size > whole.size - data) { /* the recording was cut off: there are no features */
        file->cut |= size != 0;
        size = whole.size - data;
    } else {
        read_features(file, whole, data + size, c.at);
    }
    return ntr_perf_records_add(file, section(whole, data, size));
}

static ntr_status read_part(struct ntr_perf_file *file, const char *name, ntr_bytes whole) {
    if (!ntr_perf_file_is(whole)) return ntr_perf_fail(file, NTR_E_FORMAT, "%s: not a perf.data file", name);
    if (memcmp(whole.data, "PERFILE2", 8) != 0)
        return ntr_perf_fail(file, NTR_E_UNSUPPORTED, "%s: a perf.data file of a big-endian machine", name);
    struct ntr_perf_cursor c = ntr_perf_cursor_at(whole.data + 8, 8);
    uint64_t size = ntr_perf_u64(&c);
    if (size == PIPE_HEADER)
        return ntr_perf_records_add(file, (ntr_bytes){whole.data + PIPE_HEADER, whole.size - PIPE_HEADER});
    if (size < FILE_HEADER || whole.size < FILE_HEADER)
        return ntr_perf_fail(file, NTR_E_FORMAT, "%s: the header of the perf.data file is too short", name);
    return read_file(file, whole);
}

ntr_status ntr_perf_file_read(struct ntr_perf_file *file, const char *name, ntr_bytes bytes) {
    TRY(read_part(file, name, bytes));
    return ntr_perf_records_finish(file);
}

/* ---- opening */

static ntr_status map_part(struct ntr_perf_file *file, const char *path, ntr_bytes *bytes) {
    const char *reason = NULL;

    if (ntr_reserve(file->allocator, (void **)&file->parts, &file->part_capacity, file->part_count + 1,
                    sizeof *file->parts))
        return NTR_E_MEMORY;
    struct ntr_perf_part *part = &file->parts[file->part_count];
    *part = (struct ntr_perf_part){0};
    ntr_status status = ntr_file_map(path, &part->mapping, &part->size, &reason);
    if (status != NTR_OK) return ntr_perf_fail(file, status, "%s: %s", path, reason ? reason : ntr_status_text(status));
    file->part_count++;
    *bytes = (ntr_bytes){part->mapping, part->size};
    return NTR_OK;
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* A folder: `data` has the header, `data.N` only records. */
static ntr_status open_folder(struct ntr_perf_file *file, const char *folder) {
    char path[4096];
    ntr_bytes bytes = {0};

    snprintf(path, sizeof path, "%s/data", folder);
    TRY(map_part(file, path, &bytes));
    TRY(read_part(file, path, bytes));
    for (unsigned n = 0; n < PARTS_MAX; n++) {
        snprintf(path, sizeof path, "%s/data.%u", folder, n);
        if (!is_file(path)) continue;
        ntr_status status = map_part(file, path, &bytes);
        if (status == NTR_E_FORMAT) continue; /* empty */
        if (status == NTR_OK) status = ntr_perf_records_add(file, bytes);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

ntr_status ntr_perf_file_open(struct ntr_perf_file *file, const char *path) {
    struct stat about;
    ntr_bytes bytes = {0};

    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        TRY(open_folder(file, path));
    } else {
        TRY(map_part(file, path, &bytes));
        TRY(read_part(file, path, bytes));
    }
    return ntr_perf_records_finish(file);
}

void ntr_perf_file_release(struct ntr_perf_file *file) {
    for (size_t i = 0; i < file->part_count; i++) ntr_file_unmap(file->parts[i].mapping, file->parts[i].size);
    ntr_dealloc(file->allocator, file->parts);
    ntr_dealloc(file->allocator, file->attrs);
    ntr_dealloc(file->allocator, file->records);
    ntr_dealloc(file->allocator, file->blocks);
    ntr_dealloc(file->allocator, file->unpacked);
}

/* ---- features */

const char *ntr_perf_pmu_name(const struct ntr_perf_file *file, uint32_t type) {
    ntr_bytes feature = file->features[NTR_PERF_FEATURE_PMU];
    struct ntr_perf_cursor c = ntr_perf_cursor_at(feature.data, feature.size);

    if (!feature.data) return NULL;
    for (uint32_t left = ntr_perf_u32(&c); left && !c.broken; left--) {
        uint32_t number = ntr_perf_u32(&c), size = ntr_perf_u32(&c);
        const uint8_t *name = ntr_perf_take(&c, size);
        if (name && number == type && size && memchr(name, 0, size)) return (const char *)name;
    }
    return NULL;
}
