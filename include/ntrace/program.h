/* Program: the images that were executed, by address and context (N-Trace 1.0 section 14, inputs of a decoder).
 *
 * Images are only added, never removed. Any number of threads may read a program. Adding an image is allowed between
 * calls of the decoders that use the program, not during one. */
#ifndef NTRACE_PROGRAM_H
#define NTRACE_PROGRAM_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/context.h>
#include <ntrace/isa.h>
#include <ntrace/limits.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_program ntr_program;

/* When an image is visible. A zeroed struct with `size` set: in all contexts, always, at the addresses of the file. */
typedef struct ntr_image_options {
    size_t size;             /* sizeof(ntr_image_options) */
    uint64_t bias;           /* added to the addresses of the file (PIE, shared libraries); raw image: its address */
    bool has_scontext, has_hcontext, has_prv;
    uint8_t prv, v;
    uint64_t scontext, hcontext;
    uint64_t from, until;    /* valid for stream offsets from <= offset < until; until 0: no end */
    const char *name;        /* name of the image in output; NULL: the path */
    bool has_isa, has_jvt;   /* `isa`, `jvt` are valid; otherwise those of the ELF file count */
    unsigned isa; /* set of NTR_ISA_*; its XLEN: as the program's, or the image is bound to a context or mode */
    uint64_t jvt; /* address of the jump table of CM.JT and CM.JALT (`__jvt_base$`), bias included */
    bool has_segment;        /* `segment` is valid */
    uint32_t segment; /* ELF file: program header (from 0) whose bytes are used where several overlap (overlays) */
    uint64_t reserved[7]; /* must be 0; for later members */
} ntr_image_options;

NTR_DEFINE_CONFIG_INIT(ntr_image_options)

/* The stream offsets from <= offset <= last at which a range of addresses has the same code and the same names. */
typedef struct ntr_validity {
    uint64_t from, last;
} ntr_validity;

/* Makes an empty program. `allocator` is copied; NULL means malloc and free. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_program_new(const ntr_allocator *allocator, ntr_program **out);
NTR_API void ntr_program_free(ntr_program *program);

/* Sets the limits of names and of debug information, for the files that are added from now on and for everything that
 * reads the debug information of this program later. They are copied. */
NTR_API void ntr_program_set_limits(ntr_program *program, const ntr_limits *limits);

/* Adds the loadable segments, symbols and ISA attributes of an ELF file. Where images overlap in a context, the one
 * added last is visible; inside a file, options->segment, or else the later segment, with a text of
 * ntr_program_damage. The file is memory-mapped and must not change until
 * ntr_program_free. `options` may be NULL.
 * Errors: NTR_E_IO, NTR_E_FORMAT (not ELF, not RISC-V, damaged, XLEN differs from that of the program), NTR_E_INVALID
 * (options), NTR_E_MEMORY, NTR_E_UNSUPPORTED (built without libelf). ntr_program_error describes the error. */
NTR_API ntr_status ntr_program_add_elf(ntr_program *program, const char *path, const ntr_image_options *options);

/* Adds only the names of a file, for code that comes from elsewhere: an ELF file, the text of /proc/kallsyms or of a
 * System.map, or a Linux kernel that is not compressed (Image, vmlinux, a dump of memory), whose tables of symbols are
 * found inside. options->bias is added to all addresses. The names are used for addresses without a symbol in any other
 * image. A symbol of kallsyms has no size; it extends to the next one.
 * Errors: NTR_E_IO, NTR_E_FORMAT (none of these; no symbol; all addresses are 0), NTR_E_INVALID, NTR_E_MEMORY,
 * NTR_E_UNSUPPORTED (an ELF file, and built without libelf). */
NTR_API ntr_status ntr_program_add_symbols(ntr_program *program, const char *path, const ntr_image_options *options);

/* Adds plain bytes at the address options->bias. The bytes are copied.
 * Errors: NTR_E_INVALID (no bytes, options), NTR_E_RANGE (exceeds the address space), NTR_E_MEMORY. */
NTR_API ntr_status ntr_program_add_raw(ntr_program *program, ntr_bytes bytes, const ntr_image_options *options);

/* Reads up to `size` bytes of target memory at `address`. Returns the number of bytes that are available. */
typedef size_t (*ntr_read_memory)(void *user, const ntr_context *context, uint64_t position, uint64_t address,
                                  uint8_t *out, size_t size);

/* Sets a function that reads memory where no image has bytes; NULL removes it. Decoders cache code read in this way
 * until this function is called again, with the same arguments if nothing else changes. `read` may be called from every
 * thread that reads the program. Returns NTR_OK. */
NTR_API ntr_status ntr_program_set_reader(ntr_program *program, ntr_read_memory read, void *user);

/* Sets the ISA of code outside ELF files (raw images without `has_isa`, memory from `read`): a set of NTR_ISA_*. The
 * default is RV32 or RV64, as in the ELF files, whose code also has these extensions. Errors: NTR_E_INVALID when the
 * XLEN is not that of the images. */
NTR_API ntr_status ntr_program_set_isa(ntr_program *program, unsigned isa);

/* Returns a description of the last error of an add function, for example "hello: not a RISC-V ELF (machine 62)". */
NTR_API const char *ntr_program_error(const ntr_program *program);

/* An image of a program. Strings are owned by the program. */
typedef struct ntr_image_info {
    const char *name;
    const char *path; /* path of the ELF file; NULL for raw images */
    uint64_t bias;
    uint64_t low, high; /* lowest address, and highest address + 1, bias included; both 0: only names */
    ntr_image_options options;
    uint64_t reserved[4]; /* must be 0; for later members */
} ntr_image_info;

/* Stores a description of the image number `index`, in the order of addition. Returns NTR_END when `index` is past the
 * last one. */
NTR_API ntr_status ntr_program_image(const ntr_program *program, size_t index, ntr_image_info *info);

/* Stores the number of the image that names the code at `place`: the file added last that is visible there and whose
 * addresses, from the lowest to the highest, include the address; otherwise the raw image that has the code. A raw
 * image over a file names its code if it has a name of its own, or if most of its bytes in that function differ from
 * those of the file. Returns NTR_END when there is none. The time is logarithmic in the number of images. */
NTR_API ntr_status ntr_program_image_at(const ntr_program *program, ntr_place place, size_t *index);

/* Returns the place of an address at the first stream offset and in the context at which image number `index` is
 * visible. The context is owned by the program. `index` must be that of an image. */
NTR_API ntr_place ntr_program_image_place(const ntr_program *program, size_t index, uint64_t address);

/* Returns the stream offsets around place.position at which the addresses from place.address to `last` have the same
 * code and names in place.context. A place whose position is `from` of the result has the same meaning as `place`. */
NTR_API ntr_validity ntr_program_validity(const ntr_program *program, ntr_place place, uint64_t last);

/* Returns 32 or 64, or 0 when no image has defined it yet. */
NTR_API unsigned ntr_program_xlen(const ntr_program *program);

/* Returns the set of NTR_ISA_* for code at `place`: from the attributes of the image, otherwise from the XLEN of the
 * program. */
NTR_API unsigned ntr_program_isa(const ntr_program *program, ntr_place place);

/* Copies up to `size` bytes of code at `place`. Returns the number of bytes; 0 when there is no image. */
NTR_API size_t ntr_program_read(const ntr_program *program, ntr_place place, uint8_t *out, size_t size);

/* Decodes the instruction at `place`. Table jumps are resolved with the jump table of the image that contains them
 * (`__jvt_base$`), otherwise with that of the image added last that has one. Errors: NTR_E_NO_IMAGE; NTR_E_UNDECIDED;
 * NTR_E_JUMP_TABLE (the table is missing; all of `insn` except the target is then valid). */
NTR_API ntr_status ntr_program_insn(const ntr_program *program, ntr_place place, ntr_insn *insn);

typedef struct ntr_symbol {
    const char *name; /* owned by the program */
    const char *image; /* name of its image; owned by the program */
    uint64_t address; /* start address, bias included */
    uint64_t size; /* 0: not known */
    bool function;
    uint64_t number; /* of its image: ntr_program_image_place gives the place of an address of the symbol */
    uint64_t reserved[1]; /* must be 0; for later members */
} ntr_symbol;

/* Stores the symbol for `place`: the innermost function that contains it, otherwise the innermost other symbol with a
 * size, otherwise the nearest preceding symbol without size, if no other symbol and no boundary of a section or of a
 * function of the unwind table (.eh_frame) is between them. Entries of the procedure linkage table have the name
 * "FUNCTION@plt". Of several symbols with the same start: functions
 * before others, global before weak before local, then the longest, then by name. A raw image over a file has the
 * symbols of the file. Returns NTR_END when there is none. */
NTR_API ntr_status ntr_program_symbol(const ntr_program *program, ntr_place place, ntr_symbol *symbol);

/* Code of an ELF file that has no symbol. */
typedef struct ntr_code_range {
    const char *image; /* name of the image; owned by the program */
    const char *file_name; /* the part of `image` after the last '/' */
    uint64_t bias;
    uint64_t address; /* start address, bias included */
    uint64_t size;
    bool function; /* one function of the unwind table; false: code between functions */
    uint64_t reserved[4]; /* must be 0; for later members */
} ntr_code_range;

/* Stores the range around `place`, for which ntr_program_symbol has no symbol. Such code is usually named by file and
 * address in the file, "libc.so.6+0x27f10" (file_name, address - bias). Returns NTR_END when there is a symbol or no
 * ELF file. */
NTR_API ntr_status ntr_program_code_range(const ntr_program *program, ntr_place place, ntr_code_range *range);

/* Stores the symbol with this name, of the image added last that has one; inside an image, functions and global symbols
 * are preferred. Returns NTR_END when there is none. */
NTR_API ntr_status ntr_program_find(const ntr_program *program, const char *name, ntr_symbol *symbol);

#ifdef __cplusplus
}
#endif
#endif
