/* Coverage as a table: one row per file, then the total. */
#include "export/cover_files.h"

static void write_part(ntr_out *out, uint64_t hit, uint64_t total) {
    if (total == 0)
        ntr_out_format(out, "%22s", "-");
    else
        ntr_out_format(out, "  %6.2f %% %5llu/%-5llu", 100.0 * (double)hit / (double)total, (unsigned long long)hit,
                       (unsigned long long)total);
}

static void write_row(ntr_out *out, const ntr_cover_sums *sums, const char *name) {
    write_part(out, sums->lines_hit, sums->lines);
    write_part(out, sums->branches_hit, sums->branches);
    write_part(out, sums->functions_hit, sums->functions);
    if (sums->lines_unknown)
        ntr_out_format(out, " %8llu", (unsigned long long)sums->lines_unknown);
    else
        ntr_out_format(out, " %8s", "-");
    ntr_out_text(out, "  ");
    ntr_out_shown(out, name);
    ntr_out_char(out, '\n');
}

static ntr_status end(ntr_export *x) {
    ntr_coverage *coverage = x->analysis.coverage;
    ntr_cover_sums sums;
    const char *file;
    uint64_t gaps = ntr_coverage_gaps(coverage);
    ntr_out_format(&x->out, "%22s%22s%22s %8s  %s\n", "lines", "branches", "functions", "unknown", "file");
    for (size_t at = 0; (file = ntr_cover_next_file(coverage, &at));) {
        ntr_coverage_sums(coverage, file, &sums);
        write_row(&x->out, &sums, file);
    }
    ntr_coverage_sums(coverage, NULL, &sums);
    write_row(&x->out, &sums, "total");
    if (ntr_coverage_rules(coverage) & 1u << NTR_COVER_RULE_LLVM)
        ntr_out_format(&x->out, "lines are counted by the rule of %s\n", ntr_cover_rule_name(coverage));
    if (gaps)
        ntr_out_format(&x->out, "%llu gaps in the trace: the lines under \"unknown\" may have been executed\n",
                       (unsigned long long)gaps);
    else if (sums.lines_unknown)
        ntr_out_text(&x->out, "the lines under \"unknown\" are of functions that were not executed, and whose calls "
                              "the compiler may have computed or left out\n");
    return NTR_OK;
}

const ntr_exporter ntr_exporter_cover_summary = {
    .name = "summary",
    .family = "coverage",
    .summary = "a table with one row per file",
    .aliases = {"text"},
    .needs = NTR_NEEDS_COVERAGE,
    .end = end,
};
