#include "capture/record.h"
#include "base/allocator.h"
#include "capture/elf.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    ntr_program_free(record->program);
    *record = (struct ntr_capture_record){.allocator = record->allocator};
}

/* ---- ELF files ----------------------------------------------------------------------------------------------------
 */

static bool has_elf(const struct ntr_capture_record *record, const char *path, uint64_t bias) {
    for (size_t i = record->first; i < record->image_count; i++) {
        const ntr_image_options *options = &record->images[i].options;
        if (options->name && options->bias == bias && strcmp(options->name, path) == 0) return true;
    }
    return false;
}

/* The copy of the file that an earlier program or another mapping has in the bundle, or NULL. */
static const ntr_bundle_image *find_copy(const struct ntr_capture_record *record, const char *path) {
    for (size_t i = 0; i < record->image_count; i++) {
        const ntr_bundle_image *image = &record->images[i];
        if (image->options.name && strcmp(image->options.name, path) == 0) return image;
    }
    return NULL;
}

const char *ntr_capture_record_text(struct ntr_capture_record *record, const char *path) {
    size_t size = strlen(path) + 1;
    char *text = ntr_alloc(record->allocator, size, 1);

    if (text) memcpy(text, path, size);
    return ntr_capture_record_keep(record, text);
}

/* A file that can no longer be read, or that is damaged, is left out: its code bytes are recorded instead. */
static ntr_status add_elf(struct ntr_capture_record *record, const char *path, uint64_t bias) {
    ntr_image_options options = {.size = sizeof options, .bias = bias};

    if (has_elf(record, path, bias)) return NTR_OK;
    if (ntr_program_add_elf(record->program, path, &options) != NTR_OK) return NTR_OK;
    const ntr_bundle_image *copy = find_copy(record, path);
    ntr_bundle_image image = {.file = copy ? copy->file : NULL, .build_id = copy ? copy->build_id : NULL};
    ntr_status status = copy ? NTR_OK : ntr_bundle_copy(record->bundle, path, &image);
    if (status != NTR_OK) return ntr_capture_record_fail(record, status);
    options.from = record->from;
    options.name = ntr_capture_record_text(record, path);
    ntr_bundle_image *added = options.name ? ntr_capture_record_image(record) : NULL;
    if (!added) return ntr_capture_fail_memory(record->reason);
    *added = image;
    added->options = options;
    return NTR_OK;
}

ntr_status ntr_capture_record_elf(struct ntr_capture_record *record, const char *path, uint64_t bias) {
    struct ntr_capture_elf elf;
    return ntr_capture_elf_read(path, &elf) && elf.is_riscv ? add_elf(record, path, bias) : NTR_OK;
}

/* "START LENGTH OFFSET PATH", hexadecimal. */
static ntr_status add_mapping(struct ntr_capture_record *record, const char *line) {
    struct ntr_capture_elf elf;
    uint64_t first, bias;
    char *at;
    uint64_t start = strtoull(line, &at, 16);

    strtoull(at, &at, 16);
    uint64_t offset = strtoull(at, &at, 16);
    const char *path = *at == ' ' ? at + 1 : at;
    if (!ntr_capture_elf_read(path, &elf) || !elf.is_riscv) return NTR_OK;
    if (!ntr_capture_elf_bias(&elf, start, offset, 0, &first)) return NTR_OK;
    /* Several segments of a small file can lie in one page of it. Then this is one more mapping of a file that was
     * found before. */
    for (unsigned i = 1; ntr_capture_elf_bias(&elf, start, offset, i, &bias); i++)
        if (has_elf(record, path, bias)) return NTR_OK;
    return add_elf(record, path, first);
}

ntr_status ntr_capture_record_files(struct ntr_capture_record *record, const char *lines, size_t size) {
    ntr_status status = NTR_OK;

    for (const char *end = lines + size, *stop; lines < end && status == NTR_OK; lines = stop + 1) {
        char line[PATH_MAX + 64];
        stop = memchr(lines, '\n', (size_t)(end - lines));
        if (!stop) break;
        int n = snprintf(line, sizeof line, "%.*s", (int)(stop - lines), lines);
        if (n > 0 && (size_t)n < sizeof line) status = add_mapping(record, line);
    }
    return status;
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
