/* Names of source files: debug information and libclang write them differently. */
#ifndef NTR_DECISION_PATHS_H
#define NTR_DECISION_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/texts.h"

/* Returns the resolved path, or the name when there is no such file, kept in `texts`; NULL when out of memory. */
const char *ntr_path_resolve(ntr_texts *texts, const char *name);

/* The same for a name in debug information: when there is no such file, the longest suffix of the name that exists
 * below one of the folders (separated by colons; may be NULL). */
const char *ntr_path_find(ntr_texts *texts, const char *folders, const char *name);

#endif
