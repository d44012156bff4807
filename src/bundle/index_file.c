/* The file of an index (docs/bundle.md, "index"). It is replaced by a rename, so that a reader never sees a part of it.
 */
#include "base/bytes.h"
#include "base/allocator.h"
#include "bundle/index_text.h"
#include "bundle/files.h"
#include "dialect/params.h"

#include <ntrace/bundle.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLE = 4096 }; /* bytes */

/* ---- the stream that an index is of */

static uint64_t hash_params(const ntr_params *params) {
    uint64_t value = NTR_HASH_START;
    char text[64];

    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        if (!(NTR_PARAMETERS_OF_MESSAGES >> p & 1) || p == NTR_PARAMETER_XLEN) continue;
        ntr_params_get(params, ntr_parameter_name(p), text, sizeof text);
        value = ntr_hash(value, text, strlen(text) + 1);
    }
    return value;
}

/* Of the first, middle and last bytes. */
static ntr_status hash_samples(int file, size_t size, uint64_t *value) {
    const size_t sample = size < SAMPLE ? size : SAMPLE, last = size - sample, begins[] = {0, last / 2, last};
    uint8_t bytes[SAMPLE];

    *value = NTR_HASH_START;
    for (unsigned i = 0; i < 3; i++) {
        const ssize_t got = pread(file, bytes, sample, (off_t)begins[i]);
        if (got < 0) return NTR_E_IO;
        *value = ntr_hash(*value, bytes, (size_t)got);
    }
    return NTR_OK;
}

static ntr_status describe(const char *stream, const ntr_params *params, struct ntr_indexed *indexed) {
    struct stat about;

    if (stat(stream, &about) != 0) return NTR_E_IO;
    errno = EINVAL;
    if (!S_ISREG(about.st_mode)) return NTR_E_IO; /* the writer of a pipe would see that it is opened */
    const int file = open(stream, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return NTR_E_IO;
    *indexed = (struct ntr_indexed){.size = (uint64_t)about.st_size, .params = hash_params(params)};
    const ntr_status status = hash_samples(file, (size_t)about.st_size, &indexed->samples);
    close(file);
    return status;
}

static bool is_older(const char *file, const char *than) {
    struct stat a, b;
    return stat(file, &a) != 0 || stat(than, &b) != 0 || a.st_mtime < b.st_mtime;
}

/* ---- */

ntr_status ntr_index_read(const char *path, const char *stream, const ntr_params *params,
                          const ntr_allocator *allocator, ntr_index **index) {
    struct ntr_indexed indexed;
    ntr_bytes text;

    *index = NULL;
    if (describe(stream, params, &indexed) != NTR_OK || ntr_map_file(path, &text) != NTR_OK) return NTR_E_IO;
    ntr_index *read;
    ntr_index_new(params, 0, allocator, &read);
    ntr_status status = read ? ntr_index_text_read(text, &indexed, read) : NTR_E_MEMORY;
    if (status == NTR_OK && is_older(path, stream)) status = NTR_E_INVALID;
    ntr_unmap_file(text);
    if (status == NTR_OK)
        *index = read;
    else
        ntr_index_free(read);
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

ntr_status ntr_index_write(const ntr_index *index, const char *path, const char *stream, const ntr_params *params,
                           const ntr_allocator *allocator) {
    const size_t room = strlen(path) + 48;
    struct ntr_indexed indexed;
    struct timespec now;
    size_t length;

    if (describe(stream, params, &indexed) != NTR_OK) return NTR_E_IO;
    char *temporary = ntr_alloc(allocator, room, 1), *text = NULL;
    ntr_status status = temporary ? ntr_index_text_write(index, &indexed, allocator, &text, &length) : NTR_E_MEMORY;
    if (status == NTR_OK) {
        clock_gettime(CLOCK_REALTIME, &now); /* processes on several machines may have the same number */
        snprintf(temporary, room, "%s.%ld.%ld", path, (long)getpid(), now.tv_nsec);
        status = write_text(path, temporary, text, length);
    }
    ntr_dealloc(allocator, text);
    ntr_dealloc(allocator, temporary);
    return status;
}
