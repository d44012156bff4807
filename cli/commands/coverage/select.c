/* Which lines count: not those that comments exclude, and with --since only those of the patch. */
#include "commands/coverage/select.h"
#include "commands/coverage/markers.h"
#include "commands/coverage/patch.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line_judge {
    struct coverage_run *run;
    struct cli_markers markers; /* of `file` */
    const char *file;           /* the last file */
    uint64_t files;             /* that have marks */
    bool marked;                /* `file` is counted in `files` */

    struct cli_patch_file *changes; /* of `file`; NULL: it was not changed */
};

static void enter_file(struct line_judge *j, const char *file) {
    struct cli_markers *markers = &j->markers;
    ntr_bytes text;

    j->file = file;
    j->marked = false;
    markers->count = 0;
    if (j->run->options->no_markers || !cli_source_text_read(&j->run->source, file, &text) ||
        cli_markers_read(markers, text) != CLI_OK || !cli_first_time("markers", file))
        return;
    if (markers->open)
        cli_note("%s:%u: a section of excluded lines begins here and has no end; it ends with the file", file,
                 markers->open);
    if (markers->nested)
        cli_note("%s:%u: a section of excluded lines begins inside of another one; both end at the first end", file,
                 markers->nested);
    if (markers->alone)
        cli_note("%s:%u: a section of excluded lines ends here and has no beginning", file, markers->alone);
}

/* Removes what comments exclude. */
static unsigned judge_marks(void *user, const char *file, uint32_t line) {
    struct line_judge *j = user;

    if (file != j->file) enter_file(j, file);
    const unsigned marks = cli_markers_of(&j->markers, line);
    if (marks && !j->marked) j->files += cli_first_time("marked", file);
    j->marked |= marks != 0;
    return (marks & (CLI_MARK_LINE | CLI_MARK_UNREACHABLE) ? NTR_COVER_REMOVE_LINE : 0) |
           (marks & CLI_MARK_BRANCHES ? NTR_COVER_REMOVE_BRANCHES : 0);
}

/* Reports lines that are said to be unreachable and were executed. */
static void report_reached(struct line_judge *j) {
    size_t count, reached = 0, first = 0;
    const ntr_cover_line *lines = ntr_coverage_lines(j->run->coverage, &count);

    for (size_t i = 0; i < count; i++) {
        if (lines[i].file != j->file) enter_file(j, lines[i].file);
        if (!lines[i].count || !(cli_markers_of(&j->markers, lines[i].line) & CLI_MARK_UNREACHABLE)) continue;
        if (!reached++) first = i;
    }
    if (reached)
        cli_doubt("%s:%" PRIu32 ": LCOV_UNREACHABLE_*: expected no execution, found %" PRIu64
                  "; lines of this kind: %zu",
                  lines[first].file, lines[first].line, lines[first].count, reached);
}

static void enter_changes(struct line_judge *j, const char *file) {
    char buffer[PATH_MAX];
    const struct cli_patch *patch = &j->run->patch;
    const char *path = cli_patch_path(patch, j->file = file, buffer, sizeof buffer);

    j->changes = path ? cli_patch_find(patch, path) : NULL;
    if (j->changes) j->changes->used = true;
}

/* Removes what is not of the patch. */
static unsigned judge_patch(void *user, const char *file, uint32_t line) {
    struct line_judge *j = user;

    if (file != j->file) enter_changes(j, file);
    return j->changes && cli_patch_has(&j->run->patch, j->changes, line) ? 0 : NTR_COVER_REMOVE_LINE;
}

/* Names sources of the program that git does not compare. */
static void report_untracked(const struct cli_patch *patch, const char *const *files, size_t count) {
    char buffer[PATH_MAX], first[PATH_MAX] = "";
    size_t untracked = 0;

    for (size_t i = 0; i < count; i++) {
        const char *path = cli_patch_path(patch, files[i], buffer, sizeof buffer);
        if (path && cli_patch_untracked(patch, path) && !untracked++) snprintf(first, sizeof first, "%s", path);
    }
    if (untracked)
        cli_note("--since: git does not know %zu sources of the program, the first %s; their lines are not part of the "
                 "change ('git add -N' adds them)",
                 untracked, first);
}

static int place_patch(struct coverage_run *run) {
    size_t count, files = 0;
    const ntr_cover_line *lines = ntr_coverage_lines(run->coverage, &count);
    const char **names = calloc(count + 1, sizeof *names);

    if (!names) return cli_fail("out of memory");
    for (size_t i = 0; i < count; i++)
        if (!files || names[files - 1] != lines[i].file) names[files++] = lines[i].file;
    const int status = cli_patch_place(&run->patch, names, files);
    report_untracked(&run->patch, names, files);
    free(names);
    return status;
}

/* Removes all lines that are not of the patch. What git does not compare is named. */
static int select_patch(struct coverage_run *run) {
    struct line_judge patch = {.run = run};
    ntr_cover_sums others = {0};
    const int status = place_patch(run);

    if (status == CLI_FAILED) return CLI_FAILED;
    const ntr_status removed = ntr_coverage_remove(run->coverage, judge_patch, &patch, &others);
    if (removed != NTR_OK) return cli_fail("%s", ntr_status_text(removed));
    for (size_t i = 0; i < run->patch.file_count; i++)
        if (run->patch.files[i].module && run->patch.files[i].used)
            cli_note("--since: the submodule %s was changed; its lines are not part of the change",
                     run->patch.files[i].path);
    return status;
}

int cli_coverage_select(struct coverage_run *run, int status) {
    struct line_judge marks = {.run = run};
    ntr_cover_sums hidden = {0};
    ntr_status removed = NTR_OK;

    if (run->options->since) {
        const int selected = select_patch(run);
        if (selected != CLI_OK) status = selected;
    }
    if (status != CLI_FAILED && !run->options->evidence) report_reached(&marks);
    if (status != CLI_FAILED && !run->options->evidence)
        removed = ntr_coverage_remove(run->coverage, judge_marks, &marks, &hidden);
    cli_markers_release(&marks.markers);
    if (removed != NTR_OK) return cli_fail("%s", ntr_status_text(removed));
    if (hidden.lines || hidden.branches)
        cli_note("comments in %" PRIu64 " files (LCOV_EXCL_LINE and others) exclude %" PRIu64 " lines, %" PRIu64
                 " of them not executed, %" PRIu64 " branch outcomes and %" PRIu64
                 " functions; --no-markers counts them",
                 marks.files, hidden.lines, hidden.lines - hidden.lines_hit, hidden.branches, hidden.functions);
    return status;
}

/* ---- annotations -------------------------------------------------------------------------------- */

/* Lines of code in a row that were not executed. */
struct missed {
    const char *path; /* in the repository */
    uint32_t first, last;
    bool known;
};

static void write_missed(struct cli_output *out, const struct missed *m, int format, bool first) {
    const char *what =
        m->known ? "not executed" : "perhaps not executed: the trace has gaps, or the compiler has computed calls";
    char text[120];

    if (m->first == m->last)
        snprintf(text, sizeof text, "line %" PRIu32 " was %s", m->first, what);
    else
        snprintf(text, sizeof text, "lines %" PRIu32 " to %" PRIu32 " were %s", m->first, m->last, what);
    if (format == FORMAT_GITHUB) {
        cli_output_print(out, "::warning file=");
        for (const char *c = m->path; *c; c++) /* properties of a command */
            if (strchr("%\r\n:,", *c))
                cli_output_print(out, "%%%02X", (unsigned char)*c);
            else
                cli_output_write(out, c, 1);
        cli_output_print(out, ",line=%" PRIu32 ",endLine=%" PRIu32 ",title=Coverage::%s\n", m->first, m->last, text);
        return;
    }
    if (format == FORMAT_TEXT) {
        cli_output_source(out, m->path, m->first);
        cli_output_print(out, ": %s\n", text);
        return;
    }
    uint64_t print = UINT64_C(0xcbf29ce484222325);
    for (const char *c = m->path; *c; c++) print = (print ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    cli_output_print(out,
                     "%s{\"description\":\"Coverage: %s\",\"check_name\":\"coverage\",\"fingerprint\":\"%016" PRIx64
                     "%08" PRIx32 "%08" PRIx32 "\",\"severity\":\"minor\",\"location\":{\"path\":",
                     first ? "\n" : ",\n", text, print, m->first, m->last);
    cli_output_json(out, m->path);
    cli_output_print(out, ",\"lines\":{\"begin\":%" PRIu32 ",\"end\":%" PRIu32 "}}}", m->first, m->last);
}

static void write_all_missed(struct coverage_run *run, struct cli_output *out, int format) {
    size_t count;
    const ntr_cover_line *lines = ntr_coverage_lines(run->coverage, &count);
    bool first = true;
    char buffer[PATH_MAX];

    for (size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        if (lines[i].count) continue;
        while (next < count && !lines[next].count && lines[next].file == lines[i].file &&
               lines[next].known == lines[i].known && lines[next].line == lines[next - 1].line + 1)
            next++;
        const struct missed missed = {cli_patch_path(&run->patch, lines[i].file, buffer, sizeof buffer), lines[i].line,
                                      lines[next - 1].line, lines[i].known};
        if (!missed.path) continue;
        write_missed(out, &missed, format, first);
        first = false;
    }
}

int cli_coverage_annotate(struct coverage_run *run, const char *path, int format, int status) {
    struct cli_output out;
    ntr_cover_sums sums;

    if (cli_output_open(&out, path) != CLI_OK) return CLI_FAILED;
    if (format == FORMAT_GITLAB) cli_output_text(&out, "[");
    write_all_missed(run, &out, format);
    if (format == FORMAT_GITLAB) cli_output_text(&out, "\n]\n");
    ntr_coverage_sums(run->coverage, NULL, &sums);
    if (format == FORMAT_TEXT && sums.lines)
        cli_output_print(
            &out, "patch since %s: %" PRIu64 " of %" PRIu64 " changed lines with code were executed, %.2f %%\n",
            run->options->since, sums.lines_hit, sums.lines, 100.0 * (double)sums.lines_hit / (double)sums.lines);
    if (format == FORMAT_TEXT && !sums.lines)
        cli_output_print(&out, "patch since %s: no changed line has code\n", run->options->since);
    return cli_output_close(&out, status);
}
