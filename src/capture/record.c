#include "capture/record.h"
#include "base/file.h"
#include "base/allocator.h"

#include <ntrace/program_files.h>
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
    ntr_program *program;
    ntr_program_new(record->allocator, &program);
    struct stat about;
    uint64_t size = 0;
    const int file = ntr_open_own(path, NAMES_MAX, &size);

    bool good = program && file >= 0 && size > 0 && fstat(file, &about) == 0 && about.st_mtime >= record->begun;
    if (file >= 0) close(file);
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

/* Is it known which code has which name (generated.h)? */
static bool has_placed_names(const struct ntr_capture_record *record) {
    for (size_t i = 0; i < record->mapping_count; i++)
        if (record->mappings[i].name && record->mappings[i].executed) return true;
    return false;
}

ntr_status ntr_capture_record_names(struct ntr_capture_record *record, const char *lines, size_t size, int pid) {
    char path[PATH_MAX], last[PATH_MAX] = "";

    if (has_placed_names(record)) return NTR_OK;

    snprintf(path, sizeof path, "/tmp/perf-%d.map", pid);
    ntr_status status = pid ? add_names(record, NTR_BUNDLE_PERF_MAP, path) : NTR_OK;
    for (const char *end = lines + size, *stop; lines < end && status == NTR_OK; lines = stop + 1) {
        stop = memchr(lines, '\n', (size_t)(end - lines));
        if (!stop) break;
        if (!is_jitdump(lines, (size_t)(stop - lines), path) || strcmp(path, last) == 0) continue;
        memcpy(last, path, sizeof last);
        status = add_names(record, NTR_BUNDLE_JITDUMP, path);
    }
    return status;
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
    ntr_dealloc(record->allocator, record->lines);
    ntr_dealloc(record->allocator, record->named);
    ntr_dealloc(record->allocator, record->generated);
    ntr_dealloc(record->allocator, record->generated_entries);
    record->generated = NULL;
    record->generated_entries = NULL;
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
    record->mapping_count = record->line_count = record->named_count = 0;
    record->maps_read = 0;
    ntr_dealloc(record->allocator, record->generated);
    ntr_dealloc(record->allocator, record->generated_entries);
    record->generated = NULL;
    record->generated_entries = NULL;
    ntr_program_free(record->program);
    ntr_program_new(record->allocator, &record->program);
    return record->program ? NTR_OK : ntr_capture_fail_memory(record->reason);
}

void ntr_capture_record_positions(struct ntr_capture_record *record, void (*visit)(void *user, uint64_t *position),
                                  void *user) {
    visit(user, &record->from);
    for (size_t i = 0; i < record->mapping_count; i++) {
        visit(user, &record->mappings[i].from);
        visit(user, &record->mappings[i].ended);
    }
    for (size_t i = 0; i < record->named_count; i++) {
        visit(user, &record->named[i].from);
        visit(user, &record->named[i].until);
    }
    for (size_t i = 0; i < record->image_count; i++) {
        visit(user, &record->images[i].options.from);
        visit(user, &record->images[i].options.until);
    }
}
