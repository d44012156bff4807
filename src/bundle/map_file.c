#include "bundle/map_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static ntr_status map(ntr_bundle *bundle, const char *path, int file, ntr_bytes *bytes) {
    struct stat about = {0};

    if (fstat(file, &about)) return ntr_bundle_fail_errno(bundle, path);
    if (about.st_size <= 0) return NTR_OK;
    void *mapping = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping == MAP_FAILED) return ntr_bundle_fail_errno(bundle, path);
    *bytes = (ntr_bytes){mapping, (size_t)about.st_size};
    return NTR_OK;
}

ntr_status ntr_bundle_map(ntr_bundle *bundle, const char *path, ntr_bytes *bytes) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *bytes = (ntr_bytes){0};
    if (file < 0) return ntr_bundle_fail_errno(bundle, path);
    ntr_status status = map(bundle, path, file, bytes);
    close(file);
    return status;
}

void ntr_bundle_unmap(ntr_bytes bytes) {
    if (bytes.data) munmap((void *)(uintptr_t)bytes.data, bytes.size);
}
