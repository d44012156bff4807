#include "export/cover_files.h"

/* ---- names relative to a root */

static bool is_below(const char *file, const char *folder, size_t size) {
    return file[0] == '/' && strncmp(file, folder, size) == 0 && file[size] == '/';
}

/* Shortens the root to what it has in common with the folder of a file. */
static void shorten(ntr_cover_root *root, const char *file) {
    const char *slash = strrchr(file, '/');
    const size_t folder = (size_t)(slash - file);
    if (!root->text) {
        *root = (ntr_cover_root){file, folder};
        return;
    }
    size_t same = 0, end = 0;
    for (; same < root->size && same < folder && root->text[same] == file[same]; same++)
        if (file[same] == '/') end = same;
    const bool whole = (same == root->size || root->text[same] == '/') && (same == folder || file[same] == '/');
    root->size = whole ? same : end;
}

ntr_cover_root ntr_cover_find_root(const ntr_export *x) {
    ntr_cover_root given = {x->analysis.root, 0}, common = {NULL, 0};
    const char *file;
    if (given.text) given.size = strlen(given.text);
    while (given.size && given.text[given.size - 1] == '/') given.size--;
    for (size_t at = 0; (file = ntr_cover_next_file(x->analysis.coverage, &at));) {
        if (file[0] != '/') continue;
        if (given.size && is_below(file, given.text, given.size)) return given;
        shorten(&common, file);
    }
    return common;
}

const char *ntr_cover_relative(const ntr_cover_root *root, const char *file) {
    return root->text && is_below(file, root->text, root->size) ? file + root->size + 1 : file;
}

/* ---- parts */

bool ntr_cover_next_part(ntr_coverage *coverage, ntr_cover_part *part) {
    size_t lines, functions, branches, function = part->last_function;
    *part = (ntr_cover_part){
        .lines = ntr_coverage_lines(coverage, &lines),
        .branches = ntr_coverage_branches(coverage, &branches),
        .functions = ntr_coverage_functions(coverage, &functions),
        .ends = ntr_coverage_function_ends(coverage),
        .first_line = part->last_line,
        .last_line = part->last_line,
    };
    part->file = ntr_cover_next_file(coverage, &part->last_line);
    if (!part->file) return false;
    while (function < functions && strcmp(part->functions[function].file, part->file) < 0) function++;
    part->first_function = function;
    while (function < functions && strcmp(part->functions[function].file, part->file) == 0) function++;
    part->last_function = function;
    return true;
}

static size_t line_at_or_after(const ntr_cover_part *part, uint32_t line) {
    size_t low = part->first_line, high = part->last_line;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (part->lines[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t ntr_cover_function_lines(const ntr_cover_part *part, size_t function, size_t *list) {
    const uint32_t begin = part->functions[function].line, end = part->ends[function];
    size_t count = 0, inner = function + 1;
    uint32_t inner_end = 0; /* lines up to here are those of inner functions */
    for (size_t i = line_at_or_after(part, begin); i < part->last_line && part->lines[i].line <= end; i++) {
        const uint32_t line = part->lines[i].line;
        for (; inner < part->last_function && part->functions[inner].line <= line; inner++)
            if (part->functions[inner].line > begin && part->ends[inner] <= end && part->ends[inner] > inner_end)
                inner_end = part->ends[inner];
        if (part->lines[i].known && line > inner_end) list[count++] = i;
    }
    return count;
}
