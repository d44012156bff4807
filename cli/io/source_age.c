#include "io/source_age.h"

#include "options/diagnostics.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Names of files, sorted; each once. */
struct names {
    const char **items;
    size_t count, capacity;
};

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool add(struct names *n, const char *name) {
    if (!name || (n->count && n->items[n->count - 1] == name)) return true;
    if (n->count == n->capacity) {
        const size_t capacity = n->capacity ? 2 * n->capacity : 64;
        const char **grown = realloc(n->items, capacity * sizeof *grown);
        if (!grown) return false;
        n->items = grown;
        n->capacity = capacity;
    }
    n->items[n->count++] = name;
    return true;
}

static void sort(struct names *n) {
    size_t kept = 0;
    if (n->count) qsort(n->items, n->count, sizeof *n->items, by_text);
    for (size_t i = 0; i < n->count; i++)
        if (!kept || strcmp(n->items[kept - 1], n->items[i]) != 0) n->items[kept++] = n->items[i];
    n->count = kept;
}

static bool names_of_image(struct names *n, ntr_debug_info *debug, size_t index) {
    const ntr_line_row *rows;
    size_t count;
    n->count = 0;
    if (ntr_debug_info_lines(debug, index, &rows, &count) != NTR_OK) return false;
    for (size_t i = 0; i < count; i++)
        if (!add(n, rows[i].file)) return false;
    sort(n);
    return true;
}

static void names_of_coverage(struct names *n, ntr_coverage *coverage) {
    size_t count;
    const ntr_cover_line *lines = ntr_coverage_lines(coverage, &count);
    for (size_t i = 0; i < count; i++) add(n, lines[i].file);
    sort(n);
}

static bool is_newer(const char *source, const struct stat *program) {
    struct stat about;
    if (*source != '/' || stat(source, &about) || !S_ISREG(about.st_mode)) return false;
    const struct timespec *x = &about.st_mtim, *y = &program->st_mtim;
    return x->tv_sec != y->tv_sec ? x->tv_sec > y->tv_sec : x->tv_nsec > y->tv_nsec;
}

void cli_source_ages(const ntr_program *program, ntr_debug_info *debug, ntr_coverage *coverage) {
    struct names wanted = {0}, names = {0};
    const char *first = NULL, *image = NULL;
    size_t newer = 0;
    ntr_image_info info;

    if (coverage) names_of_coverage(&wanted, coverage);
    for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++) {
        struct stat about;
        if (!info.path || stat(info.path, &about) || !names_of_image(&names, debug, i)) continue;
        for (size_t k = 0; k < names.count; k++) {
            const char **name = &names.items[k];
            if (coverage && !bsearch(name, wanted.items, wanted.count, sizeof *name, by_text)) continue;
            if (!is_newer(*name, &about)) continue;
            if (!newer++) first = *name, image = info.name;
        }
    }
    if (newer)
        cli_note("expected sources that are older than the program, found %zu that are newer, the first %s (program "
                 "%s): lines may be those of other code",
                 newer, first, image);
    free(wanted.items);
    free(names.items);
}
