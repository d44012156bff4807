/* The file of an index (docs/bundle.md, "index"). It is replaced by a rename, so that a reader never sees a part of it. */
#include "base/allocator.h"
#include "bundle/index_text.h"
#include "bundle/map_file.h"
#include "bundle/write_all.h"

#include <ntrace/bundle.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

ntr_status ntr_index_read(const char *path, const ntr_params *params, uint64_t stream_size, const ntr_allocator *allocator,
                          ntr_index **index) {
    const struct ntr_indexed stream = ntr_indexed_of(stream_size, params);
    ntr_bytes text;

    *index = NULL;
    if (ntr_map_file(path, &text) != NTR_OK) return NTR_E_IO;
    ntr_index *read = ntr_index_new(params, 0, allocator);
    ntr_status status = read ? ntr_index_text_read(text, &stream, read) : NTR_E_MEMORY;
    ntr_unmap_file(text);
    if (status == NTR_OK) *index = read;
    else ntr_index_free(read);
    return status;
}

static ntr_status write_text(const char *path, const char *temporary, const char *text, size_t length) {
    const int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (file < 0) return NTR_E_IO;
    bool good = ntr_write_all(file, text, length);
    good = close(file) == 0 && good;
    if (good && rename(temporary, path) == 0) return NTR_OK;
    unlink(temporary);
    return NTR_E_IO;
}

ntr_status ntr_index_write(const ntr_index *index, const char *path, const ntr_params *params, uint64_t stream_size,
                           const ntr_allocator *allocator) {
    const struct ntr_indexed stream = ntr_indexed_of(stream_size, params);
    const size_t room = strlen(path) + 32;
    char *temporary = ntr_alloc(allocator, room, 1), *text = NULL;
    size_t length;
    ntr_status status = temporary ? ntr_index_text_write(index, &stream, allocator, &text, &length) : NTR_E_MEMORY;

    if (status == NTR_OK) {
        snprintf(temporary, room, "%s.%ld", path, (long)getpid());
        status = write_text(path, temporary, text, length);
    }
    ntr_dealloc(allocator, text);
    ntr_dealloc(allocator, temporary);
    return status;
}
