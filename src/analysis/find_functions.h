/* Names of functions as a user types them. */
#ifndef NTR_ANALYSIS_FIND_FUNCTIONS_H
#define NTR_ANALYSIS_FIND_FUNCTIONS_H

#include <stdbool.h>

/* Returns whether a demangled name is `name`, with or without parameters and namespaces. */
bool ntr_is_source_name(const char *demangled, const char *name);

#endif
