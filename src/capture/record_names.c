/* Names of code that a program has generated while it ran: a perf map (/tmp/perf-PID.map), which is found by its name,
 * and jitdump files (jit-PID.dump), which programs map for execution so that they are found. */
#include "base/allocator.h"
#include "capture/record.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A file that cannot be used is left out: readers would refuse the whole bundle. */
static bool is_usable(const struct ntr_capture_record *record, unsigned kind, const char *path) {
    const ntr_image_options options = {.size = sizeof options};
    ntr_program *program = ntr_program_new(record->allocator);
    struct stat about;

    bool good = program && stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size &&
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
