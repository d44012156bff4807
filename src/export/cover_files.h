/* Iteration over the source files of a coverage. */
#ifndef NTR_EXPORT_COVER_FILES_H
#define NTR_EXPORT_COVER_FILES_H

#include "export/export.h"

#include <string.h>

/* Returns the file of line number *at and advances *at to the first line of the next file. Returns NULL at the end. Set
 * *at to 0 before the first call. */
static inline const char *ntr_cover_next_file(ntr_coverage *coverage, size_t *at) {
    size_t count;
    const ntr_cover_line *lines = ntr_coverage_lines(coverage, &count);
    if (*at >= count) return NULL;
    const char *file = lines[*at].file;
    while (*at < count && strcmp(lines[*at].file, file) == 0) ++*at;
    return file;
}

#endif
