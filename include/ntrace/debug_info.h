/* Debug information: maps addresses to functions, source lines and inlined frames.
 *
 * DWARF is read with libdw from the files of the images or from separate debug files, found by build ID or
 * .gnu_debuglink. They are searched in given folders (ntr_debug_info_set_path), beside the file at the path that is the
 * name of the image, in usr/lib/debug of each folder above it (a sysroot), and in /usr/lib/debug. If the environment
 * variable DEBUGINFOD_URLS is set, libdw asks its servers afterwards. Without DWARF the symbol table is used. Data is
 * loaded on first use and kept, so that a lookup is a few binary searches. ntr_debug_info_frames and
 * ntr_debug_info_function may be called for one object by several threads at once; everything else by one thread at a
 * time, while no other one uses the object. */
#ifndef NTRACE_DEBUG_INFO_H
#define NTRACE_DEBUG_INFO_H

#include <ntrace/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_debug_info ntr_debug_info;

/* One frame at an address. Strings are valid as long as the ntr_debug_info. */
typedef struct ntr_frame {
    const char *function; /* demangled name, or FILE+0xADDRESS of code without a symbol; NULL when nothing is known */
    const char *linkage; /* linkage name, or equal to `function`; NULL: the code is not known to be one function */
    const char *file; /* NULL: not known */
    const char *declared_in; /* file of the function's declaration; NULL: not known */
    const char *image; /* image of the address */
    uint32_t line, column; /* of the address in this frame; for a caller, of the call; 0: not known */
    uint32_t discriminator; /* DWARF line-table discriminator */
    uint32_t declared_line; /* line of the function's declaration; 0: not known */
    uint64_t entry; /* entry address of the function or of this inlined copy */
    uint64_t size; /* bytes from `entry` to the end of its contiguous range; 0: not known */
    bool inlined; /* inlined into the next frame */
    bool inlined_somewhere; /* the compiler has inlined the function at one place at least (DW_AT_inline) */
    bool never_returns; /* of a function that is not inlined: it never returns to its caller (DW_AT_noreturn) */
    bool returns_value; /* of a function: its declaration has a type (DW_AT_type) */
    bool artificial; /* the source does not have the function (DW_AT_artificial) */
    bool part; /* the compiler has split this code off the function: the function is not entered here */
    uint64_t reserved[4]; /* must be 0; for later members */
} ntr_frame;

/* Maximum number of frames of one address. Deeper chains of inlined functions are truncated. */
#define NTR_FRAMES_MAX 64

/* Makes an object. `program` must outlive it. When memory runs out later, names and lines are missing from the
 * results; a caller that passes an allocator sees the failed allocation there. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_debug_info_new(const ntr_program *program, const ntr_allocator *allocator, ntr_debug_info **out);
NTR_API void ntr_debug_info_free(ntr_debug_info *debug);

/* Sets the folders in which separate debug files are searched first: colon-separated, for example
 * "debug:/opt/debug". Folders that do not exist are ignored. The string must outlive the object. */
NTR_API void ntr_debug_info_set_path(ntr_debug_info *debug, const char *path);

/* Adds to image number `index` of the program the symbols of its separate debug file and of .gnu_debugdata, if its file
 * has no symbol table (.symtab). `debug_path` as for ntr_debug_info_set_path; it, and `allocator`, may be NULL. Stores
 * whether the image has symbols now, other than dynamic ones. Call it for each image before decoding. Returns NTR_END
 * when `index` is past the last image. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_debug_symbols_add(ntr_program *program, size_t index, const char *debug_path,
                                         const ntr_allocator *allocator, bool *found);

/* Stores the frames at `place`, innermost first. Returns their number; 0 when no image contains it. Code that is not in
 * an ELF file and has no symbol has one frame with function NULL. */
NTR_API size_t ntr_debug_info_frames(ntr_debug_info *debug, ntr_place place, ntr_frame *frames, size_t capacity);

/* Stores the (not inlined) function that contains `place`. Returns NTR_END when it is not known. */
NTR_API ntr_status ntr_debug_info_function(ntr_debug_info *debug, ntr_place place, ntr_frame *function);

/* Stores the entries of the functions with a name, at most `capacity`: the addresses of the symbols with this name
 * (static functions of several files, functions of several images); if there is none, those of the functions whose
 * demangled name it is, with or without parameters and namespaces ("area", "shape::area(int)"). Returns their number.
 * Not sorted. */
NTR_API size_t ntr_find_functions(const ntr_program *program, const char *name, uint64_t *entries, size_t capacity);

/* Returns text number `index` about debug information that could not be read so far, "FILE: unit NAME: line table:
 * ...", or NULL after the last one. Names and lines are missing from the results then. Valid until the object is used
 * again. */
NTR_API const char *ntr_debug_info_damage(const ntr_debug_info *debug, size_t index);

/* Returns all rows of the line tables of image `index` in address order. A row is valid for
 * [address, address + size). Returns NTR_END when `index` is past the last image. Errors: NTR_E_MEMORY. */
typedef struct ntr_line_row {
    uint64_t address, size; /* load bias included */
    const char *file;
    uint32_t line, column, discriminator;
    bool is_statement;
    bool implicit; /* the test and the step of a range-based for of C++, which its source does not have (clang) */
    bool optimized; /* the unit was compiled with -O1 or more, as its producer says (gcc) */
    bool by_llvm; /* the unit was compiled by clang, rustc or another compiler of LLVM (DW_AT_producer) */
} ntr_line_row;
NTR_API ntr_status ntr_debug_info_lines(ntr_debug_info *debug, size_t index, const ntr_line_row **rows, size_t *count);

/* Calls `visit` for each source of image `index` that has rows and whose MD5 (16 bytes) the compiler has recorded
 * (clang and rustc with DWARF 5), also more than once. A source with another MD5 has other lines. `file` is that of the
 * rows, and valid as long as the object. A result of `visit` other than NTR_OK stops the iteration and is returned.
 * Returns NTR_END when `index` is past the last image. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_debug_info_digests(ntr_debug_info *debug, size_t index,
                                          ntr_status (*visit)(void *user, const char *file, const uint8_t *md5),
                                          void *user);

/* Returns the path of file number `number` beside the file of image `index` from which debug information was read: a
 * separate debug file, a file that dwz shares, .dwo files, a package of these (.dwp). NULL after the last one, when
 * there is no such image, and when out of memory. */
NTR_API const char *ntr_debug_info_path(ntr_debug_info *debug, size_t index, size_t number);

/* Calls `visit` for each function of image `index` that has code, and for each copy inlined into another function
 * (`inlined`), executed or not. Strings of the frames are valid as long as the object. A result of `visit` other than
 * NTR_OK stops the iteration and is returned. Returns NTR_END when `index` is past the last image. */
NTR_API ntr_status ntr_debug_info_functions(ntr_debug_info *debug, size_t index,
                                            ntr_status (*visit)(void *user, const ntr_frame *function), void *user);

/* Calls `visit` for each function of image `index` whose code the linker has replaced by the equal code of another
 * function (`kept`; identical code folding: lld --icf=all). An execution of this code may be one of either function.
 * `folded` has names, place of the declaration, entry and size. Strings are valid as long as the object. A result of
 * `visit` other than NTR_OK stops the iteration and is returned. Returns NTR_END when `index` is past the last image.
 * Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_debug_info_folded(ntr_debug_info *debug, size_t index,
                                         ntr_status (*visit)(void *user, const ntr_frame *folded,
                                                             const ntr_frame *kept),
                                         void *user);

#ifdef __cplusplus
}
#endif
#endif
