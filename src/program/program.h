/* The inside of an ntr_program: images, their segments, and one map of the address space over all of them. */
#ifndef NTR_PROGRAM_PROGRAM_H
#define NTR_PROGRAM_PROGRAM_H

#include "program/spans.h"
#include "program/symbols.h"

#include <ntrace/program.h>

/* No instruction is longer; see ntr_insn_length. */
#define NTR_INSN_BYTES_MAX 22

/* Zcmt: at most 256 entries of XLEN bits. */
#define NTR_JUMP_TABLE_BYTES 2048

/* A file or a run of raw bytes, with what was told when it was added. */
typedef struct ntr_image {
    ntr_image_options options; /* `name` points to `name` below */
    char *name, *path;
    void *mapping;             /* ELF file mapped, or NULL */
    size_t mapping_size;
    uint8_t *copy;             /* raw bytes owned, or NULL */
    uint64_t low, last;        /* hull of the segments */
    bool has_segments;
    bool has_isa, has_jvt;
    unsigned isa;
    uint64_t jvt;
    ntr_symbols symbols;
} ntr_image;

/* Bytes at [first, last] that hold from stream offset `from` on, before `until` (0: no end). */
typedef struct ntr_segment {
    uint64_t first, last;
    const uint8_t *bytes;
    uint64_t from, until;
    uint32_t image;
} ntr_segment;

/* A segment on top of others. The map's spans hold the index of their top layer; a layer that is not visible
 * to who is looking gives the word to the one below. Layers are never changed, so tails are shared.
 * Code that is rewritten again and again piles up thousands of layers; `jump` leads further down (skew-binary
 * jump pointers), past layers that all come into being after `earliest`. NTR_SPANS_NONE: nothing below. */
typedef struct ntr_layer {
    uint32_t segment;
    uint32_t below, jump;
    uint32_t depth;    /* layers from here down */
    uint64_t earliest; /* the least `from` of the layers from this one down to, but without, `jump` */
} ntr_layer;

struct ntr_program {
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator;
    ntr_image *images;
    size_t image_count, image_capacity;
    ntr_segment *segments; /* in the order of adding */
    size_t segment_count, segment_capacity;
    ntr_layer *layers;
    size_t layer_count, layer_capacity;
    ntr_spans map;
    ntr_read_memory read;
    void *read_user;
    uint64_t revision;     /* counts every change */
    uint64_t remade;       /* counts the changes that may alter code anywhere */
    size_t tables;         /* images with a jump table */
    unsigned xlen;         /* 0: not known yet */
    bool has_isa;
    unsigned isa;          /* of code outside ELF files, when has_isa */
    char error[512];
};

/* A run of bytes that one looker sees at one time. */
typedef struct ntr_code_window {
    uint64_t first;
    const uint8_t *bytes;
    uint64_t size;
    uint32_t image;
} ntr_code_window;

/* The longest run of bytes of one segment around `address`, as `context` sees it at `position`. The caller may
 * keep it as long as it looks from the same place. */
bool ntr_program_window(const ntr_program *program, const ntr_context *context, uint64_t position, uint64_t address,
                        ntr_code_window *window);

bool ntr_image_matches(const ntr_image *image, const ntr_context *context);
unsigned ntr_image_isa(const ntr_program *program, const ntr_image *image);

static inline uint64_t ntr_program_cut(const ntr_program *program, uint64_t address) {
    return program->xlen == 32 ? (uint32_t)address : address;
}

/* ntr_program_insn inside a window (NULL: look for it). */
ntr_status ntr_program_decode(const ntr_program *program, const ntr_context *context, uint64_t position,
                              const ntr_code_window *window, uint64_t address, ntr_insn *insn);

/* For the readers of image formats. */

/* Keep one line of explanation, "PATH: ...", and return `status`. */
ntr_status ntr_program_fail(ntr_program *program, ntr_status status, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Start an image. It is the last of program->images until the next call; `path` may be NULL.
 * Errors: NTR_E_INVALID, NTR_E_MEMORY. */
ntr_status ntr_program_add_image(ntr_program *program, const char *path, const ntr_image_options *options);

/* Give up the image just started. Nothing may have been laid into the map. */
void ntr_program_drop_image(ntr_program *program);

/* Where the jump table of the last image lies. */
void ntr_program_set_table(ntr_program *program, uint64_t jvt);

/* 0: not known (any more). */
void ntr_program_set_xlen(ntr_program *program, unsigned xlen);

/* Lay bytes of the last image over the map; they must live as long as it does. Where the address space ends
 * inside, they go on at its beginning. */
ntr_status ntr_program_add_segment(ntr_program *program, uint64_t address, const uint8_t *bytes, uint64_t size,
                                   uint64_t from, uint64_t until);

/* A whole file, mapped into memory for reading. Errors: NTR_E_IO, NTR_E_FORMAT (empty). */
ntr_status ntr_program_map_file(ntr_program *program, const char *path, void **mapping, size_t *size);
void ntr_program_unmap_file(void *mapping, size_t size);

#endif
