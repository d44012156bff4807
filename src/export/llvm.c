/* llvm-profgen --unsymbolized-profile=F --use-offset=0: executed ranges, then taken branches, at linked addresses
 * (section "unsymbolized profile" of its documentation). */
#include "export/ranges.h"

static void write_range(ntr_out *out, const ntr_range *range, const char *arrow) {
    ntr_out_hex(out, range->from);
    ntr_out_text(out, arrow);
    ntr_out_hex(out, range->to);
    ntr_out_char(out, ':');
    ntr_out_dec(out, range->count);
    ntr_out_char(out, '\n');
}

static void write_section(ntr_out *out, const ntr_range *ranges, size_t count, const char *arrow) {
    ntr_out_dec(out, count);
    ntr_out_char(out, '\n');
    for (size_t i = 0; i < count; i++) write_range(out, &ranges[i], arrow);
}

static ntr_status end(ntr_export *x) {
    ntr_ranges ranges;
    ntr_status status = ntr_ranges_make(&ranges, x);
    if (status) return status;
    write_section(&x->out, ranges.runs, ranges.run_count, "-");
    write_section(&x->out, ranges.branches, ranges.branch_count, "->");
    ntr_ranges_release(&ranges);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_llvm = {
    .name = "llvm-unsymbolized",
    .family = "export",
    .summary = "llvm-profgen --unsymbolized-profile (with --use-offset=0)",
    .aliases = {"llvm", "unsymbolized"},
    .needs = NTR_NEEDS_TALLY | NTR_NEEDS_IMAGE,
    .end = end,
};

/* AutoFDO's text format is the same with a section of plain samples in between. Its addresses are relative to the first
 * loadable segment. */
static ntr_status autofdo_end(ntr_export *x) {
    ntr_ranges ranges;
    ntr_status status = ntr_ranges_make(&ranges, x);
    if (status) return status;
    uint64_t base = x->image.low - x->image.bias;
    for (size_t i = 0; i < ranges.run_count; i++) {
        ranges.runs[i].from -= base;
        ranges.runs[i].to -= base;
    }
    for (size_t i = 0; i < ranges.branch_count; i++) {
        if (ranges.branches[i].from) ranges.branches[i].from -= base;
        if (ranges.branches[i].to) ranges.branches[i].to -= base;
    }
    write_section(&x->out, ranges.runs, ranges.run_count, "-");
    ntr_out_text(&x->out, "0\n");
    write_section(&x->out, ranges.branches, ranges.branch_count, "->");
    ntr_ranges_release(&ranges);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_autofdo = {
    .name = "autofdo",
    .family = "export",
    .summary = "AutoFDO text profile (create_llvm_prof, create_gcov --profiler=text)",
    .needs = NTR_NEEDS_TALLY | NTR_NEEDS_IMAGE,
    .end = autofdo_end,
};
