#include "program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static ntr_status map(ntr_program *program, const char *path, int file, void **mapping, size_t *size) {
    struct stat about = {0};
    if (fstat(file, &about)) return ntr_program_fail(program, NTR_E_IO, path, "%s", strerror(errno));
    if (!S_ISREG(about.st_mode)) return ntr_program_fail(program, NTR_E_IO, path, "not a regular file");
    if (about.st_size == 0) return ntr_program_fail(program, NTR_E_FORMAT, path, "empty file");
    *size = (size_t)about.st_size;
    *mapping = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    if (*mapping == MAP_FAILED) return ntr_program_fail(program, NTR_E_IO, path, "%s", strerror(errno));
    return NTR_OK;
}

ntr_status ntr_program_map_file(ntr_program *program, const char *path, void **mapping, size_t *size) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: do not block on a FIFO */
    if (file < 0) return ntr_program_fail(program, NTR_E_IO, path, "%s", strerror(errno));
    ntr_status status = map(program, path, file, mapping, size);
    close(file);
    return status;
}

void ntr_program_unmap_file(void *mapping, size_t size) {
    if (mapping) munmap(mapping, size);
}
