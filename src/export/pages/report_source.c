/* Source part of the report: all files with their coverage. Files with the most instructions, up to a limit of size,
 * also have their lines with counts and branch outcomes. */
#include "export/cover_files.h"
#include "export/pages/report_parts.h"

#include "base/allocator.h"

#include <ntrace/profile.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 3 }; /* lines shown before and after one that has code */

/* One file: indices [line, line_end) of the coverage lines and [row, row_end) of the profile rows. */
typedef struct source_file {
    const char *name;
    uint64_t instructions;
    size_t line, line_end, row, row_end;
} source_file;

typedef struct source_section {
    ntr_export *x;
    const ntr_cover_line *lines;
    const ntr_cover_branch *branches;
    size_t line_count, branch_count;
    ntr_profile profile; /* by line, sorted by file and line */
    source_file *files;         /* sorted by instructions, descending */
    size_t file_count;
    size_t left;         /* remaining bytes for source text */
} source_section;

/* ---- files */

static int compare_rows(const void *a, const void *b) {
    const ntr_profile_row *x = a, *y = b;
    if (!x->file || !y->file) return !x->file - !y->file; /* those without a file last */
    int order = strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int compare_files(const void *a, const void *b) {
    const source_file *x = a, *y = b;
    if (x->instructions != y->instructions) return x->instructions < y->instructions ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Both lists are sorted by file. The rows of a file follow those of the previous file. */
static void add_file(source_section *s, size_t *row) {
    size_t at = s->file_count ? s->files[s->file_count - 1].line_end : 0;
    const ntr_profile_row *rows = s->profile.rows;
    source_file *f = &s->files[s->file_count++];
    *f = (source_file){.name = s->lines[at].file, .line = at};
    while (at < s->line_count && strcmp(s->lines[at].file, f->name) == 0) at++;
    f->line_end = at;
    while (*row < s->profile.count && rows[*row].file && strcmp(rows[*row].file, f->name) < 0) ++*row;
    for (f->row = *row; *row < s->profile.count && rows[*row].file && strcmp(rows[*row].file, f->name) == 0; ++*row)
        f->instructions += rows[*row].self;
    f->row_end = *row;
}

static ntr_status gather(source_section *s) {
    const struct ntr_report *r = s->x->state;
    const ntr_analysis *a = &s->x->analysis;
    size_t row = 0;
    s->lines = ntr_coverage_lines(r->coverage, &s->line_count);
    s->branches = ntr_coverage_branches(r->coverage, &s->branch_count);
    ntr_status status = ntr_profile_make(&s->profile, NTR_PROFILE_LINE, a->program, a->debug, a->functions, a->tree,
                                         a->tally, s->x->allocator);
    if (status) return status;
    if (s->profile.count) qsort(s->profile.rows, s->profile.count, sizeof *s->profile.rows, compare_rows);
    s->files = ntr_alloc(s->x->allocator, s->line_count, sizeof *s->files);
    if (!s->files && s->line_count) return NTR_E_MEMORY;
    while (s->line_count && (!s->file_count || s->files[s->file_count - 1].line_end < s->line_count)) add_file(s, &row);
    if (s->files && s->file_count) qsort(s->files, s->file_count, sizeof *s->files, compare_files);
    return NTR_OK;
}

/* ---- lines: [number, text, executions (null: no code, -1: not known), instructions, branches] */

static void write_branches(source_section *s, const ntr_cover_line *line) {
    ntr_out_text(&s->x->out, ",[");
    for (size_t i = 0; i < line->branches && line->first_branch + i < s->branch_count; i++) {
        const ntr_cover_branch *b = &s->branches[line->first_branch + i];
        ntr_out_format(&s->x->out, "%s[%llu,%llu,\"0x%llx\"]", i ? "," : "", (unsigned long long)b->taken,
                       (unsigned long long)b->not_taken, (unsigned long long)b->address);
    }
    ntr_out_char(&s->x->out, ']');
}

static uint64_t instructions_of(const source_section *s, const source_file *f, size_t *row, uint32_t line) {
    uint64_t sum = 0;
    while (*row < f->row_end && s->profile.rows[*row].line < line) ++*row;
    while (*row < f->row_end && s->profile.rows[*row].line == line) sum += s->profile.rows[(*row)++].self;
    return sum;
}

static void write_line(source_section *s, const source_file *f, uint32_t number, const char *text, size_t size,
                       size_t *at, size_t *row) {
    ntr_out *out = &s->x->out;
    const ntr_cover_line *line = *at < f->line_end && s->lines[*at].line == number ? &s->lines[(*at)++] : NULL;
    ntr_out_format(out, "[%u,", (unsigned)number);
    if (size > NTR_REPORT_LINE) size = NTR_REPORT_LINE;
    if (text)
        ntr_out_json_bytes(out, text, size);
    else
        ntr_out_text(out, "null");
    s->left -= size < s->left ? size : s->left;
    if (line) {
        if (line->known)
            ntr_out_format(out, ",%llu", (unsigned long long)line->count);
        else
            ntr_out_text(out, ",-1");
        ntr_out_format(out, ",%llu", (unsigned long long)instructions_of(s, f, row, number));
        if (line->branches) write_branches(s, line);
    }
    ntr_out_char(out, ']');
}

static bool near_code(const source_section *s, const source_file *f, size_t at, uint32_t number) {
    if (at < f->line_end && s->lines[at].line <= number + AROUND) return true;
    return at > f->line && s->lines[at - 1].line + AROUND >= number;
}

static size_t line_size(const char *text, const char *end) {
    const char *feed = memchr(text, '\n', (size_t)(end - text));
    return (size_t)((feed ? feed : end) - text);
}

static void write_text(source_section *s, const source_file *f, ntr_bytes bytes) {
    const char *text = (const char *)bytes.data, *end = text + bytes.size, *comma = "";
    size_t at = f->line, row = f->row;
    for (uint32_t number = 1; text < end; number++) {
        size_t size = line_size(text, end), shown = size && text[size - 1] == '\r' ? size - 1 : size;
        while (at < f->line_end && s->lines[at].line < number) at++;
        if (near_code(s, f, at, number)) {
            ntr_out_text(&s->x->out, comma);
            write_line(s, f, number, text, shown, &at, &row);
            comma = ",\n";
        }
        text += size + 1 <= (size_t)(end - text) ? size + 1 : size;
    }
}

/* A file without available text is listed with its counts. */
static void write_counts(source_section *s, const source_file *f) {
    size_t row = f->row;
    for (size_t at = f->line; at < f->line_end;) {
        if (at > f->line) ntr_out_text(&s->x->out, ",\n");
        write_line(s, f, s->lines[at].line, NULL, 0, &at, &row);
        s->left -= s->left < 20 ? s->left : 20;
    }
}

static bool read_text(const ntr_export *x, const char *name, ntr_bytes *text) {
    return x->analysis.read_source && x->analysis.read_source(x->analysis.read_source_user, name, text);
}

/* [name, instructions, [lines, hit, unknown], [outcomes, hit], text?, lines or null when the limit was reached] */
static void write_file(source_section *s, const source_file *f) {
    const struct ntr_report *r = s->x->state;
    ntr_out *out = &s->x->out;
    ntr_cover_sums sums;
    ntr_bytes text = {0};
    bool found = f->instructions && s->left && read_text(s->x, f->name, &text);
    ntr_coverage_sums(r->coverage, f->name, &sums);
    ntr_out_char(out, '[');
    ntr_out_json(out, f->name);
    ntr_out_format(out, ",%llu,[%llu,%llu,%llu],[%llu,%llu],%d,", (unsigned long long)f->instructions,
                   (unsigned long long)sums.lines, (unsigned long long)sums.lines_hit,
                   (unsigned long long)sums.lines_unknown, (unsigned long long)sums.branches,
                   (unsigned long long)sums.branches_hit, found);
    if (f->instructions && s->left) {
        ntr_out_char(out, '[');
        if (found)
            write_text(s, f, text);
        else
            write_counts(s, f);
        ntr_out_text(out, "]]");
    } else {
        ntr_out_text(out, "null]");
    }
}

ntr_status ntr_report_source(ntr_export *x) {
    source_section s = {.x = x, .left = NTR_REPORT_SOURCE};
    ntr_status status = gather(&s);
    ntr_cover_sums sums;
    const struct ntr_report *r = x->state;
    ntr_coverage_sums(r->coverage, NULL, &sums);
    ntr_out_format(&x->out, "{\"count\":%llu,\"rule\":\"%s\",\"by_code\":%llu,\"files\":[",
                   (unsigned long long)s.file_count, ntr_cover_rule_name(r->coverage),
                   (unsigned long long)ntr_cover_by_code(&sums));
    for (size_t i = 0; !status && i < s.file_count && i < NTR_REPORT_FILES; i++) {
        if (i) ntr_out_text(&x->out, ",\n");
        write_file(&s, &s.files[i]);
    }
    ntr_out_text(&x->out, "]}");
    ntr_dealloc(x->allocator, s.files);
    ntr_profile_release(&s.profile);
    return status;
}
