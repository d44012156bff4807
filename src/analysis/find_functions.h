/* Names of functions as a user types them. */
#ifndef NTR_ANALYSIS_FIND_FUNCTIONS_H
#define NTR_ANALYSIS_FIND_FUNCTIONS_H

#include <ntrace/program.h>

/* Returns whether a demangled name is `name`, with or without parameters and namespaces. */
bool ntr_is_source_name(const char *demangled, const char *name);

/* Returns whether ntr_find_functions finds the function of this linkage name by `name`. */
bool ntr_is_function_name(const ntr_program *program, const char *linkage, const char *name);

#endif
