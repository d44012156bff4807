#include "io/source_match.h"

#include "io/digest.h"
#include "options/diagnostics.h"

#include <stdlib.h>
#include <string.h>

/* A source of an image of the program. `md5`: its checksum in debug information, or NULL. */
struct cli_known_source {
    const char *file, *image;
    const uint8_t *md5;
    struct timespec built; /* when the file of the image was written; 0: not known */
};

static void *grow(struct cli_source_match *m, void *items, size_t *capacity, size_t count, size_t size) {
    if (count < *capacity) return items;
    const size_t wanted = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(items, wanted * size);
    if (grown)
        *capacity = wanted;
    else
        m->failed = true;
    return grown;
}

/* ---- the sources of a program ---------------------------------------------------------------------------------- */

/* The image whose sources are listed. */
struct listed_image {
    struct cli_source_match *match;
    const char *name;
    struct timespec built;
};

static bool add_known(const struct listed_image *image, const char *file, const uint8_t *md5) {
    struct cli_source_match *m = image->match;
    void *grown = grow(m, m->known, &m->known_capacity, m->known_count, sizeof *m->known);

    if (!grown) return false;
    m->known = grown;
    m->known[m->known_count++] = (struct cli_known_source){file, image->name, md5, image->built};
    return true;
}

static ntr_status add_digest(void *user, const char *file, const uint8_t *md5) {
    return add_known(user, file, md5) ? NTR_OK : NTR_E_MEMORY;
}

static int by_file(const void *a, const void *b) {
    const struct cli_known_source *x = a, *y = b;
    const int order = strcmp(x->file, y->file);

    if (order) return order;
    if (x->image != y->image) return x->image < y->image ? -1 : 1;
    if (!x->md5 || !y->md5) return !x->md5 - !y->md5; /* with an MD5 first */
    return memcmp(x->md5, y->md5, CLI_MD5_SIZE);
}

/* Keeps each source of an image once, and without an MD5 only if it has none. */
static void sort(struct cli_source_match *m) {
    size_t kept = 0;

    if (m->known_count) qsort(m->known, m->known_count, sizeof *m->known, by_file);
    for (size_t i = 0; i < m->known_count; i++) {
        const struct cli_known_source *last = kept ? &m->known[kept - 1] : NULL, *at = &m->known[i];
        const bool again = last && last->image == at->image && strcmp(last->file, at->file) == 0;
        if (again && (!at->md5 || (last->md5 && memcmp(last->md5, at->md5, CLI_MD5_SIZE) == 0))) continue;
        m->known[kept++] = *at;
    }
    m->known_count = kept;
}

static bool list_image(const struct listed_image *image, ntr_debug_info *debug, size_t index) {
    const ntr_line_row *rows;
    size_t count;
    const char *last = NULL;

    if (ntr_debug_info_lines(debug, index, &rows, &count) != NTR_OK) return false;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].file || rows[i].file == last) continue;
        last = rows[i].file;
        if (!add_known(image, last, NULL)) return false;
    }
    return ntr_debug_info_digests(debug, index, add_digest, (void *)image) == NTR_OK;
}

static void list(struct cli_source_match *m) {
    ntr_image_info info;
    struct stat about;

    m->listed = true;
    for (size_t i = 0; m->program && ntr_program_image(m->program, i, &info) == NTR_OK; i++) {
        struct listed_image image = {.match = m, .name = info.name};
        if (info.path && stat(info.path, &about) == 0) image.built = about.st_mtim;
        if (!list_image(&image, m->debug, i)) m->failed = true;
    }
    sort(m);
}

/* Returns the first of the sources with this name, or NULL. */
static const struct cli_known_source *find(const struct cli_source_match *m, const char *file) {
    size_t low = 0, high = m->known_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(m->known[middle].file, file) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->known_count && strcmp(m->known[low].file, file) == 0 ? &m->known[low] : NULL;
}

/* ---- what was found ---------------------------------------------------------------------------------------------- */

static const struct cli_other_source *find_other(const struct cli_source_match *m, const char *file) {
    for (size_t i = 0; i < m->other_count; i++)
        if (strcmp(m->others[i].file, file) == 0) return &m->others[i];
    return NULL;
}

static void add_other(struct cli_source_match *m, const struct cli_known_source *source, bool differs) {
    const struct cli_other_source *before = find_other(m, source->file);

    if (before) return;
    void *grown = grow(m, m->others, &m->other_capacity, m->other_count, sizeof *m->others);
    if (!grown) return;
    m->others = grown;
    struct cli_other_source *other = &m->others[m->other_count++];
    *other = (struct cli_other_source){strdup(source->file), strdup(source->image ? source->image : "?"), differs};
    if (!other->file || !other->program) {
        free(other->file);
        free(other->program);
        m->other_count--;
        m->failed = true;
    }
}

/* ---- comparing ----------------------------------------------------------------------------------------------------
 */

static bool is_newer(const struct timespec *x, const struct timespec *y) {
    return x->tv_sec != y->tv_sec ? x->tv_sec > y->tv_sec : x->tv_nsec > y->tv_nsec;
}

bool cli_source_match_accepts(struct cli_source_match *m, const char *file, ntr_bytes text, const struct stat *about) {
    uint8_t md5[CLI_MD5_SIZE];
    const struct cli_other_source *before = find_other(m, file);

    if (before) return !before->differs;
    if (!m->listed) list(m);
    const struct cli_known_source *first = find(m, file), *end = m->known + m->known_count, *newer = NULL;
    if (!first) return true;
    const bool has_md5 = cli_digest_md5(text, md5);
    for (const struct cli_known_source *at = first; at < end && strcmp(at->file, file) == 0; at++) {
        if (at->md5 && has_md5) {
            if (memcmp(at->md5, md5, CLI_MD5_SIZE) != 0) return false;
        } else if (at->built.tv_sec && is_newer(&about->st_mtim, &at->built)) {
            newer = at;
        }
    }
    if (newer) add_other(m, newer, false);
    return true;
}

bool cli_source_match_doubts(const struct cli_source_match *m, const char *file) {
    return find_other(m, file) != NULL;
}

void cli_source_match_refused(struct cli_source_match *m, const char *file) {
    const struct cli_known_source *source = find(m, file);

    if (source) add_other(m, source, true);
}

/* ---- reporting ------------------------------------------------------------------------------------------------------
 */

void cli_source_match_report(const struct cli_source_match *m) {
    const struct cli_other_source *differs = NULL, *newer = NULL;
    size_t differ = 0, newer_count = 0;

    for (size_t i = m->other_count; i-- > 0;)
        if (m->others[i].differs)
            differs = &m->others[i], differ++;
        else
            newer = &m->others[i], newer_count++;
    if (differ)
        cli_doubt("expected the sources from which the program was made, found %zu whose MD5 is not that of the debug "
                  "information, the first %s (program %s): its lines are those of another text, which is not shown",
                  differ, differs->file, differs->program);
    if (newer_count)
        cli_note("expected sources that are older than the program, found %zu that are newer, the first %s (program "
                 "%s): lines may be those of other code, and debug information has no MD5 that decides it",
                 newer_count, newer->file, newer->program);
    if (m->failed) cli_doubt("out of memory: not all sources were compared with debug information");
}

void cli_source_match_begin(struct cli_source_match *m, const ntr_program *program, ntr_debug_info *debug) {
    m->program = program;
    m->debug = debug;
    m->known_count = 0;
    m->listed = false;
}

void cli_source_match_end(struct cli_source_match *m) {
    cli_source_match_begin(m, NULL, NULL);
}

void cli_source_match_release(struct cli_source_match *m) {
    for (size_t i = 0; i < m->other_count; i++) {
        free(m->others[i].file);
        free(m->others[i].program);
    }
    free(m->others);
    free(m->known);
    *m = (struct cli_source_match){0};
}
