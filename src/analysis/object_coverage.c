#include "analysis/object_run.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"

ntr_status ntr_object_coverage_new(const ntr_allocator *allocator, ntr_object_coverage **out) {
    *out = NULL;
    ntr_object_coverage *c = ntr_alloc(allocator, 1, sizeof *c);
    if (!c) return NTR_E_MEMORY;
    c->allocator = allocator;
    c->texts.allocator = allocator;
    c->versions.allocator = allocator;
    *out = c;
    return NTR_OK;
}

void ntr_object_coverage_free(ntr_object_coverage *c) {
    if (!c) return;
    ntr_texts_release(&c->texts);
    ntr_dealloc(c->allocator, c->functions);
    ntr_dealloc(c->allocator, c->insns);
    ntr_dealloc(c->allocator, c->targets);
    ntr_dealloc(c->allocator, c->listed);
    ntr_code_versions_release(&c->versions);
    ntr_dealloc(c->allocator, c);
}

void ntr_object_coverage_only(ntr_object_coverage *c, const char *const *only, size_t count) {
    c->only = only;
    c->only_count = count;
}

static ntr_status make_list(ntr_object_coverage *c) {
    ntr_dealloc(c->allocator, c->listed);
    c->listed = ntr_alloc(c->allocator, c->function_count + 1, sizeof *c->listed);
    if (!c->listed) return NTR_E_MEMORY;
    for (size_t i = 0; i < c->function_count; i++) c->listed[i] = c->functions[i].shown;
    return NTR_OK;
}

/* Returns whether the code of another image is found in the whole place of this one: it was given twice, by its bundle
 * and by -e. */
static bool is_hidden(const ntr_program *program, size_t index, const ntr_image_info *info) {
    ntr_image_info other;
    size_t found;
    if (ntr_program_image_at(program, ntr_program_image_place(program, index, info->low), &found) != NTR_OK ||
        found == index)
        return false;
    return ntr_program_image(program, found, &other) == NTR_OK && other.path && other.low == info->low &&
           other.high == info->high;
}

static ntr_status add_code(ntr_object_run *r, ntr_tally *tally, size_t index, const ntr_image_info *info) {
    r->bias = info->bias;
    r->index = index;
    r->image = ntr_texts_keep(&r->coverage->texts, info->name);
    if (!r->image) return NTR_E_MEMORY;
    TRY(ntr_debug_info_lines(r->debug, index, &r->rows, &r->row_count));
    TRY(ntr_object_run_functions(r, index));
    TRY(ntr_object_run_routines(r));
    return ntr_object_run_targets(r, tally, info->low, info->high);
}

static ntr_status add_image(ntr_object_run *r, ntr_tally *tally, size_t index) {
    ntr_image_info info;
    TRY(ntr_program_image(r->program, index, &info));
    if (!info.path || r->first_image[index] != index || is_hidden(r->program, index, &info)) return NTR_OK;
    TRY(ntr_object_code_open(&r->code, &info, r->coverage->allocator));
    ntr_status status = add_code(r, tally, index, &info);
    ntr_object_code_close(&r->code);
    return status;
}

ntr_status ntr_object_coverage_add(ntr_object_coverage *c, const ntr_program *program, ntr_debug_info *debug,
                                   ntr_tally *tally) {
    ntr_object_run r = {
        .coverage = c, .program = program, .debug = debug, .tally = tally, .code = {.program = program}};
    ntr_insn_count *counts;
    uint32_t *first_image = ntr_program_first_images(program, c->allocator);
    if (!first_image) return NTR_E_MEMORY;
    r.first_image = first_image;
    ntr_status status = ntr_tally_arrivals(tally, program, UINT32_MAX, &counts, &r.count);
    r.counts = counts;
    for (size_t i = 0; status == NTR_OK; i++) status = add_image(&r, tally, i);
    ntr_tally_free_counts(tally, counts);
    ntr_dealloc(c->allocator, first_image);
    if (status != NTR_END) return status;
    c->gaps += ntr_tally_gaps(tally);
    ntr_object_merge_functions(c);
    ntr_object_merge_targets(c);
    TRY(ntr_code_versions_end(&c->versions));
    return make_list(c);
}

/* ---- results ----------------------------------------------------------------------------------- */

const ntr_object_function *ntr_object_coverage_functions(ntr_object_coverage *c, size_t *count) {
    *count = c->listed ? c->function_count : 0;
    return c->listed;
}

ntr_status ntr_object_coverage_feed(ntr_object_coverage *c, const ntr_program *program, const ntr_event *events,
                                    size_t count) {
    return ntr_code_versions_feed(&c->versions, program, events, count);
}

const ntr_object_version *ntr_object_coverage_versions(const ntr_object_coverage *c, size_t *count) {
    *count = c->versions.listed_count;
    return c->versions.listed;
}

const ntr_object_target *ntr_object_coverage_targets(const ntr_object_coverage *c, size_t *count) {
    *count = c->target_count;
    return c->targets;
}

uint64_t ntr_object_coverage_gaps(const ntr_object_coverage *c) {
    return c->gaps;
}
