#include "perf/file.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "program/file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

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
