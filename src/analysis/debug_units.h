/* Compilation units of an image: which source was compiled how. */
#ifndef NTR_ANALYSIS_DEBUG_UNITS_H
#define NTR_ANALYSIS_DEBUG_UNITS_H

#include <ntrace/debug_info.h>

/* Values of DW_AT_language that matter here. */
enum ntr_debug_language {
    NTR_LANGUAGE_C89 = 0x01,
    NTR_LANGUAGE_C = 0x02,
    NTR_LANGUAGE_CPP = 0x04,
    NTR_LANGUAGE_C99 = 0x0c,
    NTR_LANGUAGE_CPP_03 = 0x19,
    NTR_LANGUAGE_CPP_11 = 0x1a,
    NTR_LANGUAGE_C11 = 0x1d,
    NTR_LANGUAGE_CPP_14 = 0x21,
    NTR_LANGUAGE_CPP_17 = 0x2b,
    NTR_LANGUAGE_C17 = 0x2c,
    NTR_LANGUAGE_CPP_20 = 0x2e,
};

/* A place where a statement of the source begins. Several places may have the same address. */
typedef struct ntr_debug_statement {
    uint64_t address; /* without the load bias */
    const char *file;
    uint32_t line, column;
} ntr_debug_statement;

/* A compilation unit. Strings are valid during the visit. */
typedef struct ntr_debug_unit {
    const char *name, *directory, *producer; /* NULL: not known */
    unsigned language;                       /* ntr_debug_language */
    const char *const *folders;              /* folders of its line table */
    size_t folder_count;
    const uint64_t (*ranges)[2];             /* [low, high) of its code, load bias included */
    size_t range_count;
    const ntr_debug_statement *statements;   /* in the order of its line table */
    size_t statement_count;
    uint64_t bias;                           /* load bias */
} ntr_debug_unit;

/* Calls `visit` for each unit of image `index`. A result of `visit` other than NTR_OK stops the iteration and is
 * returned. Returns NTR_END when `index` is past the last image. Errors: NTR_E_MEMORY. */
ntr_status ntr_debug_info_units(ntr_debug_info *debug, size_t index,
                                ntr_status (*visit)(void *user, const ntr_debug_unit *unit), void *user);

#endif
