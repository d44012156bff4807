/* Source: from an address to the functions and lines it was compiled from, inlined frames included.
 *
 * Reads DWARF through libdw, from the images' own files or from separate debug files (build id and
 * .gnu_debuglink, in the usual folders); falls back to the symbol table. Everything is loaded on first use
 * and kept, so that a lookup is a few binary searches. Not thread-safe: one per thread. */
#ifndef NTRACE_DEBUG_INFO_H
#define NTRACE_DEBUG_INFO_H

#include <ntrace/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_debug_info ntr_debug_info;

/* One function at an address; strings live as long as the ntr_debug_info. */
typedef struct ntr_frame {
    const char *function;   /* demangled name; NULL when nothing is known */
    const char *linkage;    /* name as linked, or the same as `function` */
    const char *file;       /* NULL: not known */
    const char *declared_in;/* file of the function's declaration; NULL: not known */
    const char *image;      /* image the address is in */
    uint32_t line, column;  /* of the address in this frame (for a caller: of the call); 0: not known */
    uint32_t discriminator; /* DWARF line-table discriminator */
    uint32_t declared_line; /* of the function; 0: not known */
    uint64_t entry;         /* where control enters the function, or this inlined copy of it */
    uint64_t size;          /* bytes from there to the end of its contiguous range; 0: not known */
    bool inlined;           /* was inlined into the next frame */
} ntr_frame;

/* Deepest chain of inlined functions that is told apart. */
#define NTR_FRAMES_MAX 64

/* NULL when out of memory. `program` must outlive it. Later lack of memory leaves names and lines out; an allocator of
 * the caller's own hears of it. */
NTR_API ntr_debug_info *ntr_debug_info_new(const ntr_program *program, const ntr_allocator *allocator);
NTR_API void ntr_debug_info_free(ntr_debug_info *source);

/* Where to look for separate debug files, besides the usual place: colon-separated, as in
 * "/usr/lib/debug:/opt/debug". The string must outlive the source. */
NTR_API void ntr_debug_info_set_path(ntr_debug_info *source, const char *path);

/* The frames at `address` as `context` sees it, innermost first; returns how many (0: no image there).
 * An address in an image without any symbol gives one frame with function NULL. */
NTR_API size_t ntr_debug_info_frames(ntr_debug_info *source, const ntr_context *context, uint64_t address,
                                     ntr_frame *frames, size_t capacity);

/* The function (not inlined) that covers `address`: NTR_END when nothing is known. */
NTR_API ntr_status ntr_debug_info_function(ntr_debug_info *source, const ntr_context *context, uint64_t address,
                                       ntr_frame *function);

/* Every row of the line tables of image `index` in address order: what coverage counts against. A row
 * holds for [address, address + size). Returns NTR_END past the last image. */
typedef struct ntr_line_row {
    uint64_t address, size; /* bias included */
    const char *file;
    uint32_t line, column, discriminator;
    bool is_statement;
} ntr_line_row;
NTR_API ntr_status ntr_debug_info_lines(ntr_debug_info *source, size_t index, const ntr_line_row **rows, size_t *count);

/* Each function of image `index` that has code of its own, and each copy inlined into another (`inlined`), executed or
 * not. `visit` is called with frames whose strings live as long as the source; anything but NTR_OK stops and is given
 * back. NTR_END past the last image. */
NTR_API ntr_status ntr_debug_info_functions(ntr_debug_info *source, size_t index,
                                        ntr_status (*visit)(void *user, const ntr_frame *function), void *user);

#ifdef __cplusplus
}
#endif
#endif
