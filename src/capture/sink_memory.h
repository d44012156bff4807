/* System memory for RAM sinks in SMEM mode: as much of the address space as is written to. */
#ifndef CLI_RUN_MEMORY_H
#define CLI_RUN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_memory_page;

struct run_memory {
    struct run_memory_page **pages; /* by address */
    size_t count, capacity;
};

void run_memory_release(struct run_memory *memory);

/* False: out of memory. */
bool run_memory_write(struct run_memory *memory, uint64_t address, const uint8_t *bytes, size_t size);

/* What was never written is 0. */
void run_memory_read(const struct run_memory *memory, uint64_t address, uint8_t *out, size_t size);

#endif
