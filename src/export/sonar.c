/* Generic coverage of SonarQube (sonar.coverageReportPaths). Lines that a gap may hide are omitted. */
#include "export/cover_files.h"

static void write_line(ntr_out *out, const ntr_cover_line *line, const ntr_cover_branch *branches) {
    ntr_out_format(out, "<lineToCover lineNumber=\"%u\" covered=\"%s\"", line->line, line->count ? "true" : "false");
    if (line->branches) {
        size_t covered = 0;
        for (size_t i = 0; i < line->branches; i++) {
            const ntr_cover_branch *branch = &branches[line->first_branch + i];
            covered += (size_t)(branch->taken != 0) + (branch->not_taken != 0);
        }
        ntr_out_format(out, " branchesToCover=\"%zu\" coveredBranches=\"%zu\"", 2 * line->branches, covered);
    }
    ntr_out_text(out, "/>\n");
}

static ntr_status end(ntr_export *x) {
    const ntr_cover_root root = ntr_cover_find_root(x);
    ntr_out_text(&x->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<coverage version=\"1\">\n");
    for (ntr_cover_part part = {0}; ntr_cover_next_part(x->analysis.coverage, &part);) {
        ntr_out_text(&x->out, "<file path=\"");
        ntr_out_xml(&x->out, ntr_cover_relative(&root, part.file));
        ntr_out_text(&x->out, "\">\n");
        for (size_t i = part.first_line; i < part.last_line; i++)
            if (part.lines[i].known && part.lines[i].line) write_line(&x->out, &part.lines[i], part.branches);
        ntr_out_text(&x->out, "</file>\n");
    }
    ntr_out_text(&x->out, "</coverage>\n");
    return NTR_OK;
}

const ntr_exporter ntr_exporter_sonar = {
    .name = "sonarqube",
    .family = "coverage",
    .summary = "generic coverage XML of SonarQube",
    .aliases = {"sonar"},
    .needs = NTR_NEEDS_COVERAGE,
    .end = end,
};
