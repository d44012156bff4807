/* drcov version 2: a text header, then a binary table of executed ranges. A module is an ELF file whose code was
 * executed; a file that is loaded at several addresses is one module, with the first one as its base. */
#include "export/ranges.h"

#include "base/allocator.h"

#include <string.h>

enum { RUN_BYTES_MAX = 0xfffe, MODULES_MAX = 0xffff };

typedef struct drcov_module {
    ntr_image_info image;
    size_t number; /* of the image */
    ntr_ranges ranges;
} drcov_module;

typedef struct drcov_writer {
    ntr_export *x;
    drcov_module *modules;
    size_t count, capacity;
} drcov_writer;

static void entry(ntr_out *out, uint64_t start, uint64_t size, size_t module) {
    const uint8_t bytes[8] = {
        (uint8_t)start, (uint8_t)(start >> 8), (uint8_t)(start >> 16), (uint8_t)(start >> 24),
        (uint8_t)size,  (uint8_t)(size >> 8),  (uint8_t)module,        (uint8_t)(module >> 8),
    };
    ntr_out_bytes(out, bytes, sizeof bytes);
}

/* Returns the size of a run in bytes, including its last instruction. */
static uint64_t run_size(const ntr_export *x, const drcov_module *module, const ntr_range *run) {
    ntr_insn insn;
    const ntr_place last = ntr_program_image_place(x->analysis.program, module->number, run->to + module->image.bias);
    const unsigned size = ntr_program_insn(x->analysis.program, last, &insn) == NTR_OK ? insn.size : 2;
    return run->to - run->from + size;
}

/* Writes the table entries of a module if `writes`. Returns their number. */
static uint64_t each_entry(ntr_export *x, const drcov_module *module, size_t id, bool writes) {
    uint64_t count = 0, base = module->image.low - module->image.bias;
    for (size_t i = 0; i < module->ranges.run_count; i++) {
        const ntr_range *run = &module->ranges.runs[i];
        uint64_t start = run->from - base, size = run_size(x, module, run);
        for (; size && start <= UINT32_MAX; count++) {
            const uint64_t part = size < RUN_BYTES_MAX ? size : RUN_BYTES_MAX;
            if (writes) entry(&x->out, start, part, id);
            start += part;
            size -= part;
        }
    }
    return count;
}

static bool is_listed(const drcov_writer *w, const char *path) {
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->modules[i].image.path, path) == 0) return true;
    return false;
}

/* Adds the file of an image, if it is a new one, with what was executed of it. */
static ntr_status add_module(drcov_writer *w, const ntr_image_info *image, size_t number) {
    ntr_export *x = w->x;
    if (is_listed(w, image->path)) return NTR_OK;
    if (w->count == MODULES_MAX) return NTR_E_LIMIT;
    if (ntr_reserve(x->allocator, (void **)&w->modules, &w->capacity, w->count + 1, sizeof *w->modules))
        return NTR_E_MEMORY;
    drcov_module *module = &w->modules[w->count];
    *module = (drcov_module){.image = *image, .number = number};
    x->image = *image; /* what ntr_ranges_make computes */
    x->image_number = number;
    const ntr_status status = ntr_ranges_make(&module->ranges, x);
    if (status) return status;
    if (module->ranges.run_count || x->analysis.has_image)
        w->count++;
    else
        ntr_ranges_release(&module->ranges);
    return NTR_OK;
}

/* Marks the images with executed code: a machine can have many without. */
static bool *executed_images(const ntr_export *x) {
    ntr_image_info image;
    size_t images = 0, count, number;
    while (ntr_program_image(x->analysis.program, images, &image) == NTR_OK) images++;
    bool *executed = ntr_alloc(x->allocator, images + 1, sizeof *executed);
    const ntr_tally_row *rows = ntr_tally_rows(x->analysis.tally, &count);
    for (size_t i = 0; executed && i < count; i++) {
        const ntr_place place = ntr_tally_row_place(x->analysis.tally, &rows[i], rows[i].address);
        if (rows[i].instructions && ntr_program_image_at(x->analysis.program, place, &number) == NTR_OK)
            executed[number] = true;
    }
    return executed;
}

static ntr_status collect(drcov_writer *w) {
    ntr_export *x = w->x;
    ntr_image_info image;
    ntr_status status = NTR_OK;
    if (x->analysis.has_image) {
        image = x->image;
        return image.path ? add_module(w, &image, x->image_number) : NTR_E_NO_IMAGE;
    }
    bool *executed = executed_images(x);
    if (!executed) return NTR_E_MEMORY;
    for (size_t i = 0; !status && ntr_program_image(x->analysis.program, i, &image) == NTR_OK; i++)
        if (image.path && executed[i]) status = add_module(w, &image, i);
    ntr_dealloc(x->allocator, executed);
    return status;
}

static void write_file(const drcov_writer *w) {
    ntr_out *out = &w->x->out;
    uint64_t entries = 0;
    ntr_out_text(out, "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\n");
    ntr_out_format(out, "Module Table: version 2, count %zu\nColumns: id, base, end, entry, path\n", w->count);
    for (size_t i = 0; i < w->count; i++) {
        const ntr_image_info *image = &w->modules[i].image;
        ntr_out_format(out, "%3zu, 0x%016llx, 0x%016llx, 0x%016llx, ", i, (unsigned long long)image->low,
                       (unsigned long long)image->high, 0ULL);
        ntr_out_line(out, image->path);
        ntr_out_char(out, '\n');
        entries += each_entry(w->x, &w->modules[i], i, false);
    }
    ntr_out_format(out, "BB Table: %llu bbs\n", (unsigned long long)entries);
    for (size_t i = 0; i < w->count; i++) (void)each_entry(w->x, &w->modules[i], i, true);
}

static ntr_status end(ntr_export *x) {
    drcov_writer w = {.x = x};
    const ntr_status status = collect(&w);
    if (!status) write_file(&w);
    for (size_t i = 0; i < w.count; i++) ntr_ranges_release(&w.modules[i].ranges);
    ntr_dealloc(x->allocator, w.modules);
    return status;
}

const ntr_exporter ntr_exporter_drcov = {
    .name = "drcov",
    .family = "export",
    .summary = "drcov version 2 (Lighthouse, bncov)",
    .needs = NTR_NEEDS_TALLY | NTR_NEEDS_IMAGE,
    .end = end,
};
