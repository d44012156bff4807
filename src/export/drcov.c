/* drcov version 2: a text header, then a binary table of executed ranges. */
#include "export/ranges.h"

#include <string.h>

enum { RUN_BYTES_MAX = 0xfffe };

static void entry(ntr_out *out, uint64_t start, uint64_t size) {
    const uint8_t bytes[8] = {
        (uint8_t)start,
        (uint8_t)(start >> 8),
        (uint8_t)(start >> 16),
        (uint8_t)(start >> 24),
        (uint8_t)size,
        (uint8_t)(size >> 8),
        0,
        0, /* module 0 */
    };
    ntr_out_bytes(out, bytes, sizeof bytes);
}

/* Returns the size of a run in bytes, including its last instruction. */
static uint64_t run_size(const ntr_export *x, const ntr_range *run) {
    ntr_insn insn;
    uint64_t last = run->to + x->image.bias;
    unsigned size =
        ntr_program_insn(x->analysis.program, ntr_program_image_place(x->analysis.program, x->image_number, last),
                         &insn) == NTR_OK
            ? insn.size
            : 2;
    return run->to - run->from + size;
}

/* Calls `visit` (unless NULL) for each table entry. Returns the number of entries. */
static uint64_t each_entry(ntr_export *x, const ntr_ranges *ranges, void (*visit)(ntr_out *, uint64_t, uint64_t)) {
    uint64_t count = 0, base = x->image.low - x->image.bias;
    for (size_t i = 0; i < ranges->run_count; i++) {
        uint64_t start = ranges->runs[i].from - base, size = run_size(x, &ranges->runs[i]);
        for (; size && start <= UINT32_MAX; count++) {
            uint64_t part = size < RUN_BYTES_MAX ? size : RUN_BYTES_MAX;
            if (visit) visit(&x->out, start, part);
            start += part;
            size -= part;
        }
    }
    return count;
}

static ntr_status end(ntr_export *x) {
    ntr_ranges ranges;
    ntr_status status = ntr_ranges_make(&ranges, x);
    if (status) return status;
    ntr_out_text(&x->out, "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\nModule Table: version 2, count 1\n"
                          "Columns: id, base, end, entry, path\n");
    ntr_out_format(&x->out, "  0, 0x%016llx, 0x%016llx, 0x%016llx, ", (unsigned long long)x->image.low,
                   (unsigned long long)x->image.high, 0ULL);
    ntr_out_line(&x->out, x->image.path ? x->image.path : x->image.name);
    ntr_out_format(&x->out, "\nBB Table: %llu bbs\n", (unsigned long long)each_entry(x, &ranges, NULL));
    each_entry(x, &ranges, entry);
    ntr_ranges_release(&ranges);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_drcov = {
    .name = "drcov",
    .family = "export",
    .summary = "drcov version 2 (Lighthouse, bncov)",
    .needs = NTR_NEEDS_TALLY | NTR_NEEDS_IMAGE,
    .end = end,
};
