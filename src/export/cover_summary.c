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

/* Says by which rule lines are counted, if it is not gcov's alone, and what llvm-cov may count otherwise. */
static void write_rule(ntr_export *x, const ntr_cover_sums *sums) {
    const uint64_t *functions = sums->by_source;
    if (!(ntr_coverage_rules(x->analysis.coverage) & 1u << NTR_COVER_RULE_LLVM)) return;
    ntr_out_format(&x->out, "lines are counted by the rule of %s\n", ntr_cover_rule_name(x->analysis.coverage));
    if (!ntr_cover_by_code(sums)) return;
    ntr_out_format(&x->out,
                   "functions whose lines are counted by their code alone, which llvm-cov counts by the source: %llu "
                   "(optimized %llu, source unknown %llu, not understood %llu)\n",
                   (unsigned long long)ntr_cover_by_code(sums),
                   (unsigned long long)functions[NTR_COVER_SOURCE_OPTIMIZED],
                   (unsigned long long)functions[NTR_COVER_SOURCE_UNKNOWN],
                   (unsigned long long)functions[NTR_COVER_SOURCE_NOT_UNDERSTOOD]);
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
    write_rule(x, &sums);
    if (gaps)
        ntr_out_format(&x->out, "%llu gaps in the trace: the lines under \"unknown\" may have been executed\n",
                       (unsigned long long)gaps);
    else if (sums.lines_unknown)
        ntr_out_text(&x->out,
                     "the lines under \"unknown\" may have been executed: the compiler may have computed or left "
                     "out the calls of their function, or the jump that they are\n");
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
