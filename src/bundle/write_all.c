#include "bundle/write_all.h"

#include <errno.h>
#include <unistd.h>

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
