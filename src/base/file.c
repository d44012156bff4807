#include "base/file.h"

#include "base/allocator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ntr_open_regular(const char *path, uint64_t most, uint64_t *size) {
    struct stat about = {0};
    int file = -1, error = 0;
    if (stat(path, &about) != 0) return -1; /* opening some devices has an effect */
    if (!S_ISREG(about.st_mode)) error = EINVAL;
    if (!error && (file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0) return -1;
    if (!error && fstat(file, &about) != 0) error = errno;
    if (!error && !S_ISREG(about.st_mode)) error = EINVAL; /* it was replaced */
    if (!error && (about.st_size < 0 || (uint64_t)about.st_size > most)) error = EFBIG;
    *size = (uint64_t)about.st_size;
    if (!error) return file;
    if (file >= 0) close(file);
    errno = error;
    return -1;
}

int ntr_open_own(const char *path, uint64_t most, uint64_t *size) {
    struct stat named, about;
    if (lstat(path, &named) != 0) return -1;
    if (!S_ISREG(named.st_mode)) return errno = EINVAL, -1;
    const int file = ntr_open_regular(path, most, size);
    if (file < 0) return -1;
    const bool same = fstat(file, &about) == 0 && about.st_dev == named.st_dev && about.st_ino == named.st_ino;
    if (same && (about.st_uid == geteuid() || about.st_uid == 0)) return file;
    close(file);
    return errno = EPERM, -1;
}

ntr_status ntr_read_regular(const char *path, uint64_t most, const ntr_allocator *allocator, char **text,
                            size_t *size) {
    uint64_t expected;
    size_t done = 0;
    int file = ntr_open_regular(path, most < SIZE_MAX - 1 ? most : SIZE_MAX - 2, &expected);
    if (file < 0) return NTR_E_IO;
    *text = ntr_alloc(allocator, (size_t)expected + 1, 1);
    int error = 0;
    while (*text && done < expected && !error) {
        ssize_t n = read(file, *text + done, (size_t)expected - done);
        if (n == 0) break; /* it has become shorter */
        if (n < 0 && errno != EINTR) error = errno;
        if (n > 0) done += (size_t)n;
    }
    close(file);
    *size = done;
    if (!*text) return NTR_E_MEMORY;
    if (!error) return NTR_OK;
    ntr_dealloc(allocator, *text);
    *text = NULL;
    errno = error;
    return NTR_E_IO;
}

const char *ntr_regular_error(int error) {
    return error == EINVAL ? "not a regular file" : error == EFBIG ? "too large" : strerror(error);
}
