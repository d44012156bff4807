/* Profile: instructions and time by function, line, instruction, hart, context or image; callers and callees. */
#ifndef NTRACE_PROFILE_H
#define NTRACE_PROFILE_H

#include <ntrace/calltree.h>
#include <ntrace/machine.h>
#include <ntrace/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_profile_by {
    NTR_PROFILE_FUNCTION,    /* requires the call tree */
    NTR_PROFILE_LINE,        /* this one and the following require the tally */
    NTR_PROFILE_INSTRUCTION,
    NTR_PROFILE_HART,
    NTR_PROFILE_CONTEXT,
    NTR_PROFILE_IMAGE,       /* requires the call tree */
    NTR_PROFILE_PROCESS,     /* this one and the following: ntr_profile_machine */
    NTR_PROFILE_THREAD,
    NTR_PROFILE_MODE,
    NTR_PROFILE_INTERRUPT,
} ntr_profile_by;

typedef struct ntr_profile_row {
    const char *name;     /* function, process, thread, mode, interrupt; NULL: not known */
    const char *file;     /* NULL: not known */
    const char *image;
    uint32_t line;
    uint64_t address;     /* by function: entry; by instruction: its address; by process, thread: pid, 0: not known */
    uint16_t src;         /* by hart, context, thread; by process without name */
    ntr_context context;  /* by context; by process and thread: scontext in U-mode */
    uint64_t self, total; /* instructions; without a call tree, total is equal to self */
    uint64_t self_ticks, total_ticks;
    /* by function and interrupt: number of entries; by image: entries from other images; by instruction: number of
     * executions; by process and thread: how often it began to run */
    uint64_t calls;
} ntr_profile_row;

typedef struct ntr_profile {
    const ntr_allocator *allocator;
    ntr_profile_row *rows; /* sorted by `self`, descending */
    size_t count;
    uint64_t instructions, ticks; /* sums of all rows */
} ntr_profile;

/* Fills *profile. `by` determines whether `tree` (after ntr_calltree_finish) or `tally` is required; the other may be
 * NULL. The strings of the rows belong to `functions` and `debug` and are valid as long as these. Release the rows
 * with ntr_profile_release. Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_profile_make(ntr_profile *profile, ntr_profile_by by, const ntr_program *program,
                                    ntr_debug_info *debug, ntr_functions *functions, const ntr_calltree *tree,
                                    ntr_tally *tally, const ntr_allocator *allocator);

/* The same for PROCESS, THREAD, MODE and INTERRUPT, after ntr_machine_finish. An interrupt's instructions are those
 * from entry to return. The strings of the rows belong to `machine`. Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_profile_machine(ntr_profile *profile, ntr_profile_by by, const ntr_machine *machine,
                                       const ntr_allocator *allocator);

typedef enum ntr_profile_relation {
    NTR_PROFILE_CALLERS, /* one row for each function that called it */
    NTR_PROFILE_CALLEES, /* one row for each function that it called */
} ntr_profile_relation;

/* Fills *profile with the callers or the callees of the executed functions that have the name or the linkage name
 * `name`, sorted by `total`. `calls` is the number of calls between both. Callers: `self` and `total` are the named
 * function's, in calls from the row's function. Callees: they are the row's function's, in calls from the named
 * function. Nested calls count once in `total`. A tail call has the caller of the function that it replaces.
 * profile->instructions and profile->ticks are those of the whole tree (after ntr_calltree_finish). Returns NTR_END
 * when no executed function has the name. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_profile_relatives(ntr_profile *profile, ntr_profile_relation relation, const char *name,
                                         const ntr_functions *functions, const ntr_calltree *tree,
                                         const ntr_allocator *allocator);

typedef enum ntr_profile_key {
    NTR_PROFILE_KEY_SELF,
    NTR_PROFILE_KEY_TOTAL,
    NTR_PROFILE_KEY_CALLS,
    NTR_PROFILE_KEY_TICKS,       /* self_ticks */
    NTR_PROFILE_KEY_TOTAL_TICKS,
} ntr_profile_key;

/* Sorts the rows by `key`, descending; rows with equal keys by `self`. */
NTR_API void ntr_profile_sort(ntr_profile *profile, ntr_profile_key key);

NTR_API void ntr_profile_release(ntr_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
