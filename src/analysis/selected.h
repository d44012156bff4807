/* Selection of source files by folders and names. */
#ifndef NTR_ANALYSIS_SELECTED_H
#define NTR_ANALYSIS_SELECTED_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether a path is selected by a list of folders and file names. An empty list selects everything. */
bool ntr_path_selected(const char *path, const char *const *only, size_t count);

#endif
