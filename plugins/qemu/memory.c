/* Reading memory at addresses that may be wrong. In user mode the guest's memory is part of QEMU's. */
#include "state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

bool memory_read_host(uint64_t address, void *to, size_t size) {
    struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool memory_read_guest(uint64_t address, void *to, size_t size) {
    return memory_read_host(channel->head.guest_base + address, to, size);
}

/* Read piece by piece, because the page behind its end may not exist. */
char *memory_read_string(uint64_t address) {
    enum { STRING_PIECE = 256, STRING_MAX = 1 << 20 };
    size_t size = 0, capacity = 0;
    char *text = NULL;

    for (;;) {
        size_t piece = STRING_PIECE - (size_t)((address + size) & (STRING_PIECE - 1));
        if (size + piece > capacity) {
            char *larger = realloc(text, capacity = 2 * capacity + 2 * STRING_PIECE);
            if (!larger) break;
            text = larger;
        }
        if (!memory_read_guest(address + size, text + size, piece)) break;
        if (memchr(text + size, 0, piece)) return text;
        size += piece;
        if (size > STRING_MAX) break;
    }
    free(text);
    return NULL;
}
