#include "bundle/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static ntr_status map(int file, ntr_bytes *bytes) {
    struct stat about = {0};

    if (fstat(file, &about)) return NTR_E_IO;
    if (about.st_size <= 0) return NTR_OK;
    void *mapping = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping == MAP_FAILED) return NTR_E_IO;
    *bytes = (ntr_bytes){mapping, (size_t)about.st_size};
    return NTR_OK;
}

ntr_status ntr_map_file(const char *path, ntr_bytes *bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *bytes = (ntr_bytes){0};
    if (file < 0) return NTR_E_IO;
    const ntr_status status = map(file, bytes);
    const int why = errno;
    close(file);
    errno = why;
    return status;
}

void ntr_unmap_file(ntr_bytes bytes) {
    if (bytes.data) munmap((void *)(uintptr_t)bytes.data, bytes.size);
}
