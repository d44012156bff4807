#include "capture/generated.h"

#include "base/file.h"
#include "base/allocator.h"
#include "base/bytes.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GRANULE_BITS = 8, NAME_SLOTS = 1 << 14, RECORD_MOST = 1 << 24 };
enum { DUMP_HEADER = 40, DUMP_RECORD = 16, DUMP_LOAD = 56, DUMP_MOVE = 64, DUMP_ID_LOAD = 0, DUMP_ID_MOVE = 1 };

/* A record, in one of the granules of memory that it touches. */
struct ntr_capture_name_entry {
    uint32_t mapping, older; /* + 1; 0: none */
    uint64_t granule, end;   /* end: offset in the file behind the record */
    bool dump;
    uint32_t generation; /* of the file */
};

enum { LATEST = 64 };

struct name_file {
    char path[PATH_MAX];
    uint64_t read; /* offset of the next record */
    size_t latest_size;
    char latest[LATEST]; /* what was before that offset */
    uint32_t generation; /* how often the program has written another file in its place */
};

struct ntr_capture_generated {
    struct name_file map, dump;
    size_t entry_count, entry_capacity; /* of record->generated_entries */
    uint32_t slots[NAME_SLOTS]; /* by a hash of the granule: the newest entry */
};

static uint32_t *slot_of(struct ntr_capture_generated *g, uint64_t granule) {
    return &g->slots[granule * UINT64_C(0x9e3779b97f4a7c15) >> 50];
}

static bool add_entries(struct ntr_capture_record *record, uint32_t mapping, uint64_t end, bool dump) {
    struct ntr_capture_generated *g = record->generated;
    const struct ntr_capture_mapping *m = &record->mappings[mapping - 1];

    for (uint64_t granule = m->start >> GRANULE_BITS; granule <= (m->end - 1) >> GRANULE_BITS; granule++) {
        if (ntr_reserve(record->allocator, (void **)&record->generated_entries, &g->entry_capacity, g->entry_count + 1,
                        sizeof *record->generated_entries))
            return false;
        uint32_t *slot = slot_of(g, granule);
        record->generated_entries[g->entry_count++] =
            (struct ntr_capture_name_entry){mapping, *slot, granule, end, dump, (dump ? g->dump : g->map).generation};
        *slot = (uint32_t)g->entry_count;
    }
    return true;
}

static bool add_name(struct ntr_capture_record *record, uint64_t start, uint64_t size, const char *name,
                     const struct name_file *file, uint64_t end, bool dump) {
    struct ntr_capture_mapping m = {.start = start, .end = start + size, .copy = SIZE_MAX, .image = SIZE_MAX};

    if (!size || size > RECORD_MOST || m.end < start) return true;
    m.name = ntr_capture_record_text(record, name);
    m.file = ntr_capture_record_text(record, file->path);
    if (!m.name || !m.file ||
        ntr_reserve(record->allocator, (void **)&record->mappings, &record->mapping_capacity, record->mapping_count + 1,
                    sizeof m))
        return false;
    record->mappings[record->mapping_count++] = m;
    return add_entries(record, (uint32_t)record->mapping_count, end, dump);
}

/* Lines "START SIZE NAME", hexadecimal. */
static uint64_t read_map(struct ntr_capture_record *record, const char *text, size_t size) {
    struct name_file *file = &record->generated->map;
    const char *at = text, *end = text + size, *stop;

    for (; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
        char line[512], *rest;
        snprintf(line, sizeof line, "%.*s", (int)(stop - at), at);
        const uint64_t start = strtoull(line, &rest, 16), length = strtoull(rest, &rest, 16);
        if (*rest == ' ' && rest[1] &&
            !add_name(record, start, length, rest + 1, file, file->read + (uint64_t)(stop + 1 - text), false))
            break;
    }
    return (uint64_t)(at - text);
}

/* The name of the code that begins at the address, by the newest record of the jitdump file. */
static const char *dumped_name(const struct ntr_capture_record *record, uint64_t start) {
    struct ntr_capture_generated *g = record->generated;
    for (uint32_t at = *slot_of(g, start >> GRANULE_BITS); at; at = record->generated_entries[at - 1].older) {
        const struct ntr_capture_name_entry *e = &record->generated_entries[at - 1];
        const struct ntr_capture_mapping *m = &record->mappings[e->mapping - 1];
        if (e->dump && e->generation == g->dump.generation && m->start == start) return m->name;
    }
    return NULL;
}

/* Takes a record of jitdump: identifier, size, time; process, thread; address (twice; of moved code the old and the new
 * one), size and number of the code; of loaded code its name and its bytes. `end`: offset in the file. Returns false
 * when out of memory. */
static bool take_dumped(struct ntr_capture_record *record, const uint8_t *b, uint32_t length, uint64_t end) {
    const bool loads = ntr_little_32(b) == DUMP_ID_LOAD, moves = ntr_little_32(b) == DUMP_ID_MOVE;
    const char *name = NULL;

    if (loads && length > DUMP_LOAD && memchr(b + DUMP_LOAD, 0, length - DUMP_LOAD)) name = (const char *)b + DUMP_LOAD;
    if (moves && length >= DUMP_MOVE) name = dumped_name(record, ntr_little_64(b + 32));
    if (!name) return true;
    const uint64_t start = ntr_little_64(b + (moves ? 40 : 32)), size = ntr_little_64(b + (moves ? 48 : 40));
    return add_name(record, start, size, name, &record->generated->dump, end, true);
}

static uint64_t read_dump(struct ntr_capture_record *record, const char *bytes, size_t size) {
    struct name_file *file = &record->generated->dump;
    const uint8_t *b = (const uint8_t *)bytes;
    uint64_t at = file->read ? 0 : DUMP_HEADER;

    while (at + DUMP_RECORD <= size) {
        const uint32_t length = ntr_little_32(b + at + 4);
        if (length < DUMP_RECORD || length > size - at) break;
        if (!take_dumped(record, b + at, length, file->read + at + length)) break;
        at += length;
    }
    return at <= size ? at : 0;
}

/* A file that does not continue what was read is another one, with the names of now. */
static void check_latest(struct name_file *file, int fd) {
    char bytes[LATEST];
    const size_t n = file->latest_size;

    if (fd >= 0 && pread(fd, bytes, n, (off_t)(file->read - n)) == (ssize_t)n && memcmp(bytes, file->latest, n) == 0)
        return;
    file->read = file->latest_size = 0;
    file->generation++;
}

static void keep_latest(struct name_file *file, int fd) {
    const size_t n = file->read < LATEST ? (size_t)file->read : LATEST;
    const ssize_t got = pread(fd, file->latest, n, (off_t)(file->read - n));
    file->latest_size = got == (ssize_t)n ? n : 0;
}

static void read_rest(struct ntr_capture_record *record, struct name_file *file, int fd, uint64_t size,
                      uint64_t (*read_records)(struct ntr_capture_record *, const char *, size_t)) {
    if (size <= file->read || size - file->read > INT32_MAX) return;
    const size_t length = (size_t)(size - file->read);
    char *bytes = ntr_alloc(record->allocator, length + 1, 1);
    const ssize_t n = bytes ? pread(fd, bytes, length, (off_t)file->read) : -1;

    if (n > 0) file->read += read_records(record, bytes, (size_t)n);
    if (n > 0) keep_latest(file, fd);
    ntr_dealloc(record->allocator, bytes);
}

/* Reads the records up to this size of the file. */
static void read_up_to(struct ntr_capture_record *record, struct name_file *file, uint64_t size,
                       uint64_t (*read_records)(struct ntr_capture_record *, const char *, size_t)) {
    if (!size || !*file->path) return;
    uint64_t now;
    const int fd = ntr_open_own(file->path, UINT64_MAX, &now);
    check_latest(file, fd);
    if (fd < 0) return;
    read_rest(record, file, fd, size, read_records);
    close(fd);
}

static void find_dump(const struct ntr_capture_record *record, struct name_file *dump) {
    for (size_t i = record->mapping_count; i-- > 0 && !*dump->path;) {
        const char *path = record->mappings[i].path, *name = path ? strrchr(path, '/') : NULL;
        const size_t length = name ? strlen(name) : 0;
        if (length > 10 && strncmp(name, "/jit-", 5) == 0 && strcmp(name + length - 5, ".dump") == 0)
            snprintf(dump->path, sizeof dump->path, "%s", path);
    }
}

static bool begin(struct ntr_capture_record *record) {
    if (record->generated) return true;
    record->generated = ntr_alloc(record->allocator, 1, sizeof *record->generated);
    if (record->generated)
        snprintf(record->generated->map.path, sizeof record->generated->map.path, "/tmp/perf-%d.map", record->pid);
    return record->generated != NULL;
}

uint32_t ntr_capture_generated_at(struct ntr_capture_record *record, uint64_t sizes, uint64_t address) {
    const uint64_t map = sizes & UINT32_MAX, dump = sizes >> 32;

    if (!sizes || !begin(record)) return 0;
    struct ntr_capture_generated *g = record->generated;
    if (dump) find_dump(record, &g->dump);
    read_up_to(record, &g->map, map, read_map);
    read_up_to(record, &g->dump, dump, read_dump);
    for (uint32_t at = *slot_of(g, address >> GRANULE_BITS); at; at = record->generated_entries[at - 1].older) {
        const struct ntr_capture_name_entry *e = &record->generated_entries[at - 1];
        const struct ntr_capture_mapping *m = &record->mappings[e->mapping - 1];
        if (e->generation != (e->dump ? g->dump : g->map).generation) continue;
        if (e->end <= (e->dump ? dump : map) && address >= m->start && address < m->end) return e->mapping;
    }
    return 0;
}

static int by_start(const void *a, const void *b) {
    const struct ntr_capture_named *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

struct ntr_capture_named *ntr_capture_generated_names(const struct ntr_capture_record *record, size_t *count) {
    struct ntr_capture_named *names =
        ntr_alloc(record->allocator, record->named_count + record->mapping_count + 1, sizeof *names);

    *count = 0;
    for (size_t i = 0; names && i < record->named_count; i++) names[(*count)++] = record->named[i];
    for (size_t i = 0; names && i < record->mapping_count; i++) {
        const struct ntr_capture_mapping *m = &record->mappings[i];
        if (m->name && m->current)
            names[(*count)++] = (struct ntr_capture_named){m->start, m->end, m->from, 0, m->name, m->file};
    }
    if (names && *count) qsort(names, *count, sizeof *names, by_start);
    return names;
}
