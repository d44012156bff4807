#include "partial/identity.h"

#include "base/allocator.h"
#include "bundle/files.h"
#include "program/build_id.h"
#include "partial/blocks.h"
#include "program/program.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 80, BYTES_AT_ONCE = 4096 };

static char *digest_text(const ntr_allocator *allocator, uint64_t low, uint64_t high) {
    char *text = ntr_alloc(allocator, TEXT, 1);
    if (text) snprintf(text, TEXT, "digest:%016" PRIx64 "%016" PRIx64, high, low);
    return text;
}

static ntr_status digest_of_file(const char *path, const ntr_allocator *allocator, char **identity) {
    uint8_t bytes[16 * BYTES_AT_ONCE];
    uint64_t low = 1, high = 2;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    while (file >= 0 && (got = read(file, bytes, sizeof bytes)) > 0) {
        low = ntr_partial_hash(low, bytes, (size_t)got);
        high = ntr_partial_hash(high, bytes, (size_t)got);
    }
    if (file >= 0) close(file);
    if (got < 0) return NTR_E_IO;
    *identity = digest_text(allocator, low, high);
    return *identity ? NTR_OK : NTR_E_MEMORY;
}

static ntr_status of_file(const char *path, const ntr_allocator *allocator, char **identity) {
    char *id;
    const ntr_status status = ntr_build_id_of(allocator, path, &id);
    if (status && status != NTR_E_FORMAT) return status;
    if (id) {
        *identity = ntr_alloc(allocator, strlen(id) + sizeof "build-id:", 1);
        if (*identity) snprintf(*identity, strlen(id) + sizeof "build-id:", "build-id:%s", id);
        ntr_dealloc(allocator, id);
        return *identity ? NTR_OK : NTR_E_MEMORY;
    }
    return digest_of_file(path, allocator, identity);
}

static ntr_status of_bytes(const ntr_program *program, size_t index, const ntr_image_info *info,
                           const ntr_allocator *allocator, char **identity) {
    const ntr_image_options *o = &info->options;
    const ntr_context context = {.scontext = o->scontext,
                                 .hcontext = o->hcontext,
                                 .prv = o->has_prv ? o->prv : NTR_PRV_UNKNOWN,
                                 .v = o->v,
                                 .has_scontext = o->has_scontext,
                                 .has_hcontext = o->has_hcontext};
    uint64_t low = info->low, high = info->high;
    for (uint64_t at = info->low; at < info->high;) {
        uint8_t bytes[BYTES_AT_ONCE];
        const size_t want = info->high - at < sizeof bytes ? (size_t)(info->high - at) : sizeof bytes;
        const size_t got = ntr_program_read(program, ntr_place_at(&context, o->from, at), bytes, want);
        if (!got) break; /* another image is in front of the rest */
        low = ntr_partial_hash(low, bytes, got);
        high = ntr_partial_hash(high, bytes, got);
        at += got;
    }
    const char *name; /* code that was generated again, with the same bytes and another name */
    for (size_t i = 0; (name = ntr_program_name_of(program, index, i)); i++) {
        low = ntr_partial_hash(low, (const uint8_t *)name, strlen(name));
        high = ntr_partial_hash(high, (const uint8_t *)name, strlen(name));
    }
    *identity = digest_text(allocator, low, high);
    return *identity ? NTR_OK : NTR_E_MEMORY;
}

ntr_status ntr_image_identity(const ntr_program *program, size_t index, const ntr_allocator *allocator,
                              char **identity) {
    ntr_image_info info;
    *identity = NULL;
    if (ntr_program_image(program, index, &info) != NTR_OK) return NTR_E_RANGE;
    if (info.low == info.high) return NTR_OK;
    return info.path ? of_file(info.path, allocator, identity) : of_bytes(program, index, &info, allocator, identity);
}
