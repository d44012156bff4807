/* What the server tells of the ELF files: where they are loaded, which bytes of them cannot change. */
#ifndef NTR_GDB_IMAGES_H
#define NTR_GDB_IMAGES_H

#include <ntrace/program.h>

typedef struct ntr_gdb_range {
    uint64_t low, high; /* [low, high) */
} ntr_gdb_range;

typedef struct ntr_gdb_image {
    char *path;         /* absolute */
    uint64_t bias, entry, dynamic; /* bias not included; dynamic 0: none */
    uint64_t headers;   /* address of the program headers */
    uint16_t header_count, header_size;
    uint32_t flags;     /* e_flags */
    uint64_t text;      /* lowest address of a segment */
} ntr_gdb_image;

typedef struct ntr_gdb_images {
    const ntr_allocator *allocator;
    ntr_gdb_image *items; /* each file once; the main file first */
    size_t count, capacity;
    bool linux_program; /* a program of GNU/Linux, by its interpreter or its ABI note */
    ntr_gdb_range *writable; /* addresses of writable segments */
    size_t writable_count, writable_capacity;
} ntr_gdb_images;

/* Reads the headers of all ELF files of the program. Files that cannot be read are left out. Errors: NTR_E_MEMORY. */
ntr_status ntr_gdb_images_load(ntr_gdb_images *images, const ntr_program *program);

/* Returns how many of the `size` bytes at the address are outside of writable segments. */
size_t ntr_gdb_images_constant(const ntr_gdb_images *images, uint64_t address, size_t size);

void ntr_gdb_images_release(ntr_gdb_images *images);

#endif
