/* The files that a debugger reads names from: where they are loaded, in which contexts, which bytes of them can change.
 */
#ifndef NTR_GDB_IMAGES_H
#define NTR_GDB_IMAGES_H

#include "gdb/symbol_file.h"

#include <ntrace/program.h>

/* Tops of the invented stacks, outside of user images: return places are above, each hart has a stack of its own below.
 */
#define NTR_GDB_STACKS_64 UINT64_C(0x3ffffff000)
#define NTR_GDB_STACKS_32 UINT64_C(0xfffff000)

typedef struct ntr_gdb_range {
    uint64_t low, high; /* [low, high) */
    size_t image; /* of the program */
} ntr_gdb_range;

typedef struct ntr_gdb_ranges {
    ntr_gdb_range *items;
    size_t count, capacity;
} ntr_gdb_ranges;

typedef struct ntr_gdb_image {
    char *path; /* absolute; unique, because a debugger knows a library by its name */
    size_t file; /* the first item of the same file */
    uint64_t bias, entry, dynamic; /* bias not included; dynamic 0: none */
    uint64_t headers; /* address of the program headers */
    uint16_t header_count, header_size;
    uint32_t flags; /* e_flags */
    uint64_t text, end; /* of the segments, [text, end) */
    bool limited; /* only in some contexts, or in a part of the trace */
    bool interpreted; /* it asks for a dynamic linker */
    bool made; /* a symbol file: to be removed */
    bool return_places; /* a symbol file that is not about code */
    ntr_gdb_regions regions; /* of a symbol file */
} ntr_gdb_image;

/* An image of the program, and its file. */
typedef struct ntr_gdb_place {
    size_t image, item;
} ntr_gdb_place;

typedef struct ntr_gdb_images {
    const ntr_allocator *allocator;
    const ntr_program *program;
    const char *folder; /* for symbol files; NULL: none are made */
    ntr_gdb_image *items; /* each file at each address once */
    size_t count, capacity;
    size_t main; /* the main file, which is there always; as `count`, when there is none */
    ntr_gdb_place *places;
    size_t place_count, place_capacity;
    uint64_t return_places; /* address of the first one; 0: there are none */
    bool linux_program; /* a program of GNU/Linux, by its interpreter or its ABI note */
    ntr_gdb_ranges writable; /* segments */
    ntr_gdb_ranges constant; /* sections in segments of code and variables */
} ntr_gdb_images;

/* Reads the headers of all ELF files of images->program, and makes symbol files. Files that cannot be read are left
 * out. Errors: NTR_E_MEMORY. */
ntr_status ntr_gdb_images_load(ntr_gdb_images *images);

/* Returns whether the file is in the address space of the place, in any privilege mode. */
bool ntr_gdb_image_visible(const ntr_gdb_images *images, size_t item, ntr_place place);

/* Returns whether the code at the place is described by a symbol file. */
bool ntr_gdb_images_made(const ntr_gdb_images *images, ntr_place place);

bool ntr_gdb_is_return_place(const ntr_gdb_images *images, uint64_t address);

/* Returns how many of the `size` bytes at the address, which this image has, cannot be written: they are outside of its
 * writable segments, or in one section that is not writable. */
size_t ntr_gdb_images_constant(const ntr_gdb_images *images, size_t image, uint64_t address, size_t size);

void ntr_gdb_images_release(ntr_gdb_images *images);

#endif
