#include <ntrace/object_coverage.h>

#include "analysis/code_versions.h"
#include "analysis/texts.h"
#include "base/allocator.h"
#include "base/compare.h"
#include "base/try.h"

#include <stdlib.h>
#include <string.h>

/* A function as it is collected: its instructions are [first, first + count) of `insns`, or were merged into another. */
typedef struct object_function {
    ntr_object_function shown;
    size_t first;
} object_function;

struct ntr_object_coverage {
    const ntr_allocator *allocator;
    ntr_texts texts;
    object_function *functions; /* sorted by (image, address) */
    size_t function_count, function_capacity;
    ntr_object_insn *insns;
    size_t insn_count, insn_capacity;
    ntr_object_target *targets;
    size_t target_count, target_capacity;
    ntr_object_function *listed;
    ntr_code_versions versions;
    uint64_t gaps;
};

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

/* ---- functions of a run ------------------------------------------------------------------------ */

typedef struct object_run {
    ntr_object_coverage *coverage;
    const ntr_program *program;
    const ntr_line_row *rows;
    size_t row_count;
    const ntr_insn_count *counts; /* sorted by address */
    size_t count;
    const char *image;
    uint64_t bias;
    ntr_debug_info *debug;
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

static uint64_t bits_at(const object_run *r, uint64_t address, size_t size) {
    uint8_t bytes[8] = {0};
    uint64_t bits = 0;
    size = ntr_program_read(r->program, NULL, NTR_POSITION_ANY, address, bytes, size < 8 ? size : 8);
    for (size_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (8 * i);
    return bits;
}

static ntr_status add_insn(object_run *r, uint64_t address, const ntr_insn *insn) {
    ntr_object_coverage *c = r->coverage;
    const ntr_insn_count *count = count_of(r, address);
    const ntr_line_row *row = row_of(r, address);
    const char *file = row && row->file ? ntr_texts_keep(&c->texts, row->file) : NULL;
    if (ntr_reserve(c->allocator, (void **)&c->insns, &c->insn_capacity, c->insn_count + 1, sizeof *c->insns))
        return NTR_E_MEMORY;
    c->insns[c->insn_count++] = (ntr_object_insn){
        .address = address - r->bias, .executed = count ? count->executed : 0, .taken = count ? count->taken : 0,
        .not_taken = count ? count->not_taken : 0, .bits = bits_at(r, address, insn->size), .file = file,
        .line = row ? row->line : 0, .size = insn->size, .flow = insn->flow,
    };
    return NTR_OK;
}

static ntr_status add_function(void *user, const ntr_frame *frame) {
    object_run *r = user;
    ntr_object_coverage *c = r->coverage;
    ntr_insn insn;
    if (frame->inlined || !frame->size) return NTR_OK;
    if (ntr_reserve(c->allocator, (void **)&c->functions, &c->function_capacity, c->function_count + 1,
                    sizeof *c->functions))
        return NTR_E_MEMORY;
    object_function f = {.first = c->insn_count};
    f.shown = (ntr_object_function){
        .name = ntr_texts_keep(&c->texts, frame->function), .image = r->image,
        .file = frame->declared_in ? ntr_texts_keep(&c->texts, frame->declared_in) : NULL, .line = frame->declared_line,
        .address = frame->entry - r->bias, .size = frame->size,
    };
    for (uint64_t at = frame->entry; at - frame->entry < frame->size; at += insn.size) {
        if (ntr_program_insn(r->program, NULL, NTR_POSITION_ANY, at, &insn) != NTR_OK) break;
        TRY(add_insn(r, at, &insn));
    }
    f.shown.insn_count = c->insn_count - f.first;
    c->functions[c->function_count++] = f;
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

static int compare_targets(const void *a, const void *b) {
    const ntr_object_target *x = a, *y = b;
    int order = x->image == y->image ? 0 : strcmp(x->image, y->image);
    if (order) return order;
    NTR_COMPARE_BY(from);
    NTR_COMPARE_BY(to);
    return 0;
}

static void merge_targets(ntr_object_coverage *c) {
    size_t kept = 0;
    if (c->target_count) qsort(c->targets, c->target_count, sizeof *c->targets, compare_targets);
    for (size_t i = 0; i < c->target_count; i++) {
        if (kept && compare_targets(&c->targets[kept - 1], &c->targets[i]) == 0)
            c->targets[kept - 1].count += c->targets[i].count;
        else
            c->targets[kept++] = c->targets[i];
    }
    c->target_count = kept;
}

/* ---- merging ----------------------------------------------------------------------------------- */

static int compare_functions(const void *a, const void *b) {
    const object_function *x = a, *y = b;
    int order = x->shown.image == y->shown.image ? 0 : strcmp(x->shown.image, y->shown.image);
    if (order) return order;
    NTR_COMPARE_BY(shown.address);
    NTR_COMPARE_BY(first);
    return 0;
}

/* Adds the counts of the same function of another run. Instructions that differ are another version of the code. */
static void merge_insns(ntr_object_coverage *c, const object_function *to, const object_function *from) {
    ntr_object_insn *x = c->insns + to->first;
    const ntr_object_insn *y = c->insns + from->first;
    size_t i = 0, k = 0;
    while (i < to->shown.insn_count && k < from->shown.insn_count) {
        if (x[i].address < y[k].address) {
            i++;
        } else if (x[i].address > y[k].address) {
            k++;
        } else {
            if (x[i].bits == y[k].bits) {
                x[i].executed += y[k].executed;
                x[i].taken += y[k].taken;
                x[i].not_taken += y[k].not_taken;
            } else {
                x[i].other = true;
            }
            i++, k++;
        }
    }
}

static void sum_function(ntr_object_coverage *c, object_function *f) {
    f->shown.insns = c->insns + f->first;
    f->shown.executed = f->shown.outcomes = f->shown.outcomes_seen = 0;
    for (size_t i = 0; i < f->shown.insn_count; i++) {
        const ntr_object_insn *insn = &f->shown.insns[i];
        f->shown.executed += insn->executed != 0;
        if (insn->flow != NTR_FLOW_BRANCH) continue;
        f->shown.outcomes += 2;
        f->shown.outcomes_seen += (uint64_t)(insn->taken != 0) + (insn->not_taken != 0);
    }
}

static void merge_functions(ntr_object_coverage *c) {
    size_t kept = 0;
    if (c->function_count) qsort(c->functions, c->function_count, sizeof *c->functions, compare_functions);
    for (size_t i = 0; i < c->function_count; i++) {
        object_function *last = kept ? &c->functions[kept - 1] : NULL, *f = &c->functions[i];
        if (last && last->shown.image == f->shown.image && last->shown.address == f->shown.address)
            merge_insns(c, last, f);
        else
            c->functions[kept++] = *f;
    }
    c->function_count = kept;
    for (size_t i = 0; i < kept; i++) sum_function(c, &c->functions[i]);
}

static ntr_status make_list(ntr_object_coverage *c) {
    ntr_dealloc(c->allocator, c->listed);
    c->listed = ntr_alloc(c->allocator, c->function_count + 1, sizeof *c->listed);
    if (!c->listed) return NTR_E_MEMORY;
    for (size_t i = 0; i < c->function_count; i++) c->listed[i] = c->functions[i].shown;
    return NTR_OK;
}

static ntr_status add_image(object_run *r, ntr_tally *tally, size_t index) {
    ntr_image_info info;
    ntr_status status = ntr_program_image(r->program, index, &info);
    if (status) return status;
    if (!info.path) return NTR_OK;
    r->bias = info.bias;
    r->image = ntr_texts_keep(&r->coverage->texts, info.name);
    if (!r->image) return NTR_E_MEMORY;
    TRY(ntr_debug_info_lines(r->debug, index, &r->rows, &r->row_count));
    TRY(ntr_debug_info_functions(r->debug, index, add_function, r));
    return add_targets(r, tally, info.low, info.high);
}

ntr_status ntr_object_coverage_add(ntr_object_coverage *c, const ntr_program *program, ntr_debug_info *debug,
                                   ntr_tally *tally) {
    object_run r = {.coverage = c, .program = program, .debug = debug};
    ntr_insn_count *counts;
    TRY(ntr_tally_instructions(tally, program, UINT32_MAX, &counts, &r.count));
    r.counts = counts;
    ntr_status status = NTR_OK;
    for (size_t i = 0; status == NTR_OK; i++) status = add_image(&r, tally, i);
    ntr_tally_free_counts(tally, counts);
    if (status != NTR_END) return status;
    c->gaps += ntr_tally_gaps(tally);
    merge_functions(c);
    merge_targets(c);
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
