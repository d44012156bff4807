#include "program/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static ntr_status fail(const char **reason, ntr_status status, const char *text) {
    *reason = text;
    return status;
}

static ntr_status map(int file, void **mapping, size_t *size, const char **reason) {
    struct stat about = {0};
    if (fstat(file, &about)) return fail(reason, NTR_E_IO, strerror(errno));
    if (!S_ISREG(about.st_mode)) return fail(reason, NTR_E_IO, "not a regular file");
    if (about.st_size == 0) return fail(reason, NTR_E_FORMAT, "empty file");
    *size = (size_t)about.st_size;
    *mapping = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    if (*mapping == MAP_FAILED) return fail(reason, NTR_E_IO, strerror(errno));
    return NTR_OK;
}

ntr_status ntr_file_map(const char *path, void **mapping, size_t *size, const char **reason) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: do not block on a FIFO */
    if (file < 0) return fail(reason, NTR_E_IO, strerror(errno));
    ntr_status status = map(file, mapping, size, reason);
    close(file);
    return status;
}

void ntr_file_unmap(void *mapping, size_t size) {
    if (mapping) munmap(mapping, size);
}

bool ntr_file_mark_get(const char *path, ntr_file_mark *mark) {
    struct stat about = {0};
    if (stat(path, &about) != 0) return false;
    *mark = (ntr_file_mark){about.st_dev, about.st_ino, (uint64_t)about.st_size, about.st_mtim.tv_sec,
                            about.st_mtim.tv_nsec};
    return true;
}
