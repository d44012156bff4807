#include "capture/mapped.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "bundle/bundle.h"
#include "capture/elf.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char deleted[] =
    " (deleted)"; /* what Linux adds to the name of a file that is not in its folder any more */

/* ---- where the file is --------------------------------------------------------------------------------------------
 */

static bool is_deleted(const char *path) {
    const size_t length = strlen(path);
    return length > sizeof deleted - 1 && strcmp(path + length - (sizeof deleted - 1), deleted) == 0;
}

/* Finds a file that was removed among the open files of the program, or among those that it has mapped. */
static bool find_open(const struct ntr_capture_record *record, const char *kind, const char *path,
                      char found[PATH_MAX]) {
    char folder[64], link[PATH_MAX];
    bool same = false;

    snprintf(folder, sizeof folder, "/proc/%d/%s", record->pid, kind);
    DIR *entries = record->pid ? opendir(folder) : NULL;
    for (struct dirent *entry; entries && !same && (entry = readdir(entries));) {
        const int size = snprintf(found, PATH_MAX, "%s/%s", folder, entry->d_name);
        const ssize_t n = size < PATH_MAX ? readlink(found, link, sizeof link - 1) : -1;
        if (n > 0) link[n] = 0;
        same = n > 0 && strncmp(link, path, strlen(path)) == 0 && is_deleted(link);
    }
    if (entries) closedir(entries);
    return same;
}

/* A process has the mappings of the one that forked it, which has copied the files. */
static bool find_inherited(const struct ntr_capture_record *record, char source[PATH_MAX]) {
    const struct ntr_capture_record *parent = record->parent;
    const struct ntr_capture_mapping *m = parent && record->line_count < parent->line_count
                                              ? &parent->mappings[parent->lines[record->line_count] - 1]
                                              : NULL;

    if (!m || m->copy == SIZE_MAX) return false;
    const char *folder = ntr_bundle_folder(parent->bundle);
    return snprintf(source, PATH_MAX, "%s/%s", folder, parent->copies[m->copy].file) < PATH_MAX;
}

/* Stores where the file can be read: in the bundle of the parent, at its path, else where the program has it open. */
static bool find_source(const struct ntr_capture_record *record, const char *path, char source[PATH_MAX]) {
    if (find_inherited(record, source)) return true;
    snprintf(source, PATH_MAX, "%s", path);
    if (!is_deleted(path) && access(path, R_OK) == 0) return true;
    return find_open(record, "fd", path, source) || find_open(record, "map_files", path, source);
}

/* ---- copies -------------------------------------------------------------------------------------------------------
 */

static bool is_same(const struct ntr_capture_copy *a, const struct ntr_capture_copy *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->changed == b->changed &&
           strcmp(a->name, b->name) == 0;
}

/* Stores the number of the copy of a file, which is made if there is none. */
static ntr_status copy_file(struct ntr_capture_record *record, const char *source, const char *name, size_t *number) {
    enum { NANOSECONDS_OF_MTIME = 1000000000 };
    struct stat about;

    if (stat(source, &about)) return NTR_E_IO;
    struct ntr_capture_copy copy = {.device = about.st_dev,
                                    .inode = about.st_ino,
                                    .size = (uint64_t)about.st_size,
                                    .changed = about.st_mtim.tv_sec * NANOSECONDS_OF_MTIME + about.st_mtim.tv_nsec,
                                    .name = name};
    for (*number = 0; *number < record->copy_count; ++*number)
        if (is_same(&record->copies[*number], &copy)) return NTR_OK;
    ntr_bundle_image image = {0};
    ntr_status status = ntr_bundle_copy_as(record->bundle, source, name, &image);
    if (status != NTR_OK) return ntr_capture_record_fail(record, status);
    copy.file = image.file;
    copy.build_id = image.build_id;
    copy.name = ntr_capture_record_text(record, name);
    if (!copy.name || ntr_reserve(record->allocator, (void **)&record->copies, &record->copy_capacity,
                                  record->copy_count + 1, sizeof copy))
        return ntr_capture_fail_memory(record->reason);
    record->copies[record->copy_count++] = copy;
    return NTR_OK;
}

/* Stores the number of an image of the copy that is valid now, which is added if there is none. */
static ntr_status add_image(struct ntr_capture_record *record, size_t copy, uint64_t bias, uint64_t from,
                            size_t *number) {
    const struct ntr_capture_copy *c = &record->copies[copy];

    for (*number = record->first; *number < record->image_count; ++*number) {
        const ntr_bundle_image *image = &record->images[*number];
        if (image->file == c->file && image->options.bias == bias && !image->options.until) return NTR_OK;
    }
    ntr_bundle_image *added = ntr_capture_record_image(record);
    if (!added) return ntr_capture_fail_memory(record->reason);
    added->file = c->file;
    added->build_id = c->build_id;
    added->options.bias = bias;
    added->options.from = from;
    added->options.name = c->name;
    return NTR_OK;
}

/* The symbols of the file are found, as long as the program runs (window.c). A file that is damaged has none. */
static void add_to_program(struct ntr_capture_record *record, size_t copy, uint64_t bias) {
    const struct ntr_capture_copy *c = &record->copies[copy];
    const ntr_image_options options = {.size = sizeof options, .bias = bias, .name = c->name};
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(record->bundle), c->file);
    ntr_program_add_elf(record->program, path, &options);
}

static ntr_status add_elf(struct ntr_capture_record *record, size_t copy, uint64_t bias, size_t *image) {
    const size_t before = record->image_count;

    TRY(add_image(record, copy, bias, record->from, image));
    if (record->image_count > before) add_to_program(record, copy, bias);
    return NTR_OK;
}

ntr_status ntr_capture_record_elf(struct ntr_capture_record *record, const char *path, uint64_t bias) {
    struct ntr_capture_elf elf;
    size_t copy, image;

    if (!ntr_capture_elf_read(path, &elf) && errno) return ntr_capture_fail_errno(record->reason, path);
    if (!elf.is_riscv) return NTR_OK;
    TRY(copy_file(record, path, path, &copy));
    return add_elf(record, copy, bias, &image);
}

/* ---- the list -----------------------------------------------------------------------------------------------------
 */

static void note_unread(struct ntr_capture_record *record, const char *path) {
    if (!record->unread) record->unread = ntr_capture_record_text(record, path);
}

/* Is the file at one of the biases that its segments allow? Several segments of a small file can lie in one page of it,
 * so that a mapping may belong to an image that was found before. */
static bool has_bias(const struct ntr_capture_record *record, const struct ntr_capture_elf *elf, size_t copy,
                     const struct ntr_capture_mapping *mapping, uint64_t offset, uint64_t *bias) {
    for (unsigned i = 0; ntr_capture_elf_bias(elf, mapping->start, offset, i, bias); i++)
        for (size_t k = record->first; k < record->image_count; k++)
            if (record->images[k].file == record->copies[copy].file && record->images[k].options.bias == *bias &&
                !record->images[k].options.until)
                return true;
    return false;
}

/* Copies the file of a mapping. What is no ELF file of RISC-V is left out: its code bytes are recorded instead. */
static ntr_status copy_mapped(struct ntr_capture_record *record, struct ntr_capture_mapping *mapping, uint64_t offset,
                              char *path) {
    char source[PATH_MAX];
    struct ntr_capture_elf elf;
    uint64_t first;
    size_t copy;
    const bool found = find_source(record, path, source);

    if (is_deleted(path)) path[strlen(path) - (sizeof deleted - 1)] = 0;
    if (strcmp(path, "/memfd:[vdso]") == 0) path += strlen("/memfd:");
    mapping->path = ntr_capture_record_text(record, path);
    if (!found || (!ntr_capture_elf_read(source, &elf) && errno)) {
        note_unread(record, path);
        return NTR_OK;
    }
    if (!elf.is_riscv) return NTR_OK;
    if (!ntr_capture_elf_bias(&elf, mapping->start, offset, 0, &first)) {
        if (elf.has_more) note_unread(record, path);
        return NTR_OK;
    }
    TRY(copy_file(record, source, path, &copy));
    if (!has_bias(record, &elf, copy, mapping, offset, &mapping->bias)) mapping->bias = first;
    mapping->copy = copy;
    return NTR_OK;
}

static bool overlap(const struct ntr_capture_mapping *a, const struct ntr_capture_mapping *b) {
    return a->start < b->end && b->start < a->end;
}

/* Do both show the same bytes of the same file? */
static bool shows_same(const struct ntr_capture_mapping *a, const struct ntr_capture_mapping *b) {
    return a->copy != SIZE_MAX && a->copy == b->copy && a->bias == b->bias;
}

/* Was something else mapped, or executed, where the mapping is? Then its image begins with its first block. */
static bool follows_another(const struct ntr_capture_record *record, const struct ntr_capture_mapping *mapping) {
    for (size_t i = 0; i < record->mapping_count; i++) {
        const struct ntr_capture_mapping *m = &record->mappings[i];
        if ((m->executed || m->path) && overlap(m, mapping) && !shows_same(m, mapping)) return true;
    }
    return false;
}

/* A line feed in a path is "\012" in a line, and these four characters are themselves. The path that exists is meant:
 * bit k of `feeds` tells that the k-th mark is a line feed. */
static bool restore_line_feeds(const char *path, unsigned feeds, char restored[PATH_MAX + 64]) {
    static const char mark[] = "\\012";
    char *to = restored;
    for (unsigned k = 0; *path;) {
        const bool found = strncmp(path, mark, sizeof mark - 1) == 0, feed = found && feeds >> k & 1;
        *to++ = feed ? '\n' : *path;
        path += feed ? sizeof mark - 1 : 1;
        k += found;
    }
    *to = 0;
    return access(restored, F_OK) == 0;
}

static void find_line_feeds(char *path) {
    enum { MARKS_MAX = 6 };
    char restored[PATH_MAX + 64];
    unsigned marks = 0;
    for (const char *at = path; (at = strstr(at, "\\012")) && marks < MARKS_MAX; at++) marks++;
    for (unsigned feeds = 0; marks && feeds < 1u << marks; feeds++) {
        if (!restore_line_feeds(path, feeds, restored)) continue;
        memcpy(path, restored, strlen(restored) + 1);
        return;
    }
}

/* "START LENGTH OFFSET PATH", hexadecimal. */
static ntr_status add_mapping(struct ntr_capture_record *record, char *line) {
    struct ntr_capture_mapping mapping = {.copy = SIZE_MAX, .image = SIZE_MAX};
    char *at;

    mapping.start = strtoull(line, &at, 16);
    mapping.end = mapping.start + strtoull(at, &at, 16);
    const uint64_t offset = strtoull(at, &at, 16);
    if (*at == ' ') at++;
    find_line_feeds(at);
    TRY(copy_mapped(record, &mapping, offset, at));
    if (mapping.copy != SIZE_MAX) {
        if (follows_another(record, &mapping))
            add_to_program(record, mapping.copy, mapping.bias);
        else
            TRY(add_elf(record, mapping.copy, mapping.bias, &mapping.image));
    }
    if (ntr_reserve(record->allocator, (void **)&record->mappings, &record->mapping_capacity, record->mapping_count + 1,
                    sizeof mapping))
        return ntr_capture_fail_memory(record->reason);
    record->mappings[record->mapping_count++] = mapping;
    if (ntr_reserve(record->allocator, (void **)&record->lines, &record->line_capacity, record->line_count + 1,
                    sizeof *record->lines))
        return ntr_capture_fail_memory(record->reason);
    record->lines[record->line_count++] = (uint32_t)record->mapping_count;
    return NTR_OK;
}

ntr_status ntr_capture_record_files(struct ntr_capture_record *record, const char *lines, size_t size) {
    char line[PATH_MAX + 64];

    while (record->maps_read < size) {
        const char *begin = lines + record->maps_read, *stop = memchr(begin, '\n', size - record->maps_read);
        if (!stop) break;
        snprintf(line, sizeof line, "%.*s", (int)(stop - begin), begin);
        TRY(add_mapping(record, line));
        record->maps_read += (size_t)(stop - begin) + 1;
    }
    return NTR_OK;
}

/* ---- which mapping is executed ------------------------------------------------------------------------------------
 */

static struct ntr_capture_mapping *mapping_of(struct ntr_capture_record *record, uint32_t number) {
    return number && number <= record->mapping_count ? &record->mappings[number - 1] : NULL;
}

uint32_t ntr_capture_mapped_line(const struct ntr_capture_record *record, uint32_t line) {
    return line && line <= record->line_count ? record->lines[line - 1] : 0;
}

/* The name of generated code ends. */
static bool end_name(struct ntr_capture_record *record, const struct ntr_capture_mapping *m, uint64_t position) {
    if (!m->name || !position || m->from == position) return true;
    if (ntr_reserve(record->allocator, (void **)&record->named, &record->named_capacity, record->named_count + 1,
                    sizeof *record->named))
        return false;
    record->named[record->named_count++] =
        (struct ntr_capture_named){m->start, m->end, m->from, position, m->name, m->file};
    return true;
}

static bool contains(const struct ntr_capture_mapping *m, uint64_t address) {
    return address >= m->start && address < m->end;
}

/* Where it may have begun: behind the beginning of the program, and behind what was there before. */
static uint64_t earliest(const struct ntr_capture_record *record, const struct ntr_capture_mapping *m) {
    uint64_t from = record->from;
    for (size_t i = 0; i < record->mapping_count; i++) {
        const struct ntr_capture_mapping *other = &record->mappings[i];
        if (other != m && other->ended > from && overlap(other, m)) from = other->ended;
    }
    return from;
}

bool ntr_capture_mapped_differs(struct ntr_capture_record *record, uint32_t number, uint64_t address) {
    struct ntr_capture_mapping *m = mapping_of(record, number);

    if (m && m->current) return false;
    bool differs = m && m->copy != SIZE_MAX && m->image == SIZE_MAX;
    for (size_t i = 0; i < record->mapping_count; i++) {
        struct ntr_capture_mapping *other = &record->mappings[i];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is an array when its count is not 0 */
        if (other == m || !other->current) continue;
        if (!(m ? overlap(other, m) : contains(other, address))) continue;
        if (!m || !shows_same(other, m)) return true;
        other->current = false; /* the same file was mapped there again */
        m->image = other->image;
        differs = false;
    }
    if (m && !differs) {
        m->current = m->executed = true;
        m->from = earliest(record, m);
    }
    return differs;
}

bool ntr_capture_mapped_is_first(const struct ntr_capture_record *record, uint32_t number, uint64_t *first,
                                 uint64_t *end) {
    if (!number || number > record->mapping_count) return false;
    const struct ntr_capture_mapping *m = &record->mappings[number - 1];

    *first = m->start;
    *end = m->end;
    return !m->name && !m->executed;
}

bool ntr_capture_mapped_is_current(const struct ntr_capture_record *record, uint32_t number) {
    return number && number <= record->mapping_count && record->mappings[number - 1].current;
}

void ntr_capture_mapped_begin(struct ntr_capture_record *record, uint32_t number, uint64_t position) {
    struct ntr_capture_mapping *m = mapping_of(record, number);

    if (m && m->name && position) m->from = position;
}

/* Was code of the image executed? */
static bool is_executed(const struct ntr_capture_record *record, size_t image) {
    for (size_t i = 0; i < record->mapping_count; i++)
        if (record->mappings[i].image == image && record->mappings[i].executed) return true;
    return false;
}

ntr_status ntr_capture_mapped_change(struct ntr_capture_record *record, uint32_t number, uint64_t address,
                                     uint64_t position, uint64_t *first, uint64_t *end) {
    struct ntr_capture_mapping *m = mapping_of(record, number);

    *first = m ? m->start : address;
    *end = m ? m->end : address + 1;
    for (size_t i = 0; i < record->mapping_count; i++) {
        struct ntr_capture_mapping *other = &record->mappings[i];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is an array when its count is not 0 */
        if (other == m || !other->current) continue;
        if (!(m ? overlap(other, m) : contains(other, address))) continue;
        other->current = false;
        other->ended = position;
        if (!end_name(record, other, position)) return NTR_E_MEMORY;
        if (other->start < *first) *first = other->start;
        if (other->end > *end) *end = other->end;
        if (other->image != SIZE_MAX && position) {
            record->images[other->image].options.until = position;
            for (size_t k = 0; k < record->mapping_count; k++) /* of the other segments of the file, too */
                if (record->mappings[k].image == other->image && &record->mappings[k] != other)
                    record->mappings[k].image = SIZE_MAX, record->mappings[k].current = false;
        }
        other->image = SIZE_MAX;
    }
    if (!m) return NTR_OK;
    if (m->copy != SIZE_MAX) {
        TRY(add_image(record, m->copy, m->bias, position, &m->image));
        if (!is_executed(record, m->image)) record->images[m->image].options.from = position;
    }
    m->current = m->executed = true;
    m->from = position;
    return NTR_OK;
}
