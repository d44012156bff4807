/* Rows of a profile, for the files that make them. */
#ifndef NTR_ANALYSIS_PROFILE_ROWS_H
#define NTR_ANALYSIS_PROFILE_ROWS_H

#include <ntrace/profile.h>

/* Appends a zeroed row. *capacity is 0 before the first one. Returns NULL when out of memory. */
ntr_profile_row *ntr_profile_add(ntr_profile *profile, size_t *capacity);

/* Returns a row that describes the function, without counts. */
ntr_profile_row ntr_profile_function_row(const ntr_function *function);

/* Appends one row for each image. Errors: NTR_E_MEMORY. */
ntr_status ntr_profile_images(ntr_profile *profile, const ntr_functions *functions, const ntr_calltree *tree);

/* Adds the rows up and sorts them by their own instructions; releases the profile where `status`, that of making the
 * rows, is an error. Returns `status`. */
ntr_status ntr_profile_finish(ntr_profile *profile, ntr_status status);

#endif
