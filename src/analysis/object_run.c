#include "analysis/object_run.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"

#include <ntrace/coverage.h>

ntr_insn_count ntr_object_run_count(const ntr_object_run *r, uint64_t address, uint64_t bits, bool *other) {
    ntr_insn_count sum = {.address = address};
    *other = false;
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->counts[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->count && r->counts[low].address == address; low++) {
        const ntr_insn_count *count = &r->counts[low];
        if (count->image != r->index) continue;
        if (ntr_program_bits(r->program, ntr_tally_count_place(r->tally, count), count->size) != bits) {
            *other = true;
            continue;
        }
        sum.executed += count->executed;
        sum.taken += count->taken;
        sum.not_taken += count->not_taken;
    }
    return sum;
}

ntr_place ntr_object_run_place(const ntr_object_run *r, uint64_t address) {
    return ntr_program_image_place(r->program, r->index, address);
}

static bool is_inside(const ntr_object_run *r, ntr_place place, uint64_t low, uint64_t high) {
    size_t image;
    if (place.address < low || place.address >= high) return false;
    return ntr_program_image_at(r->program, place, &image) == NTR_OK && r->first_image[image] == r->index;
}

static const ntr_line_row *row_of(const ntr_object_run *r, uint64_t address) {
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

bool ntr_object_run_selects(ntr_object_run *r, const char *file) {
    const ntr_object_coverage *c = r->coverage;
    if (!c->only_count) return true;
    if (file && file != r->compared) r->selected = ntr_path_selected(file, c->only, c->only_count);
    r->compared = file;
    return file && r->selected;
}

/* Returns whether code at an address is selected: by the declaration of its function, or by its own line. */
static bool is_selected_at(ntr_object_run *r, uint64_t address) {
    ntr_frame frame;
    if (!r->coverage->only_count) return true;
    if (ntr_debug_info_function(r->debug, ntr_object_run_place(r, address), &frame) == NTR_OK && frame.declared_in)
        return ntr_object_run_selects(r, frame.declared_in);
    const ntr_line_row *row = row_of(r, address);
    return row && ntr_object_run_selects(r, row->file);
}

ntr_status ntr_object_run_add_insn(ntr_object_run *r, uint64_t address, const ntr_insn *insn, uint64_t bits) {
    ntr_object_coverage *c = r->coverage;
    bool other;
    const ntr_insn_count count = ntr_object_run_count(r, address, bits, &other);
    const ntr_line_row *row = row_of(r, address);
    const char *file = row && row->file ? ntr_texts_keep(&c->texts, row->file) : NULL;
    if (ntr_reserve(c->allocator, (void **)&c->insns, &c->insn_capacity, c->insn_count + 1, sizeof *c->insns))
        return NTR_E_MEMORY;
    c->insns[c->insn_count++] = (ntr_object_insn){
        .address = address - r->bias,
        .executed = count.executed,
        .taken = count.taken,
        .not_taken = count.not_taken,
        .bits = bits,
        .file = file,
        .line = row ? row->line : 0,
        .size = insn->size,
        .flow = insn->flow,
        .other = other,
        .isa = (uint8_t)ntr_object_code_isa(&r->code, ntr_object_run_place(r, address)),
    };
    return NTR_OK;
}

ntr_collected_function *ntr_object_run_add(ntr_object_run *r, const ntr_object_function *shown) {
    ntr_object_coverage *c = r->coverage;
    if (ntr_reserve(c->allocator, (void **)&c->functions, &c->function_capacity, c->function_count + 1,
                    sizeof *c->functions))
        return NULL;
    ntr_collected_function *f = &c->functions[c->function_count++];
    *f = (ntr_collected_function){.shown = *shown, .first = c->insn_count};
    return f;
}

static ntr_status add_function(void *user, const ntr_frame *frame) {
    ntr_object_run *r = user;
    ntr_object_coverage *c = r->coverage;
    ntr_insn insn;
    uint64_t bits;
    if (frame->inlined || !frame->size) return NTR_OK;
    if (!ntr_object_run_selects(r, frame->declared_in)) return NTR_OK;
    const ntr_object_function shown = {
        .name = ntr_texts_keep(&c->texts, frame->function),
        .image = r->image,
        .file = frame->declared_in ? ntr_texts_keep(&c->texts, frame->declared_in) : NULL,
        .line = frame->declared_line,
        .address = frame->entry - r->bias,
        .size = frame->size,
    };
    ntr_collected_function *f = ntr_object_run_add(r, &shown);
    if (!f) return NTR_E_MEMORY;
    for (uint64_t at = frame->entry; at - frame->entry < frame->size; at += insn.size) {
        if (!ntr_object_code_at(&r->code, ntr_object_run_place(r, at), &insn, &bits)) break;
        TRY(ntr_object_run_add_insn(r, at, &insn, bits));
    }
    f->shown.insn_count = c->insn_count - f->first;
    return NTR_OK;
}

ntr_status ntr_object_run_functions(ntr_object_run *r, size_t index) {
    r->first = r->coverage->function_count;
    return ntr_debug_info_functions(r->debug, index, add_function, r);
}

/* ---- targets ----------------------------------------------------------------------------------- */

static uint8_t flow_of(uint8_t end) {
    switch ((ntr_span_end)end) {
    case NTR_SPAN_INDIRECT_JUMP: return NTR_FLOW_INDIRECT_JUMP;
    case NTR_SPAN_INDIRECT_CALL: return NTR_FLOW_INDIRECT_CALL;
    default: return NTR_FLOW_LINEAR;
    }
}

ntr_status ntr_object_run_targets(ntr_object_run *r, ntr_tally *tally, uint64_t low, uint64_t high) {
    ntr_object_coverage *c = r->coverage;
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(tally, &count);
    for (size_t i = 0; i < count; i++) {
        ntr_frame frame;
        uint8_t flow = flow_of(rows[i].end);
        if (flow == NTR_FLOW_LINEAR || rows[i].target_unknown) continue;
        if (!is_inside(r, ntr_tally_row_place(tally, &rows[i], rows[i].last), low, high)) continue;
        const ntr_place target = ntr_tally_row_place(tally, &rows[i], rows[i].target);
        if (!is_selected_at(r, rows[i].last)) continue;
        bool named = ntr_debug_info_function(r->debug, target, &frame) == NTR_OK;
        if (ntr_reserve(c->allocator, (void **)&c->targets, &c->target_capacity, c->target_count + 1,
                        sizeof *c->targets))
            return NTR_E_MEMORY;
        c->targets[c->target_count++] = (ntr_object_target){
            .image = r->image,
            .from = rows[i].last - r->bias,
            .to = is_inside(r, target, low, high) ? rows[i].target - r->bias : rows[i].target,
            .count = rows[i].count,
            .flow = flow,
            .symbol = named ? ntr_texts_keep(&c->texts, frame.function) : NULL,
        };
    }
    return NTR_OK;
}
