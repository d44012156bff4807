#include "io/identity.h"
#include "io/debug_files.h"
#include "options/diagnostics.h"

#include <ntrace/program_files.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARE_BLOCK = 4096, HALFWORD_BYTES = 2 };

bool cli_build_id(const char *path, char id[CLI_BUILD_ID_SIZE]) {
    errno = 0;
    const ntr_status status = ntr_bundle_build_id(path, id, CLI_BUILD_ID_SIZE);
    const char *why = status == NTR_E_IO && errno ? strerror(errno)
                      : status == NTR_E_FORMAT    ? "sections or notes are damaged"
                                                  : ntr_status_text(status);
    if (status != NTR_OK && cli_first_time("build id", path))
        cli_doubt("%s: the build id cannot be read: %s", path, why);
    return status == NTR_OK;
}

/* Returns a program of this file alone, or NULL. */
static ntr_program *load(const char *path, const ntr_image_options *options) {
    ntr_program *program = cli_program_new();

    if (!program) return NULL;
    ntr_program_omit_names(program);
    if (ntr_program_add_elf(program, path, options) == NTR_OK) return program;
    ntr_program_free(program);
    return NULL;
}

/* The ELF header and the program headers say where the sections are, which a copy without symbols has elsewhere. */
static void hide_headers(uint8_t *bytes, size_t size) {
    if (size < sizeof(Elf64_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0) return;
    const bool wide = bytes[EI_CLASS] == ELFCLASS64;
    const uint8_t *number = bytes + (wide ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum));
    const size_t each = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), count = number[0] | (size_t)number[1] << 8;
    const size_t headers = (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) + each * count;
    memset(bytes, 0, headers < size ? headers : size);
}

/* Compares the bytes of both programs where both have any from `low` on, below `high`. Where one has zeros, a section
 * may have been removed from a copy: that says nothing. */
static enum cli_identity compare_range(const ntr_program *a, const ntr_program *b, uint64_t low, uint64_t high) {
    static const uint8_t nothing[HALFWORD_BYTES];
    uint8_t left[COMPARE_BLOCK], right[COMPARE_BLOCK];
    enum cli_identity identity = CLI_IDENTITY_SAME;

    for (uint64_t at = low; at < high; at += COMPARE_BLOCK) {
        const size_t size = high - at < COMPARE_BLOCK ? (size_t)(high - at) : COMPARE_BLOCK;
        const ntr_place place = ntr_place_at(NULL, NTR_POSITION_ANY, at);
        const size_t one = ntr_program_read(a, place, left, size), two = ntr_program_read(b, place, right, size);
        hide_headers(left, one);
        hide_headers(right, two);
        for (size_t i = 0; i + HALFWORD_BYTES <= one && i + HALFWORD_BYTES <= two; i += HALFWORD_BYTES) {
            if (memcmp(left + i, right + i, HALFWORD_BYTES) == 0) continue;
            if (memcmp(left + i, nothing, HALFWORD_BYTES) != 0 && memcmp(right + i, nothing, HALFWORD_BYTES) != 0)
                return CLI_IDENTITY_CONTENT;
            identity = CLI_IDENTITY_UNKNOWN;
        }
    }
    return identity;
}

static const char *base(const char *path) {
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Returns whether both are files of one name. Such a file may be given without the address at which it was loaded. */
static bool has_name(const ntr_image_info *image, const ntr_bundle_image *other) {
    const char *name = other->options.name ? other->options.name : other->file;

    return strcmp(base(image->path), base(name)) == 0;
}

static enum cli_identity compare_bytes(const ntr_image_info *image, const char *path, const ntr_bundle_image *other) {
    const bool moved = has_name(image, other) && image->options.bias != other->options.bias;
    ntr_program *own = load(image->path, moved ? &other->options : &image->options);
    ntr_program *truth = load(path, &other->options);
    enum cli_identity identity = CLI_IDENTITY_UNKNOWN;
    ntr_image_info here, there;

    if (own && truth && ntr_program_image(own, 0, &here) == NTR_OK && ntr_program_image(truth, 0, &there) == NTR_OK) {
        const uint64_t low = here.low > there.low ? here.low : there.low;
        const uint64_t high = here.high < there.high ? here.high : there.high;
        if (low < high) identity = compare_range(own, truth, low, high);
    }
    ntr_program_free(own);
    ntr_program_free(truth);
    return identity;
}

static bool overlaps(const ntr_image_info *image, const char *path, const ntr_bundle_image *other) {
    ntr_program *truth = load(path, &other->options);
    ntr_image_info there;
    const bool both =
        truth && ntr_program_image(truth, 0, &there) == NTR_OK && image->low < there.high && there.low < image->high;

    ntr_program_free(truth);
    return both;
}

static enum cli_identity compare(const ntr_image_info *image, const char *folder, const ntr_bundle_image *other) {
    char path[PATH_MAX], id[CLI_BUILD_ID_SIZE];

    if (snprintf(path, sizeof path, "%s/%s", folder, other->file) >= (int)sizeof path) return CLI_IDENTITY_UNKNOWN;
    const bool has_id = other->build_id && cli_build_id(image->path, id) && *id;
    if (has_id && strcmp(id, other->build_id) == 0) return CLI_IDENTITY_SAME;
    if (!has_id) return compare_bytes(image, path, other);
    return has_name(image, other) || overlaps(image, path, other) ? CLI_IDENTITY_BUILD_ID : CLI_IDENTITY_UNKNOWN;
}

/* A file that is any one of the bundle's is the right one. */
enum cli_identity cli_identity_of(const ntr_program *program, size_t index, const ntr_bundle *bundle,
                                  const ntr_bundle_image **truth) {
    const ntr_capture_info *capture = ntr_bundle_capture(bundle);
    enum cli_identity identity = CLI_IDENTITY_UNKNOWN;
    ntr_image_info image;

    *truth = NULL;
    if (ntr_program_image(program, index, &image) != NTR_OK || !image.path || image.low == image.high)
        return CLI_IDENTITY_UNKNOWN;
    for (size_t i = 0; i < capture->image_count; i++) {
        const ntr_bundle_image *other = &capture->images[i];
        if (other->kind != NTR_BUNDLE_ELF) continue;
        const enum cli_identity one = compare(&image, ntr_bundle_folder(bundle), other);
        if (one == CLI_IDENTITY_SAME) return one;
        if (one == CLI_IDENTITY_UNKNOWN || identity != CLI_IDENTITY_UNKNOWN) continue;
        identity = one;
        *truth = other;
    }
    return identity;
}

ntr_bundle *cli_identity_bundle(const char *stream) {
    const char *slash = strrchr(stream, '/');
    char *folder = slash == stream ? strdup("/") : slash ? strndup(stream, (size_t)(slash - stream)) : strdup(".");
    ntr_bundle *bundle = NULL;
    const char *name = slash ? slash + 1 : stream;

    if (folder && ntr_bundle_seen(folder)) ntr_bundle_new(NULL, &bundle);
    if (bundle &&
        (ntr_bundle_open(bundle, folder) != NTR_OK || strcmp(ntr_bundle_capture(bundle)->stream, name) != 0)) {
        ntr_bundle_free(bundle);
        bundle = NULL;
    }
    free(folder);
    return bundle;
}
