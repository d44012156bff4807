#include "analysis/object_state.h"

#include "analysis/object_code.h"
#include "analysis/selected.h"
#include "base/allocator.h"
#include "base/compare.h"
#include "base/try.h"

#include <stdlib.h>
#include <string.h>

ntr_object_coverage *ntr_object_coverage_new(const ntr_allocator *allocator) {
    ntr_object_coverage *c = ntr_alloc(allocator, 1, sizeof *c);
    if (!c) return NULL;
    c->allocator = allocator;
    c->texts.allocator = allocator;
    c->versions.allocator = allocator;
    return c;
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

/* ---- functions of a run ------------------------------------------------------------------------ */

typedef struct object_run {
    ntr_object_coverage *coverage;
    const ntr_program *program;
    ntr_object_code code;
    const ntr_line_row *rows;
    size_t row_count;
    const ntr_insn_count *counts; /* sorted by address */
    size_t count;
    const char *image;
    uint64_t bias;
    ntr_debug_info *debug;
    size_t first; /* of `functions`: of the current image, */
    size_t described; /* ... and the end of those that debug information describes */
    const char *compared; /* the last file that was compared with the selection, */
    bool selected;        /* ... and whether it is selected */
} object_run;

static const ntr_insn_count *count_of(const object_run *r, uint64_t address) {
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->counts[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count && r->counts[low].address == address ? &r->counts[low] : NULL;
}

static const ntr_line_row *row_of(const object_run *r, uint64_t address) {
    size_t low = 0, high = r->row_count;
    while (low < high) { /* the last row that begins at or below the address */
        size_t middle = low + (high - low) / 2;
        if (r->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const ntr_line_row *row = low ? &r->rows[low - 1] : NULL;
    return row && address - row->address < row->size ? row : NULL;
}

static bool is_selected(object_run *r, const char *file) {
    const ntr_object_coverage *c = r->coverage;
    if (!c->only_count) return true;
    if (file && file != r->compared) r->selected = ntr_path_selected(file, c->only, c->only_count);
    r->compared = file;
    return file && r->selected;
}

/* Returns whether code at an address is selected: by the declaration of its function, or by its own line. */
static bool is_selected_at(object_run *r, uint64_t address) {
    ntr_frame frame;
    if (!r->coverage->only_count) return true;
    if (ntr_debug_info_function(r->debug, NULL, address, &frame) == NTR_OK && frame.declared_in) return is_selected(r, frame.declared_in);
    const ntr_line_row *row = row_of(r, address);
    return row && is_selected(r, row->file);
}

static ntr_status add_insn(object_run *r, uint64_t address, const ntr_insn *insn, uint64_t bits) {
    ntr_object_coverage *c = r->coverage;
    const ntr_insn_count *count = count_of(r, address);
    const ntr_line_row *row = row_of(r, address);
    const char *file = row && row->file ? ntr_texts_keep(&c->texts, row->file) : NULL;
    if (ntr_reserve(c->allocator, (void **)&c->insns, &c->insn_capacity, c->insn_count + 1, sizeof *c->insns))
        return NTR_E_MEMORY;
    c->insns[c->insn_count++] = (ntr_object_insn){
        .address = address - r->bias, .executed = count ? count->executed : 0, .taken = count ? count->taken : 0,
        .not_taken = count ? count->not_taken : 0, .bits = bits, .file = file,
        .line = row ? row->line : 0, .size = insn->size, .flow = insn->flow,
    };
    return NTR_OK;
}

static ntr_collected_function *new_function(object_run *r, const ntr_object_function *shown) {
    ntr_object_coverage *c = r->coverage;
    if (ntr_reserve(c->allocator, (void **)&c->functions, &c->function_capacity, c->function_count + 1, sizeof *c->functions))
        return NULL;
    ntr_collected_function *f = &c->functions[c->function_count++];
    *f = (ntr_collected_function){.shown = *shown, .first = c->insn_count};
    return f;
}

static ntr_status add_function(void *user, const ntr_frame *frame) {
    object_run *r = user;
    ntr_object_coverage *c = r->coverage;
    ntr_insn insn;
    uint64_t bits;
    if (frame->inlined || !frame->size) return NTR_OK;
    if (!is_selected(r, frame->declared_in)) return NTR_OK;
    const ntr_object_function shown = {
        .name = ntr_texts_keep(&c->texts, frame->function), .image = r->image,
        .file = frame->declared_in ? ntr_texts_keep(&c->texts, frame->declared_in) : NULL, .line = frame->declared_line,
        .address = frame->entry - r->bias, .size = frame->size,
    };
    ntr_collected_function *f = new_function(r, &shown);
    if (!f) return NTR_E_MEMORY;
    for (uint64_t at = frame->entry; at - frame->entry < frame->size; at += insn.size) {
        if (!ntr_object_code_at(&r->code, at, &insn, &bits)) break;
        TRY(add_insn(r, at, &insn, bits));
    }
    f->shown.insn_count = c->insn_count - f->first;
    return NTR_OK;
}

/* ---- routines of assembler --------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b) {
    const ntr_collected_function *x = a, *y = b;
    NTR_COMPARE_BY(shown.address);
    return 0;
}

/* Returns the end of the function of debug information around an address, or 0. */
static uint64_t function_end(const object_run *r, uint64_t address) {
    ntr_frame frame;
    if (r->coverage->only_count) /* those that are not selected were not collected */
        return ntr_debug_info_function(r->debug, NULL, address, &frame) == NTR_OK && frame.size ? frame.entry + frame.size : 0;
    const ntr_collected_function *functions = r->coverage->functions + r->first;
    size_t low = 0, high = r->described - r->first;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (functions[middle].shown.address + r->bias <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const ntr_object_function *f = low ? &functions[low - 1].shown : NULL;
    return f && address - r->bias - f->address < f->size ? f->address + r->bias + f->size : 0;
}

/* Adds an instruction that has a line and no function, to a routine with the name of its symbol. */
static ntr_status add_routine_insn(object_run *r, const ntr_line_row *row, uint64_t at, const ntr_insn *insn,
                                   uint64_t bits) {
    ntr_object_coverage *c = r->coverage;
    ntr_symbol symbol = {.name = NULL};
    const char *name = ntr_program_symbol(r->program, NULL, at, &symbol) == NTR_OK ? symbol.name : row->file;
    ntr_collected_function *last = c->function_count > r->described ? &c->functions[c->function_count - 1] : NULL;
    bool next = last && last->shown.address + r->bias + last->shown.size == at && strcmp(last->shown.name, name ? name : "") == 0;
    if (!next) {
        const ntr_object_function shown = {
            .name = ntr_texts_keep(&c->texts, name ? name : ""), .image = r->image,
            .file = row->file ? ntr_texts_keep(&c->texts, row->file) : NULL, .line = row->line, .address = at - r->bias,
        };
        if (!shown.name || !(last = new_function(r, &shown))) return NTR_E_MEMORY;
    }
    last->shown.size += insn->size;
    last->shown.insn_count++;
    return add_insn(r, at, insn, bits);
}

/* Code of assembler has lines, but often no functions in debug information. */
static ntr_status add_routines(object_run *r) {
    ntr_object_coverage *c = r->coverage;
    const size_t count = c->function_count - r->first;
    uint64_t done = 0;
    r->described = c->function_count;
    if (count) qsort(c->functions + r->first, count, sizeof *c->functions, compare_addresses);
    for (size_t i = 0; i < r->row_count; i++) {
        const ntr_line_row *row = &r->rows[i];
        ntr_insn insn;
        uint64_t bits;
        if (!is_selected(r, row->file)) continue;
        for (uint64_t at = row->address > done ? row->address : done, end; at - row->address < row->size;) {
            if ((end = function_end(r, at)) != 0) {
                at = end;
            } else {
                if (!ntr_object_code_at(&r->code, at, &insn, &bits)) break;
                TRY(add_routine_insn(r, row, at, &insn, bits));
                at += insn.size;
            }
            done = at;
        }
    }
    return NTR_OK;
}

/* ---- targets ----------------------------------------------------------------------------------- */

static uint8_t flow_of(uint8_t end) {
    switch ((ntr_end)end) {
    case NTR_END_INDIRECT_JUMP: return NTR_FLOW_INDIRECT_JUMP;
    case NTR_END_INDIRECT_CALL: return NTR_FLOW_INDIRECT_CALL;
    default: return NTR_FLOW_LINEAR;
    }
}

static ntr_status add_targets(object_run *r, ntr_tally *tally, uint64_t low, uint64_t high) {
    ntr_object_coverage *c = r->coverage;
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(tally, &count);
    for (size_t i = 0; i < count; i++) {
        ntr_frame frame;
        uint8_t flow = flow_of(rows[i].end);
        if (flow == NTR_FLOW_LINEAR || rows[i].target_unknown || rows[i].last < low || rows[i].last >= high) continue;
        if (!is_selected_at(r, rows[i].last)) continue;
        bool named = ntr_debug_info_function(r->debug, NULL, rows[i].target, &frame) == NTR_OK;
        if (ntr_reserve(c->allocator, (void **)&c->targets, &c->target_capacity, c->target_count + 1, sizeof *c->targets))
            return NTR_E_MEMORY;
        c->targets[c->target_count++] = (ntr_object_target){
            .image = r->image, .from = rows[i].last - r->bias,
            .to = rows[i].target >= low && rows[i].target < high ? rows[i].target - r->bias : rows[i].target,
            .count = rows[i].count, .flow = flow, .symbol = named ? ntr_texts_keep(&c->texts, frame.function) : NULL,
        };
    }
    return NTR_OK;
}

/* ---- */

static ntr_status make_list(ntr_object_coverage *c) {
    ntr_dealloc(c->allocator, c->listed);
    c->listed = ntr_alloc(c->allocator, c->function_count + 1, sizeof *c->listed);
    if (!c->listed) return NTR_E_MEMORY;
    for (size_t i = 0; i < c->function_count; i++) c->listed[i] = c->functions[i].shown;
    return NTR_OK;
}

/* Returns whether the code of another image is found in the whole place of this one: it was given twice, by its bundle and by -e. */
static bool is_hidden(const ntr_program *program, size_t index, const ntr_image_info *info) {
    const ntr_image_options *o = &info->options;
    const ntr_context context = {.scontext = o->scontext, .hcontext = o->hcontext, .prv = o->has_prv ? o->prv : NTR_PRV_UNKNOWN,
                                 .v = o->v, .has_scontext = o->has_scontext, .has_hcontext = o->has_hcontext};
    ntr_image_info other;
    size_t found;
    if (ntr_program_image_at(program, &context, info->low, &found) != NTR_OK || found == index) return false;
    return ntr_program_image(program, found, &other) == NTR_OK && other.path && other.low == info->low && other.high == info->high;
}

static ntr_status add_code(object_run *r, ntr_tally *tally, size_t index, const ntr_image_info *info) {
    r->bias = info->bias;
    r->image = ntr_texts_keep(&r->coverage->texts, info->name);
    if (!r->image) return NTR_E_MEMORY;
    TRY(ntr_debug_info_lines(r->debug, index, &r->rows, &r->row_count));
    r->first = r->coverage->function_count;
    TRY(ntr_debug_info_functions(r->debug, index, add_function, r));
    TRY(add_routines(r));
    return add_targets(r, tally, info->low, info->high);
}

static ntr_status add_image(object_run *r, ntr_tally *tally, size_t index) {
    ntr_image_info info;
    TRY(ntr_program_image(r->program, index, &info));
    if (!info.path || is_hidden(r->program, index, &info)) return NTR_OK;
    TRY(ntr_object_code_open(&r->code, &info, r->coverage->allocator));
    ntr_status status = add_code(r, tally, index, &info);
    ntr_object_code_close(&r->code);
    return status;
}

ntr_status ntr_object_coverage_add(ntr_object_coverage *c, const ntr_program *program, ntr_debug_info *debug,
                                   ntr_tally *tally) {
    object_run r = {.coverage = c, .program = program, .debug = debug, .code = {.program = program}};
    ntr_insn_count *counts;
    TRY(ntr_tally_instructions(tally, program, UINT32_MAX, &counts, &r.count));
    r.counts = counts;
    ntr_status status = NTR_OK;
    for (size_t i = 0; status == NTR_OK; i++) status = add_image(&r, tally, i);
    ntr_tally_free_counts(tally, counts);
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

ntr_status ntr_object_coverage_feed(ntr_object_coverage *c, const ntr_program *program, const ntr_event *events, size_t count) {
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
