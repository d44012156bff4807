/* Pre-aggregated profile of BOLT: perf2bolt -p F -pa. B is a taken branch, F a fall-through range entered from the same
 * binary, f one entered from outside. LLVM 19 supports no other record. */
#include "export/ranges.h"

static void record(ntr_out *out, char kind, const ntr_range *range) {
    ntr_out_char(out, kind);
    ntr_out_char(out, ' ');
    ntr_out_hex(out, range->from);
    ntr_out_char(out, ' ');
    ntr_out_hex(out, range->to);
    ntr_out_char(out, ' ');
    ntr_out_dec(out, range->count);
    ntr_out_text(out, kind == 'B' ? " 0\n" : "\n");
}

static ntr_status end(ntr_export *x) {
    ntr_ranges ranges;
    ntr_status status = ntr_ranges_make(&ranges, x);
    if (status) return status;
    for (size_t i = 0; i < ranges.branch_count; i++) record(&x->out, 'B', &ranges.branches[i]);
    for (size_t i = 0; i < ranges.run_count; i++) record(&x->out, 'F', &ranges.runs[i]);
    ntr_ranges_release(&ranges);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_bolt = {
    .name = "bolt",
    .family = "export",
    .summary = "BOLT pre-aggregated profile (perf2bolt -pa)",
    .aliases = {"perf2bolt"},
    .needs = NTR_NEEDS_TALLY | NTR_NEEDS_IMAGE,
    .end = end,
};
