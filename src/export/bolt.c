/* Pre-aggregated profile of BOLT: perf2bolt -p F -pa. B is a taken branch, F a fall-through range entered from the same
 * binary, f one entered from outside. LLVM 19 supports no other record. Ranges in entries of the procedure linkage
 * table are left out: BOLT has no function there, and counts them as ranges that do not match.
 *
 * Addresses in a library have its build id in front: newer versions of perf2bolt use only those that have the id of
 * their file. LLVM 19 reads the id and ignores it. Addresses in a program have none. */
#include "export/ranges.h"

#include "base/allocator.h"
#include "program/build_id.h"

#include <string.h>

static void address(ntr_out *out, const char *id, uint64_t value) {
    if (id && value) { /* 0 is in another file */
        ntr_out_text(out, id);
        ntr_out_char(out, ':');
    }
    ntr_out_hex(out, value);
    ntr_out_char(out, ' ');
}

static void record(ntr_out *out, const char *id, char kind, const ntr_range *range) {
    ntr_out_char(out, kind);
    ntr_out_char(out, ' ');
    address(out, id, range->from);
    address(out, id, range->to);
    ntr_out_dec(out, range->count);
    ntr_out_text(out, kind == 'B' ? " 0\n" : "\n");
}

/* Returns whether the run is of a function of the file, not of an entry or the header of its linkage table. */
static bool is_of_function(const ntr_export *x, const ntr_range *run) {
    static const char suffix[] = "@plt"; /* of names that the program gives to such entries */
    const ntr_place place = ntr_program_image_place(x->analysis.program, x->image_number, run->from + x->image.bias);
    const uint32_t number = ntr_functions_at(x->analysis.functions, place);
    const ntr_function *function = number == UINT32_MAX ? NULL : ntr_functions_get(x->analysis.functions, number);
    if (!function || !function->linkage) return false;
    const size_t size = strlen(function->name), end = sizeof suffix - 1;
    return size < end || strcmp(function->name + size - end, suffix) != 0;
}

static ntr_status end(ntr_export *x) {
    ntr_ranges ranges;
    ntr_status status = ntr_ranges_make(&ranges, x);
    if (status) return status;
    char *id = NULL;
    status = x->image.path ? ntr_build_id_of_shared(x->allocator, x->image.path, &id) : NTR_OK;
    for (size_t i = 0; !status && i < ranges.branch_count; i++) record(&x->out, id, 'B', &ranges.branches[i]);
    for (size_t i = 0; !status && i < ranges.run_count; i++)
        if (is_of_function(x, &ranges.runs[i])) record(&x->out, id, 'F', &ranges.runs[i]);
    ntr_dealloc(x->allocator, id);
    ntr_ranges_release(&ranges);
    return status;
}

const ntr_exporter ntr_exporter_bolt = {
    .name = "bolt",
    .family = "export",
    .summary = "BOLT pre-aggregated profile (perf2bolt -pa)",
    .aliases = {"perf2bolt"},
    .needs = NTR_NEEDS_TALLY | NTR_NEEDS_IMAGE,
    .end = end,
};
