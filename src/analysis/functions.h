/* Private lookup of functions by address, for modules that process each span. */
#ifndef NTR_ANALYSIS_FUNCTIONS_H
#define NTR_ANALYSIS_FUNCTIONS_H

#include "analysis/function_ranges.h"
#include "analysis/roles.h"

#include <ntrace/callstack.h>

/* What functions do in an operating system: of the first `count` ones. */
typedef struct ntr_function_roles {
    ntr_role_info *items;
    size_t count;
} ntr_function_roles;

/* What the function does in an operating system. */
ntr_role_info ntr_functions_role(ntr_functions *functions, uint32_t number);

/* Returns whether it does something there. Most functions do not. */
static inline bool ntr_functions_has_role(ntr_functions *functions, uint32_t number) {
    const ntr_function_roles *known = (const ntr_function_roles *)functions; /* its first member */
    const ntr_role_info role = number < known->count ? known->items[number] : ntr_functions_role(functions, number);
    return role.role != NTR_OS_NONE;
}

/* Limits [*first, *last] to the addresses around `place` that have the same symbol, or none, and the same image.
 * Returns when they have. */
ntr_validity ntr_debug_info_limit(const ntr_debug_info *debug, ntr_place place, uint64_t *first, uint64_t *last);

/* Stores the load bias of the file that names the code at `place`. Returns false when the code may be elsewhere later.
 */
bool ntr_debug_info_file_bias(const ntr_debug_info *debug, ntr_place place, uint64_t *bias);

const ntr_program *ntr_debug_info_program(const ntr_debug_info *debug);
const ntr_program *ntr_functions_program(const ntr_functions *functions);

/* Returns when the place means the same (ntr_program_validity). */
ntr_validity ntr_functions_validity(const ntr_functions *functions, ntr_place place);

/* NULL: not known. */
const ntr_tasks *ntr_functions_tasks(const ntr_functions *functions);

/* Returns functions of the same code, none of which was looked up; NULL when out of memory. */
ntr_functions *ntr_functions_copy_empty(const ntr_functions *functions);
const ntr_allocator *ntr_functions_allocator(const ntr_functions *functions);

/* Begins a note of the functions that are looked up, in the order of their first look-up. */
void ntr_functions_note(ntr_functions *functions);

/* Returns their numbers, and the place of a function in the note: UINT32_MAX: it is not noted. */
const uint32_t *ntr_functions_noted(const ntr_functions *functions, size_t *count);
uint32_t ntr_functions_note_index(const ntr_functions *functions, uint32_t number);

/* Returns the range that contains `place`. When out of memory, `number` is UINT32_MAX and the range is empty. */
ntr_function_range ntr_functions_range(ntr_functions *functions, ntr_place place);

#endif
