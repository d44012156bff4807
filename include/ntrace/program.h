/* Program: the images that a trace ran through, by address and by context.
 *
 * N-Trace 1.0 section 14 (inputs of a decoder). A program only grows: images are added, then decoders
 * read it. Adding while a decoder uses it is allowed between two calls into that decoder. */
#ifndef NTRACE_PROGRAM_H
#define NTRACE_PROGRAM_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/context.h>
#include <ntrace/isa.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_program ntr_program;

/* What an image is bound to. Zero-filled with `size` set: everywhere, always, at its own addresses. */
typedef struct ntr_image_options {
    size_t size;             /* sizeof(ntr_image_options) */
    uint64_t bias;           /* added to the file's addresses (PIE, shared libraries); for raw images: the address */
    bool has_scontext, has_hcontext, has_prv;
    uint8_t prv, v;
    uint64_t scontext, hcontext;
    uint64_t from, until;    /* valid from this stream offset (inclusive) until that one (exclusive); until 0: no end */
    const char *name;        /* shown to people; NULL: the path */
    bool has_isa, has_jvt;   /* raw images: tell what an ELF file says itself */
    unsigned isa;            /* NTR_ISA_* set; its XLEN must be the program's */
    uint64_t jvt;            /* where the jump table of CM.JT and CM.JALT lies (`__jvt_base$`), bias included */
} ntr_image_options;

/* A position for those who do not care when: images match whatever they are bound to in time. */
#define NTR_POSITION_ANY UINT64_MAX

/* Errors: NULL when out of memory. `allocator` is copied; it may be NULL. */
NTR_API ntr_program *ntr_program_new(const ntr_allocator *allocator);
NTR_API void ntr_program_free(ntr_program *program);

/* Add the loadable segments, symbols and ISA attributes of an ELF file. Images added later win where two
 * overlap in the same context; inside a file the later segment does. The file is mapped: it must not change
 * while the program lives. `options` NULL: everywhere, always, at its own addresses.
 * Errors: NTR_E_IO, NTR_E_FORMAT (not ELF, not RISC-V, damaged, other XLEN than the program's), NTR_E_INVALID
 * (options), NTR_E_MEMORY; ntr_program_error tells the details. */
NTR_API ntr_status ntr_program_add_elf(ntr_program *program, const char *path, const ntr_image_options *options);

/* Add plain bytes at options->bias. The bytes are copied. Errors: NTR_E_INVALID (no bytes, options),
 * NTR_E_RANGE (does not fit into the address space), NTR_E_MEMORY. */
NTR_API ntr_status ntr_program_add_raw(ntr_program *program, ntr_bytes bytes, const ntr_image_options *options);

/* Add the names of code made at run time from Linux's perf-PID.map ("START SIZE NAME" a line, both numbers
 * hexadecimal); where two overlap, the later line wins. They name addresses that no image has a symbol for. Of
 * `options`, times are not used. A last line that is cut off is left out: its process died.
 * Errors: NTR_E_IO, NTR_E_FORMAT (another line that is none), NTR_E_INVALID, NTR_E_MEMORY. */
NTR_API ntr_status ntr_program_add_perf_map(ntr_program *program, const char *path, const ntr_image_options *options);

/* Where the stream was (byte offset) at a time of CLOCK_MONOTONIC in nanoseconds. */
typedef uint64_t (*ntr_position_of_time)(void *user, uint64_t time);

/* Add code made at run time, and its names, from a jitdump file (jit-PID.dump). Code is valid from where `when`
 * says the stream was when it was loaded or moved, until other code is loaded over it; without `when` (NULL) the
 * last code at an address is taken to have been there always. A file that ends inside a record is taken as far
 * as it goes.
 * Errors: NTR_E_IO, NTR_E_FORMAT (not a jitdump, not RISC-V, a damaged record), NTR_E_INVALID, NTR_E_MEMORY. */
NTR_API ntr_status ntr_program_add_jitdump(ntr_program *program, const char *path, const ntr_image_options *options,
                                           ntr_position_of_time when, void *user);

/* Read up to `size` bytes of target memory at `address`; returns how many there were. */
typedef size_t (*ntr_read_memory)(void *user, const ntr_context *context, uint64_t position, uint64_t address,
                                  uint8_t *out, size_t size);

/* Ask `read` where no image has the bytes; NULL: nobody. What it told is kept by those who cache code until
 * this is called again (with the same arguments if need be). `read` may be called from every thread that
 * reads the program. */
NTR_API ntr_status ntr_program_set_reader(ntr_program *program, ntr_read_memory read, void *user);

/* What code outside ELF files is (raw images without `has_isa`, memory from a reader): a set of NTR_ISA_*.
 * Without this call it is plain RV32 or RV64 as the ELF files say. Errors: NTR_E_INVALID when the XLEN is not
 * that of the images. */
NTR_API ntr_status ntr_program_set_isa(ntr_program *program, unsigned isa);

/* One line about the last failure of an add, e.g. "hello: not a RISC-V ELF (machine 62)". */
NTR_API const char *ntr_program_error(const ntr_program *program);

/* One image as it was added. Strings are owned by the program. */
typedef struct ntr_image_info {
    const char *name;
    const char *path; /* of the ELF file; NULL for raw images */
    uint64_t bias;
    uint64_t low, high; /* lowest address and the one after the highest, bias included; both 0: only names */
    ntr_image_options options;
} ntr_image_info;

/* The index-th image in the order of adding. Errors: NTR_END past the last. */
NTR_API ntr_status ntr_program_image(const ntr_program *program, size_t index, ntr_image_info *info);

/* Index of the image whose bytes `context` sees at `address` at `position`. Errors: NTR_END. */
NTR_API ntr_status ntr_program_image_at(const ntr_program *program, const ntr_context *context, uint64_t position,
                                        uint64_t address, size_t *index);

/* 32 or 64 as the images say; 0 while there is none that says it. */
NTR_API unsigned ntr_program_xlen(const ntr_program *program);

/* The NTR_ISA_* set that holds at this address (the image's attributes, else the program's XLEN). */
NTR_API unsigned ntr_program_isa(const ntr_program *program, const ntr_context *context, uint64_t address);

/* Copy up to `size` bytes of code at `address`, as `context` sees it when the decoder is at `position` in
 * the stream. Returns how many there are (0: no image). `context` NULL matches every image. */
NTR_API size_t ntr_program_read(const ntr_program *program, const ntr_context *context, uint64_t position,
                                uint64_t address, uint8_t *out, size_t size);

/* Decode the instruction at `address`. Table jumps are resolved through the jump table of the image that holds
 * them (`__jvt_base$`), else of the newest image that has one. Errors: NTR_E_NO_IMAGE (also when the jump table
 * is missing; `insn` is filled then but for its target). */
NTR_API ntr_status ntr_program_insn(const ntr_program *program, const ntr_context *context, uint64_t position,
                                    uint64_t address, ntr_insn *insn);

typedef struct ntr_symbol {
    const char *name;  /* owned by the program */
    const char *image; /* name of the image it is from; owned by the program */
    uint64_t address;  /* where it starts, bias included */
    uint64_t size;     /* 0: not told */
    bool function;
} ntr_symbol;

/* The symbol that covers `address`: the innermost function, else the innermost other symbol with a size, else
 * the nearest one below in the same section. Of several with the same start: functions before others, global
 * before weak before local, then the longest, then by name. Errors: NTR_END when there is none. */
NTR_API ntr_status ntr_program_symbol(const ntr_program *program, const ntr_context *context, uint64_t address,
                                      ntr_symbol *symbol);

/* The symbol of this name, in the image added last that has one; inside an image, functions and global symbols
 * first. Errors: NTR_END. */
NTR_API ntr_status ntr_program_find(const ntr_program *program, const char *name, ntr_symbol *symbol);

#ifdef __cplusplus
}
#endif
#endif
