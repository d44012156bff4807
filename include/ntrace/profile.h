/* Profile: where instructions and time went, by function, line, instruction, hart or context. */
#ifndef NTRACE_PROFILE_H
#define NTRACE_PROFILE_H

#include <ntrace/calltree.h>
#include <ntrace/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_profile_by {
    NTR_PROFILE_FUNCTION,    /* needs the call tree */
    NTR_PROFILE_LINE,        /* the others need the tally */
    NTR_PROFILE_INSTRUCTION,
    NTR_PROFILE_HART,
    NTR_PROFILE_CONTEXT,
} ntr_profile_by;

typedef struct ntr_profile_row {
    const char *name;     /* function; NULL: not known */
    const char *file;     /* NULL: not known */
    const char *image;
    uint32_t line;
    uint64_t address;     /* function: entry; instruction: its own */
    uint16_t src;         /* hart, context */
    ntr_context context;  /* context */
    uint64_t self, total; /* instructions; total is self where there is no call tree */
    uint64_t self_ticks, total_ticks;
    uint64_t calls;       /* function: entered; instruction: executed */
} ntr_profile_row;

typedef struct ntr_profile {
    const ntr_allocator *allocator;
    ntr_profile_row *rows; /* by descending self */
    size_t count;
    uint64_t instructions, ticks; /* of all rows */
} ntr_profile;

/* `tree` (finished) and `tally`: the one that `by` needs; the other may be NULL. Strings belong to `functions`
 * and `source`. Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_profile_make(ntr_profile *profile, ntr_profile_by by, const ntr_program *program,
                                    ntr_debug_info *source, ntr_functions *functions, const ntr_calltree *tree,
                                    ntr_tally *tally, const ntr_allocator *allocator);

typedef enum ntr_profile_key {
    NTR_PROFILE_KEY_SELF,
    NTR_PROFILE_KEY_TOTAL,
    NTR_PROFILE_KEY_CALLS,
    NTR_PROFILE_KEY_TICKS,       /* self_ticks */
    NTR_PROFILE_KEY_TOTAL_TICKS,
} ntr_profile_key;

/* Order the rows by `key`, descending; rows that have it alike, by self. */
NTR_API void ntr_profile_sort(ntr_profile *profile, ntr_profile_key key);

NTR_API void ntr_profile_release(ntr_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
