/* Iteration over the source files of a coverage, and their names relative to the folder of a project. */
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

/* Returns by which rule the lines of a coverage are counted: "gcov", "llvm-cov", or "gcov and llvm-cov". */
static inline const char *ntr_cover_rule_name(const ntr_coverage *coverage) {
    const unsigned rules = ntr_coverage_rules(coverage), llvm = 1u << NTR_COVER_RULE_LLVM;
    return rules == llvm ? "llvm-cov" : rules & llvm ? "gcov and llvm-cov" : "gcov";
}

/* Returns how many functions have lines that are counted by the code of the line alone, which llvm-cov counts by the
 * source. */
static inline uint64_t ntr_cover_by_code(const ntr_cover_sums *sums) {
    return sums->by_source[NTR_COVER_SOURCE_OPTIMIZED] + sums->by_source[NTR_COVER_SOURCE_UNKNOWN] +
           sums->by_source[NTR_COVER_SOURCE_NOT_UNDERSTOOD];
}

/* The folder to which names of files are relative: `text[0..size)`, without '/' at its end. `size` 0 with `text`: the
 * folder "/". `text` NULL: all names are relative already. */
typedef struct ntr_cover_root {
    const char *text;
    size_t size;
} ntr_cover_root;

/* Returns analysis.root when it holds a file, otherwise the common folder of all files with absolute names. The text is
 * valid as long as both are. */
ntr_cover_root ntr_cover_find_root(const ntr_export *x);

/* Returns the name relative to the root, or the whole name of a file that is not in it. */
const char *ntr_cover_relative(const ntr_cover_root *root, const char *file);

/* The lines and functions of one file; indexes are those of the coverage, each range ends before `last`. */
typedef struct ntr_cover_part {
    const char *file;
    const ntr_cover_line *lines;
    const ntr_cover_branch *branches;
    const ntr_cover_function *functions;
    const uint32_t *ends;
    size_t first_line, last_line, first_function, last_function;
} ntr_cover_part;

/* Advances to the next file; a part of zeros is before the first one. Returns false at the end. */
bool ntr_cover_next_part(ntr_coverage *coverage, ntr_cover_part *part);

/* Stores the indexes of the known lines of a function in `list`, which has room for the lines of the part, and returns
 * their number. A line of a function that begins inside of this one belongs to the inner function. */
size_t ntr_cover_function_lines(const ntr_cover_part *part, size_t function, size_t *list);

#endif
