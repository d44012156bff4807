/* Cobertura XML (coverage-04.dtd), as GitLab, Jenkins and gcovr read it. A package is a folder, a class is a file. The
 * format cannot express "not known": lines that a gap may hide are omitted. The time stamp is that of the
 * last capture, so that equal inputs give equal files; 0 when it is not known. */
#include "export/cover_files.h"

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

static void write_lines(ntr_out *out, const ntr_cover_line *lines, size_t count, const ntr_cover_branch *branches) {
    ntr_out_text(out, "<methods/><lines>\n");
    for (size_t i = 0; i < count; i++) {
        if (!lines[i].known) continue;
        ntr_out_format(out, "<line number=\"%u\" hits=\"%llu\"", lines[i].line, (unsigned long long)lines[i].count);
        if (lines[i].branches)
            write_branches(out, &lines[i], branches);
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
    char part[1024];
    if (size >= sizeof part) size = sizeof part - 1;
    memcpy(part, text, size);
    part[size] = '\0';
    ntr_out_xml(out, size ? part : ".");
}

/* The sums of a folder: its files are consecutive. */
static void write_package(ntr_export *x, const ntr_cover_line *lines, size_t count, size_t at, size_t size) {
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
    write_part(&x->out, folder, size);
    ntr_out_char(&x->out, '"');
    write_rates(&x->out, &all);
    ntr_out_text(&x->out, "><classes>\n");
}

static void write_files(ntr_export *x) {
    size_t count, branch_count;
    const ntr_cover_line *lines = ntr_coverage_lines(x->analysis.coverage, &count);
    const ntr_cover_branch *branches = ntr_coverage_branches(x->analysis.coverage, &branch_count);
    ntr_cover_sums sums;
    for (size_t i = 0, next; i < count; i = next) {
        const char *file = lines[i].file, *before = i ? lines[i - 1].file : NULL;
        size_t size = folder_size(file);
        bool same = before && folder_size(before) == size && strncmp(before, file, size) == 0;
        for (next = i; next < count && strcmp(lines[next].file, file) == 0;) next++;
        if (before && !same) ntr_out_text(&x->out, "</classes></package>\n");
        if (!same) write_package(x, lines, count, i, size);
        ntr_coverage_sums(x->analysis.coverage, file, &sums);
        ntr_out_text(&x->out, "<class name=\"");
        ntr_out_xml(&x->out, file + size + (size || file[0] == '/'));
        ntr_out_text(&x->out, "\" filename=\"");
        ntr_out_xml(&x->out, file);
        ntr_out_char(&x->out, '"');
        write_rates(&x->out, &sums);
        ntr_out_char(&x->out, '>');
        write_lines(&x->out, lines + i, next - i, branches);
    }
    if (count) ntr_out_text(&x->out, "</classes></package>\n");
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
                   " timestamp=\"%llu\" version=\"ntrace %s\">\n<sources><source>.</source></sources><packages>\n",
                   (unsigned long long)sums.lines_hit, (unsigned long long)sums.lines,
                   (unsigned long long)sums.branches_hit, (unsigned long long)sums.branches,
                   (unsigned long long)milliseconds(x->analysis.date), NTR_VERSION_TEXT);
    write_files(x);
    ntr_out_text(&x->out, "</packages></coverage>\n");
    return NTR_OK;
}

const ntr_exporter ntr_exporter_cobertura = {
    .name = "cobertura",
    .family = "coverage",
    .summary = "Cobertura XML (GitLab, Jenkins, gcovr)",
    .aliases = {"xml"},
    .needs = NTR_NEEDS_COVERAGE,
    .end = end,
};
