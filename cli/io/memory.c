#include "io/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool allocation_failed;

static void *resize(void *user, void *block, size_t size) {
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    void *larger = realloc(block, size);
    if (!larger) allocation_failed = true;
    return larger;
}

const ntr_allocator cli_memory = {.resize = resize};

bool cli_memory_short(void) {
    return allocation_failed;
}
