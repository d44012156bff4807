#include "capture/record.h"
#include "base/allocator.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Names of code that a program has generated while it ran: a perf map (/tmp/perf-PID.map), which is found by its
 * name, and jitdump files (jit-PID.dump), which programs map for execution so that they are found. */

/* Larger files are not read. */
enum { NAMES_MAX = 1 << 30 };

/* A file that cannot be used is left out: readers would refuse the whole bundle. */
static bool is_usable(const struct ntr_capture_record *record, unsigned kind, const char *path) {
    const ntr_image_options options = {.size = sizeof options};
    ntr_program *program = ntr_program_new(record->allocator);
    struct stat about;

    /* The names of these files can be guessed in a folder that everybody may write to: as perf does, only files of this
     * user or of root, and no links. */
    bool good = program && lstat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
                about.st_size <= NAMES_MAX && (about.st_uid == geteuid() || about.st_uid == 0) &&
                about.st_mtime >= record->begun;
    if (good && kind == NTR_BUNDLE_PERF_MAP)
        good = ntr_program_add_perf_map(program, path, &options) == NTR_OK;
    else if (good)
        good = ntr_program_add_jitdump_names(program, path, &options) == NTR_OK;
    ntr_program_free(program);
    return good;
}

static ntr_status add_names(struct ntr_capture_record *record, unsigned kind, const char *path) {
    ntr_bundle_image image = {.kind = (uint8_t)kind, .options.size = sizeof image.options};

    if (!is_usable(record, kind, path)) return NTR_OK;
    ntr_status status = ntr_bundle_copy(record->bundle, path, &image);
    if (status != NTR_OK) return ntr_capture_record_fail(record, status);
    image.options.from = record->from;
    image.options.name = ntr_capture_record_text(record, path);
    ntr_bundle_image *added = image.options.name ? ntr_capture_record_image(record) : NULL;
    if (!added) return ntr_capture_fail_memory(record->reason);
    *added = image;
    return NTR_OK;
}

/* "START LENGTH OFFSET PATH" with a file jit-*.dump */
static bool is_jitdump(const char *line, size_t length, char path[PATH_MAX]) {
    static const char begin[] = "/jit-", end[] = ".dump";
    const char *at = memchr(line, '/', length);
    int n = at ? snprintf(path, PATH_MAX, "%.*s", (int)(line + length - at), at) : 0;

    if (n <= 0 || n >= PATH_MAX) return false;
    const char *name = strrchr(path, '/'), *dot = strrchr(path, '.');
    return strncmp(name, begin, strlen(begin)) == 0 && dot && strcmp(dot, end) == 0;
}

ntr_status ntr_capture_record_names(struct ntr_capture_record *record, const char *lines, size_t size, int pid) {
    char path[PATH_MAX], last[PATH_MAX] = "";

    snprintf(path, sizeof path, "/tmp/perf-%d.map", pid);
    ntr_status status = add_names(record, NTR_BUNDLE_PERF_MAP, path);
    for (const char *end = lines + size, *stop; lines < end && status == NTR_OK; lines = stop + 1) {
        stop = memchr(lines, '\n', (size_t)(end - lines));
        if (!stop) break;
        if (!is_jitdump(lines, (size_t)(stop - lines), path) || strcmp(path, last) == 0) continue;
        memcpy(last, path, sizeof last);
        status = add_names(record, NTR_BUNDLE_JITDUMP, path);
    }
    return status;
}

#define PART_FILE "images/part-%u"

enum { GAP = 255 }; /* bytes between ranges that are joined: less than code.c makes a new version of */

/* The file of code bytes that is being written. */
struct code_file {
    struct ntr_capture_record *record;
    const struct ntr_capture_code *code;
    const char *name; /* in the bundle */
    ntr_program *files;
    FILE *file;
    char path[PATH_MAX];
    uint64_t size;
    ntr_bundle_image *last; /* the image that may still grow; NULL: none */
    uint32_t space; /* of the last image */
};

/* The ELF files of the program that runs, each for its part of the stream. */
static ntr_program *files_of(const struct ntr_capture_record *record) {
    ntr_program *files = ntr_program_new(record->allocator);
    char path[PATH_MAX];

    if (!files) return NULL;
    ntr_program_omit_names(files);
    for (size_t i = record->first; i < record->image_count; i++) {
        const ntr_bundle_image *image = &record->images[i];
        if (image->kind != NTR_BUNDLE_ELF) continue;
        snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(record->bundle), image->file);
        ntr_program_add_elf(files, path, &image->options); /* a damaged file holds nothing */
    }
    return files;
}

/* Where a range becomes valid: not before its program began. */
static uint64_t begin_of(const struct code_file *out, const struct ntr_capture_code_range *range) {
    return range->from > out->record->from ? range->from : out->record->from;
}

/* Do the ELF files hold the same bytes? */
static bool is_in_files(const struct code_file *out, const struct ntr_capture_code_range *range) {
    const uint8_t *bytes = out->code->bytes + range->place;
    uint8_t there[4096];

    for (uint64_t at = 0; at < range->length;) {
        size_t want = range->length - at < sizeof there ? (size_t)(range->length - at) : sizeof there;
        size_t n =
            ntr_program_read(out->files, ntr_place_at(NULL, begin_of(out, range), range->address + at), there, want);
        if (n == 0 || memcmp(there, bytes + at, n) != 0) return false;
        at += n;
    }
    return true;
}

/* Are the bytes from `address` on unknown, so that zeros hide nothing? */
static bool is_free(const struct code_file *out, uint64_t position, uint64_t address, uint64_t length) {
    uint8_t byte;
    for (uint64_t at = 0; at < length; at++) {
        if (ntr_program_read(out->files, ntr_place_at(NULL, position, address + at), &byte, 1)) return false;
    }
    return true;
}

static bool write_bytes(struct code_file *out, const uint8_t *bytes, uint64_t length) {
    out->size += length;
    return fwrite(bytes, 1, (size_t)length, out->file) == length;
}

/* Does the range continue the last image? *gap becomes the number of unknown bytes between them. */
static bool continues(const struct code_file *out, const struct ntr_capture_code_range *range, uint64_t *gap) {
    const ntr_bundle_image *last = out->last;

    if (!last || out->space != range->space || last->options.from != begin_of(out, range) ||
        last->options.until != range->until)
        return false;
    uint64_t end = last->options.bias + last->length;
    *gap = range->address - end;
    return range->address >= end && *gap <= GAP && is_free(out, last->options.from, end, *gap);
}

static ntr_status begin_image(struct code_file *out, const struct ntr_capture_code_range *range) {
    ntr_bundle_image *image = out->last = ntr_capture_record_image(out->record);

    if (!image) return ntr_capture_fail_memory(out->record->reason);
    image->kind = NTR_BUNDLE_RAW;
    image->file = out->name;
    image->offset = out->size;
    image->options.bias = range->address;
    image->options.from = begin_of(out, range);
    image->options.until = range->until;
    image->options.has_isa = true;
    image->options.isa = (out->record->xlen == 32 ? NTR_ISA_RV32 : 0) | out->record->isa;
    out->space = range->space;
    if (!range->space) return NTR_OK;
    const struct ntr_capture_space *space = &out->code->spaces[range->space - 1];
    image->options.has_prv = space->has_prv;
    image->options.prv = space->prv;
    image->options.v = space->v;
    image->options.has_scontext = space->has_context;
    image->options.scontext = space->context;
    return NTR_OK;
}

static ntr_status add_range(struct code_file *out, const struct ntr_capture_code_range *range) {
    static const uint8_t zeros[GAP];
    uint64_t gap = 0;

    if (!continues(out, range, &gap)) {
        gap = 0;
        ntr_status status = begin_image(out, range);
        if (status != NTR_OK) return status;
    }
    if (!write_bytes(out, zeros, gap) || !write_bytes(out, out->code->bytes + range->place, range->length))
        return ntr_capture_fail_errno(out->record->reason, out->path);
    out->last->length += gap + range->length;
    return NTR_OK;
}

static int by_validity_and_address(const void *a, const void *b) {
    const struct ntr_capture_code_range *x = *(const struct ntr_capture_code_range *const *)a,
                                        *y = *(const struct ntr_capture_code_range *const *)b;
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->until != y->until) return x->until < y->until ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

/* The ranges in the order in which they can be joined. The caller frees the array; NULL: out of memory. */
static const struct ntr_capture_code_range **sorted(const struct ntr_capture_record *record,
                                                    const struct ntr_capture_code *code) {
    const struct ntr_capture_code_range **ranges =
        ntr_alloc(record->allocator, code->range_count ? code->range_count : 1, sizeof *ranges);

    if (!ranges) return NULL;
    for (size_t i = 0; i < code->range_count; i++) ranges[i] = &code->ranges[i];
    if (code->range_count) qsort(ranges, code->range_count, sizeof(*ranges), by_validity_and_address);
    return ranges;
}

static ntr_status add_ranges(struct code_file *out) {
    const struct ntr_capture_code_range **ranges = sorted(out->record, out->code);
    ntr_status status = NTR_OK;

    if (!ranges) return ntr_capture_fail_memory(out->record->reason);
    for (size_t i = 0; i < out->code->range_count && status == NTR_OK; i++)
        if (!is_in_files(out, ranges[i])) status = add_range(out, ranges[i]);
    ntr_dealloc(out->record->allocator, ranges);
    return status;
}

static const char *code_name(struct ntr_capture_record *record) {
    enum { ROOM = 32 };
    char *name = ntr_alloc(record->allocator, ROOM, 1);

    if (name && record->partial)
        snprintf(name, ROOM, PART_FILE, ++record->part);
    else if (name)
        snprintf(name, ROOM, record->programs ? "images/code-%u" : "images/code", record->programs + 1);
    return ntr_capture_record_keep(record, name);
}

ntr_status ntr_capture_record_code(struct ntr_capture_record *record, const struct ntr_capture_code *code) {
    struct code_file out = {.record = record, .code = code, .name = code_name(record)};

    if (!out.name || !(out.files = files_of(record))) return ntr_capture_fail_memory(record->reason);
    snprintf(out.path, sizeof out.path, "%s/%s", ntr_bundle_folder(record->bundle), out.name);
    out.file = fopen(out.path, "we");
    if (!out.file) {
        ntr_program_free(out.files);
        return ntr_capture_fail_errno(record->reason, out.path);
    }
    ntr_status status = add_ranges(&out);
    ntr_program_free(out.files);
    if (fclose(out.file) && status == NTR_OK) status = ntr_capture_fail_errno(record->reason, out.path);
    if (status == NTR_OK && !out.size) unlink(out.path);
    return status;
}

void ntr_capture_record_drop_part(const struct ntr_capture_record *record, unsigned part) {
    char path[PATH_MAX];

    if (!part) return;
    snprintf(path, sizeof path, "%s/" PART_FILE, ntr_bundle_folder(record->bundle), part);
    unlink(path);
}

ntr_status ntr_capture_record_fail(const struct ntr_capture_record *record, ntr_status status) {
    return ntr_capture_fail(record->reason, status, "%s", ntr_bundle_error(record->bundle));
}

ntr_bundle_image *ntr_capture_record_image(struct ntr_capture_record *record) {
    if (ntr_reserve(record->allocator, (void **)&record->images, &record->image_capacity, record->image_count + 1,
                    sizeof *record->images))
        return NULL;
    ntr_bundle_image *image = &record->images[record->image_count++];
    *image = (ntr_bundle_image){.options.size = sizeof image->options};
    return image;
}

const char *ntr_capture_record_keep(struct ntr_capture_record *record, char *text) {
    if (text && ntr_reserve(record->allocator, (void **)&record->names, &record->name_capacity, record->name_count + 1,
                            sizeof *record->names) == 0)
        return record->names[record->name_count++] = text;
    ntr_dealloc(record->allocator, text);
    return NULL;
}

void ntr_capture_record_release(struct ntr_capture_record *record) {
    for (size_t i = 0; i < record->name_count; i++) ntr_dealloc(record->allocator, record->names[i]);
    ntr_dealloc(record->allocator, record->names);
    ntr_dealloc(record->allocator, record->images);
    ntr_dealloc(record->allocator, record->copies);
    ntr_dealloc(record->allocator, record->mappings);
    ntr_program_free(record->program);
    *record = (struct ntr_capture_record){.allocator = record->allocator};
}

const char *ntr_capture_record_text(struct ntr_capture_record *record, const char *path) {
    size_t size = strlen(path) + 1;
    char *text = ntr_alloc(record->allocator, size, 1);

    if (text) memcpy(text, path, size);
    return ntr_capture_record_keep(record, text);
}

/* ---- execve -------------------------------------------------------------------------------------------------------
 */

ntr_status ntr_capture_record_next(struct ntr_capture_record *record, uint64_t until) {
    for (size_t i = record->first; i < record->image_count; i++) {
        ntr_image_options *options = &record->images[i].options;
        if (!options->until) options->until = until;
    }
    record->first = record->image_count;
    record->from = until;
    record->programs++;
    record->mapping_count = 0;
    record->maps_read = 0;
    ntr_program_free(record->program);
    record->program = ntr_program_new(record->allocator);
    return record->program ? NTR_OK : ntr_capture_fail_memory(record->reason);
}

void ntr_capture_record_positions(struct ntr_capture_record *record, void (*visit)(void *user, uint64_t *position),
                                  void *user) {
    visit(user, &record->from);
    for (size_t i = 0; i < record->image_count; i++) {
        visit(user, &record->images[i].options.from);
        visit(user, &record->images[i].options.until);
    }
}
