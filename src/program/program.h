/* Private part of ntr_program: images, their segments, and a map of the address space. */
#ifndef NTR_PROGRAM_PROGRAM_H
#define NTR_PROGRAM_PROGRAM_H

#include "base/bytes.h"
#include "base/damage.h"
#include "program/file.h"
#include "program/rules.h"
#include "program/spans.h"
#include "program/symbols.h"
#include "program/unknown.h"

#include <ntrace/limits.h>
#include <ntrace/program.h>
#include <ntrace/program_files.h>

/* ---- Which images a search by address has to consider: files by the range of their addresses, and images that have
 * only names. Bundles of programs that generate code have tens of thousands of images, nearly all of them fragments of
 * code without a file; no search visits them one by one. */

/* The files that contain an address, as a linked list from the newest to the oldest. */
typedef struct ntr_image_layer {
    uint32_t image;
    uint32_t below; /* NTR_SPANS_NONE: no other */
} ntr_image_layer;

typedef struct ntr_image_map {
    ntr_spans files; /* value: index of the top layer */
    ntr_image_layer *layers;
    size_t layer_count, layer_capacity;
    uint32_t *names; /* images without code but with symbols, in the order of addition */
    size_t name_count, name_capacity;
} ntr_image_map;

/* Adds image number `index`: a file with code at [first, last], or an image that has only names. `everywhere`: it is
 * used in every context, always. Return 0, or -1 when out of memory. */
int ntr_image_map_add_file(ntr_image_map *map, const ntr_allocator *allocator, uint64_t first, uint64_t last,
                           bool everywhere, uint32_t index);
int ntr_image_map_add_names(ntr_image_map *map, const ntr_allocator *allocator, uint32_t index);

void ntr_image_map_release(ntr_image_map *map, const ntr_allocator *allocator);

/* Maximum instruction length. See ntr_insn_length. */
#define NTR_INSN_BYTES_MAX 22

/* Zcmt: at most 256 entries of XLEN bits. EXEC.IT: 1024 instructions of 32 bits. */
#define NTR_JUMP_TABLE_BYTES 4096

/* An ELF file or raw bytes, with the options given when it was added. */
typedef struct ntr_image {
    ntr_image_options options; /* `name` points to `name` below */
    char *name, *path;
    void *mapping;             /* memory-mapped ELF file, or NULL */
    size_t mapping_size;
    bool shared; /* the mapping is that of an earlier image */
    ntr_file_mark mark; /* of the mapped file, when it was added */
    uint8_t *copy;             /* copy of raw bytes, or NULL */
    ntr_context context;       /* one in which it is visible */
    uint64_t low, last;        /* lowest and highest address of the segments */
    uint64_t bss_first, bss_last; /* memory without bytes in the file (.bss), which data symbols name; both 0: none */
    bool has_segments;
    bool has_isa, has_jvt;
    bool is_patch; /* bytes that patch a file: its names stay */
    bool generated;    /* names of code that is generated at run time, and may be elsewhere later */
    uint8_t file_bits; /* of addresses in the ELF file: 32 or 64 */
    unsigned isa;
    uint64_t jvt;
    ntr_bytes go_table; /* .gopclntab, see program/go_table.h; no bytes: it has none */
    ntr_symbols symbols;
} ntr_image;

/* Bytes at [first, last], valid for stream offsets from <= offset < until (until 0: no end). */
typedef struct ntr_segment {
    uint64_t first, last;
    const uint8_t *bytes;
    uint64_t from, until;
    uint32_t image;
} ntr_segment;

/* Layers: the segments that overlap at an address, as a linked list from top to bottom. A span of the map has the index
 * of its top layer. When a layer is not visible to the given context and position, the one below is used. Layers are
 * immutable, so that spans share the lower parts of their lists.
 *
 * Code that is rewritten repeatedly results in thousands of layers. `jump` therefore refers to a layer further down
 * (skew-binary jump pointers). Invariant: all layers from this one to `jump`, exclusive, become valid at or after
 * `earliest`; they are skipped when the position is lower. NTR_SPANS_NONE: no layer below. */
typedef struct ntr_layer {
    uint32_t segment;
    uint32_t below, jump;
    uint32_t depth; /* number of layers from here to the bottom */
    uint64_t earliest; /* the least `from` of the layers from this one down to, but without, `jump` */
} ntr_layer;

struct ntr_program {
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator;
    ntr_image *images;
    size_t image_count, image_capacity;
    ntr_segment *segments; /* in the order of addition */
    size_t segment_count, segment_capacity;
    ntr_layer *layers;
    size_t layer_count, layer_capacity;
    ntr_spans map;
    ntr_image_map image_map;
    ntr_read_memory read;
    void *read_user;
    uint64_t revision; /* number of changes */
    uint64_t code_revision; /* number of changes that may affect code anywhere */
    size_t tables; /* number of images with a jump table */
    unsigned xlen; /* 0: not known yet */
    bool no_names; /* names of ELF files are not read */
    bool recorded; /* an image has no file: its code may lie over that of files */
    bool timed; /* an image has a `from` or an `until` */
    bool has_isa;
    unsigned isa; /* ISA of code outside ELF files; valid with has_isa */
    ntr_rule *rules; /* ntr_program_add_instructions */
    size_t rule_count, rule_capacity;
    ntr_unknown *unknown; /* not a part of what a program is: what decoders found in it */
    char error[512];
    ntr_limits limits;
    ntr_damage damage;
};

/* A run of bytes visible to one context at one position. */
typedef struct ntr_code_window {
    uint64_t first;
    const uint8_t *bytes;
    uint64_t size;
    uint32_t image;
} ntr_code_window;

/* Stores the longest run of bytes of one segment around the address that is visible at `place`. It may be used as long
 * as context and position do not change. Returns false when there is no code. (NTR_API: libntrace-tools uses this,
 * ntr_image_matches and ntr_image_is_visible.) */
NTR_API bool ntr_program_window(const ntr_program *program, ntr_place place, ntr_code_window *window);

NTR_API bool ntr_image_matches(const ntr_image *image, const ntr_context *context);
NTR_API bool ntr_image_is_visible(const ntr_image *image, ntr_place place);
unsigned ntr_image_isa(const ntr_program *program, const ntr_image *image);

/* Stores the symbol of the next image from *index on whose name is `file`, and the index after it. NTR_END: no more. */
NTR_API ntr_status ntr_program_find_in(const ntr_program *program, const char *file, const char *name, size_t *index,
                                       ntr_symbol *symbol);

/* Returns the first bytes of an instruction, at most 8, as a number; bytes that the program does not have are 0. */
static inline uint64_t ntr_program_bits(const ntr_program *program, ntr_place place, size_t size) {
    uint8_t bytes[8] = {0};
    size = ntr_program_read(program, place, bytes, size < sizeof bytes ? size : sizeof bytes);
    return ntr_little(bytes, size);
}

static inline uint64_t ntr_program_cut(const ntr_program *program, uint64_t address) {
    return program->xlen == 32 ? (uint32_t)address : address;
}

/* Returns an array, by the number of an image: the first image that is the same file at the same place. A program that
 * executes itself again has two images of its file. NULL when out of memory. (NTR_API: libntrace-tools uses it.) */
NTR_API uint32_t *ntr_program_first_images(const ntr_program *program, const ntr_allocator *allocator);

/* Names the code of the image that was added last, raw bytes: a function of this address and size. Errors:
 * NTR_E_MEMORY. (NTR_API: libntrace-tools uses it.) */
NTR_API ntr_status ntr_program_name_image(ntr_program *program, const char *name, uint64_t address, uint64_t size);

/* The image that was added last, raw bytes, patches a file, which names it. (NTR_API: libntrace-tools uses it.) */
NTR_API void ntr_program_patches(ntr_program *program);

/* Returns name number `number` of an image; NULL: it has no more. (NTR_API: libntrace-tools uses it.) */
NTR_API const char *ntr_program_name_of(const ntr_program *program, size_t index, size_t number);

/* The same as ntr_program_insn, with a window (NULL: it is searched). */
ntr_status ntr_program_decode(const ntr_program *program, ntr_place place, const ntr_code_window *window,
                              ntr_insn *insn);

/* Returns whether the class of the instruction at `place` is known: by its ISA or by a line of
 * ntr_program_add_instructions. `window` as above. */
bool ntr_program_is_known(const ntr_program *program, ntr_place place, const ntr_code_window *window);

/* Limits [*first, *last] to the addresses around `place` for which ntr_program_symbol and ntr_program_image_at have the
 * same result. (NTR_API: libntrace-tools uses it.) */
NTR_API void ntr_program_limit_names(const ntr_program *program, ntr_place place, uint64_t *first, uint64_t *last);

/* Stores the load bias of the file that names the code at `place`. Returns false when no file does, or when it names
 * code that is generated at run time. (NTR_API: libntrace-tools uses it.) */
NTR_API bool ntr_program_file_bias(const ntr_program *program, ntr_place place, uint64_t *bias);

/* ---- for the readers of image formats */

/* Sets the error text "PATH: ..." and returns `status`. */
ntr_status ntr_program_fail(ntr_program *program, ntr_status status, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Starts an image. It is the last element of program->images until the next call. `path` may be NULL.
 * Errors: NTR_E_INVALID, NTR_E_MEMORY. */
ntr_status ntr_program_add_image(ntr_program *program, const char *path, const ntr_image_options *options);

/* The last image, a file, has all its segments and symbols: searches by address find it. Errors: NTR_E_MEMORY. */
ntr_status ntr_program_complete_image(ntr_program *program);

/* Removes the image that was started. No segment of it may have been added. */
void ntr_program_drop_image(ntr_program *program);

/* Sets the address of the jump table of the last image. */
void ntr_program_set_table(ntr_program *program, uint64_t jvt);

/* The same for the table of EXEC.IT, whose encodings the image then has. */
void ntr_program_set_exec_table(ntr_program *program, uint64_t address);

/* Sets the XLEN; 0: not known. */
void ntr_program_set_xlen(ntr_program *program, unsigned xlen);

/* The last image has code of this XLEN: it becomes that of the program. Errors: `reason`, when the program has another
 * one. */
ntr_status ntr_program_take_xlen(ntr_program *program, ntr_status reason);

/* Adds bytes of the last image to the map. They must stay valid as long as the image. Bytes past the end of the address
 * space wrap around to its beginning. */
ntr_status ntr_program_add_segment(ntr_program *program, uint64_t address, const uint8_t *bytes, uint64_t size,
                                   uint64_t from, uint64_t until);

/* Maps a file into memory for reading; see file.h. Errors: NTR_E_IO, NTR_E_FORMAT (empty). */
ntr_status ntr_program_map_file(ntr_program *program, const char *path, void **mapping, size_t *size);

/* Adds an image that owns a mapping of its file. *image is valid until the next image is added. Errors: those of
 * ntr_program_map_file and ntr_program_add_image. */
ntr_status ntr_program_add_mapped(ntr_program *program, const char *path, const ntr_image_options *options,
                                  ntr_image **image);

#endif
