#include "bundle/files.h"

#include <ntrace/bundle.h>
#include "base/allocator.h"
#include "program/build_id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

ntr_status ntr_bundle_build_id(const char *path, char *text, size_t size) {
    char *found;
    const ntr_status status = ntr_build_id_of(NULL, path, &found);
    if (size) snprintf(text, size, "%s", found ? found : "");
    ntr_dealloc(NULL, found);
    return status;
}

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

static void remove_entry(int folder, const char *name, int depth);

static void remove_entries(int folder, int depth) {
    DIR *entries = fdopendir(folder);
    if (!entries) {
        close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_entry(dirfd(entries), entry->d_name, depth);
    }
    closedir(entries);
}

static void remove_entry(int folder, const char *name, int depth) {
    if (unlinkat(folder, name, 0) == 0 || depth == 0) return;
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0) return;
    remove_entries(inner, depth - 1);
    unlinkat(folder, name, AT_REMOVEDIR);
}

void ntr_bundle_remove(const char *folder) {
    remove_entry(AT_FDCWD, folder, 2);
}

bool ntr_write_all(int file, const void *data, size_t size) {
    const char *at = data;

    while (size) {
        ssize_t n = write(file, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}
