/* Cobertura XML (coverage-04.dtd), as GitLab, Jenkins and gcovr read it. A package is a folder, a class is a file.
 * Names of files are relative to <source>; readers join both, and take a name that begins with '/' as it is. The format
 * cannot express "not known": lines that a gap may hide are omitted. The time stamp is that of the last capture, so
 * that equal inputs give equal files; 0 when it is not known. */
#include "export/cover_files.h"

#include "base/allocator.h"

#include <ntrace/version.h>

static double rate(uint64_t hit, uint64_t all) {
    return all ? (double)hit / (double)all : 1.0;
}

static void write_rates(ntr_out *out, const ntr_cover_sums *sums) {
    ntr_out_format(out, " line-rate=\"%.4f\" branch-rate=\"%.4f\" complexity=\"0\"", rate(sums->lines_hit, sums->lines),
                   rate(sums->branches_hit, sums->branches));
}

static unsigned outcomes(const ntr_cover_branch *branch) {
    return (branch->taken ? 1u : 0u) + (branch->not_taken ? 1u : 0u);
}

static void write_branches(ntr_out *out, const ntr_cover_line *line, const ntr_cover_branch *branches) {
    unsigned hit = 0, all = 2 * (unsigned)line->branches;
    for (size_t i = 0; i < line->branches; i++) hit += outcomes(&branches[line->first_branch + i]);
    ntr_out_format(out, " branch=\"true\" condition-coverage=\"%u%% (%u/%u)\"><conditions>", 100 * hit / all, hit, all);
    for (size_t i = 0; i < line->branches; i++)
        ntr_out_format(out, "<condition number=\"%zu\" type=\"jump\" coverage=\"%u%%\"/>", i,
                       50 * outcomes(&branches[line->first_branch + i]));
    ntr_out_text(out, "</conditions></line>\n");
}

/* The name is as in the source; the signature tells functions with the same name apart. */
static void write_method(ntr_out *out, const ntr_cover_part *part, size_t index, const size_t *list, size_t count) {
    const ntr_cover_function *function = &part->functions[index];
    ntr_cover_sums sums = {.lines = count};
    for (size_t i = 0; i < count; i++) {
        const ntr_cover_line *line = &part->lines[list[i]];
        sums.lines_hit += function->count && line->count;
        sums.branches += 2 * line->branches;
        for (size_t k = 0; function->count && k < line->branches; k++)
            sums.branches_hit += outcomes(&part->branches[line->first_branch + k]);
    }
    ntr_out_text(out, "<method name=\"");
    ntr_out_xml(out, function->name);
    ntr_out_text(out, "\" signature=\"");
    if (strcmp(function->name, function->linkage) != 0) ntr_out_xml(out, function->linkage);
    ntr_out_char(out, '"');
    write_rates(out, &sums);
    ntr_out_text(out, "><lines>");
    /* lines that are shared with instances of the same template: an instance that did not run has executed none */
    for (size_t i = 0; i < count; i++)
        ntr_out_format(out, "<line number=\"%u\" hits=\"%llu\"/>", part->lines[list[i]].line,
                       function->count ? (unsigned long long)part->lines[list[i]].count : 0);
    ntr_out_text(out, "</lines></method>\n");
}

static ntr_status write_methods(ntr_export *x, const ntr_cover_part *part) {
    size_t *list = ntr_alloc(x->allocator, part->last_line - part->first_line, sizeof *list);
    if (!list) return NTR_E_MEMORY;
    ntr_out_text(&x->out, "<methods>");
    for (size_t i = part->first_function; i < part->last_function && !x->out.status; i++) {
        const size_t count = part->functions[i].known ? ntr_cover_function_lines(part, i, list) : 0;
        if (count) write_method(&x->out, part, i, list, count);
    }
    ntr_out_text(&x->out, "</methods>");
    ntr_dealloc(x->allocator, list);
    return NTR_OK;
}

static void write_lines(ntr_out *out, const ntr_cover_part *part) {
    ntr_out_text(out, "<lines>\n");
    for (size_t i = part->first_line; i < part->last_line; i++) {
        const ntr_cover_line *line = &part->lines[i];
        if (!line->known) continue;
        ntr_out_format(out, "<line number=\"%u\" hits=\"%llu\"", line->line, (unsigned long long)line->count);
        if (line->branches)
            write_branches(out, line, part->branches);
        else
            ntr_out_text(out, " branch=\"false\"/>\n");
    }
    ntr_out_text(out, "</lines></class>\n");
}

static size_t folder_size(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? (size_t)(slash - file) : 0;
}

static void write_part(ntr_out *out, const char *text, size_t size) {
    char part[4097]; /* PATH_MAX */
    if (size >= sizeof part) size = sizeof part - 1;
    memcpy(part, text, size);
    part[size] = '\0';
    ntr_out_xml(out, size ? part : ".");
}

/* The sums of a folder: its files are consecutive. */
static void write_package(ntr_export *x, const ntr_cover_root *root, const ntr_cover_line *lines, size_t count,
                          size_t at, size_t size) {
    ntr_cover_sums all = {0}, one;
    const char *folder = lines[at].file, *last = NULL;
    for (size_t i = at; i < count && folder_size(lines[i].file) == size && strncmp(lines[i].file, folder, size) == 0;
         i++) {
        if (last && strcmp(last, lines[i].file) == 0) continue;
        last = lines[i].file;
        ntr_coverage_sums(x->analysis.coverage, last, &one);
        all.lines += one.lines;
        all.lines_hit += one.lines_hit;
        all.branches += one.branches;
        all.branches_hit += one.branches_hit;
    }
    ntr_out_text(&x->out, "<package name=\"");
    const char *name = ntr_cover_relative(root, folder);
    write_part(&x->out, name, folder_size(name));
    ntr_out_char(&x->out, '"');
    write_rates(&x->out, &all);
    ntr_out_text(&x->out, "><classes>\n");
}

static ntr_status write_files(ntr_export *x, const ntr_cover_root *root) {
    const char *before = NULL;
    size_t count;
    ntr_cover_sums sums;
    (void)ntr_coverage_lines(x->analysis.coverage, &count);
    for (ntr_cover_part part = {0}; ntr_cover_next_part(x->analysis.coverage, &part); before = part.file) {
        const size_t size = folder_size(part.file);
        const bool same = before && folder_size(before) == size && strncmp(before, part.file, size) == 0;
        if (before && !same) ntr_out_text(&x->out, "</classes></package>\n");
        if (!same) write_package(x, root, part.lines, count, part.first_line, size);
        ntr_coverage_sums(x->analysis.coverage, part.file, &sums);
        ntr_out_text(&x->out, "<class name=\"");
        ntr_out_xml(&x->out, part.file + size + (size || part.file[0] == '/'));
        ntr_out_text(&x->out, "\" filename=\"");
        ntr_out_xml(&x->out, ntr_cover_relative(root, part.file));
        ntr_out_char(&x->out, '"');
        write_rates(&x->out, &sums);
        ntr_out_char(&x->out, '>');
        const ntr_status status = write_methods(x, &part);
        if (status) return status;
        write_lines(&x->out, &part);
    }
    if (before) ntr_out_text(&x->out, "</classes></package>\n");
    return NTR_OK;
}

/* Returns the milliseconds since 1970 of "2026-07-01T12:00:00Z"; 0: it is no date. */
static uint64_t milliseconds(const char *date) {
    static const char form[] = "dddd-dd-ddTdd:dd:dd"; /* d: a digit */
    uint64_t parts[6] = {0};                          /* year, month, day, hour, minute, second */
    size_t part = 0;
    for (size_t i = 0; form[i]; i++) {
        const char c = date ? date[i] : '\0';
        const bool digit = form[i] == 'd';
        if (digit ? c < '0' || c > '9' : c != form[i]) return 0;
        if (digit)
            parts[part] = parts[part] * 10 + (uint64_t)(c - '0');
        else
            part++;
    }
    if (parts[0] < 1970 || parts[1] < 1 || parts[1] > 12 || parts[2] < 1) return 0;
    /* a leap day ends a year that begins in March */
    const uint64_t month = (parts[1] + 9) % 12, year = parts[0] - (parts[1] < 3);
    const uint64_t days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + parts[2] - 1;
    return (((days - 719468) * 24 + parts[3]) * 60 + parts[4]) * 60000 + parts[5] * 1000;
}

static ntr_status end(ntr_export *x) {
    ntr_cover_sums sums;
    ntr_coverage_sums(x->analysis.coverage, NULL, &sums);
    ntr_out_text(&x->out,
                 "<?xml version=\"1.0\" ?>\n"
                 "<!DOCTYPE coverage SYSTEM 'http://cobertura.sourceforge.net/xml/coverage-04.dtd'>\n<coverage");
    write_rates(&x->out, &sums);
    ntr_out_format(&x->out,
                   " lines-covered=\"%llu\" lines-valid=\"%llu\" branches-covered=\"%llu\" branches-valid=\"%llu\""
                   " timestamp=\"%llu\" version=\"ntrace %s\">\n<sources><source>",
                   (unsigned long long)sums.lines_hit, (unsigned long long)sums.lines,
                   (unsigned long long)sums.branches_hit, (unsigned long long)sums.branches,
                   (unsigned long long)milliseconds(x->analysis.date), NTR_VERSION_TEXT);
    const ntr_cover_root root = ntr_cover_find_root(x);
    if (root.size)
        write_part(&x->out, root.text, root.size);
    else
        ntr_out_text(&x->out, root.text ? "/" : ".");
    ntr_out_text(&x->out, "</source></sources><packages>\n");
    const ntr_status status = write_files(x, &root);
    if (!status) ntr_out_text(&x->out, "</packages></coverage>\n");
    return status;
}

const ntr_exporter ntr_exporter_cobertura = {
    .name = "cobertura",
    .family = "coverage",
    .summary = "Cobertura XML (GitLab, Jenkins, gcovr)",
    .aliases = {"xml"},
    .needs = NTR_NEEDS_COVERAGE,
    .end = end,
};
