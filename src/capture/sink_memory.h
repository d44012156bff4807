/* System memory for RAM sinks in SMEM mode: a sparse 64-bit address space. Pages exist once they are written to. */
#ifndef NTR_CAPTURE_SINK_MEMORY_H
#define NTR_CAPTURE_SINK_MEMORY_H

#include <ntrace/allocator.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ntr_capture_page;

struct ntr_capture_memory { /* all zero but for `allocator`: empty */
    const ntr_allocator *allocator;
    struct ntr_capture_page **pages; /* sorted by address */
    size_t count, capacity;
};

void ntr_capture_memory_release(struct ntr_capture_memory *memory);

/* Returns false when out of memory. */
bool ntr_capture_memory_write(struct ntr_capture_memory *memory, uint64_t address, const uint8_t *bytes, size_t size);

/* Bytes that were never written read as 0. */
void ntr_capture_memory_read(const struct ntr_capture_memory *memory, uint64_t address, uint8_t *out, size_t size);

#endif
