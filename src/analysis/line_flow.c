#include "analysis/line_flow.h"

#include "analysis/tally_state.h"
#include "base/allocator.h"
#include "program/program.h"

/* State of ntr_line_flow_make. */
typedef struct line_flow_builder {
    ntr_line_flow *flow;
    const ntr_program *program;
    ntr_debug_info *debug;
    const ntr_insn_count *counts; /* executed instructions, sorted by address */
    ntr_tally *tally;
    size_t count_count, count_at, index;
    uint64_t function_low, function_high; /* range of the last function */
    bool returns_value;
} line_flow_builder;

/* Rows are in address order, so the counts are traversed once. The executions of all versions of an instruction are
 * those of its line; the outcomes are those of the branch that is there, not of others that it was changed to. */
static ntr_insn_count count_at(line_flow_builder *m, uint64_t address, const ntr_insn *insn) {
    ntr_insn_count sum = {.address = address, .size = insn->size, .flow = insn->flow};
    while (m->count_at < m->count_count && m->counts[m->count_at].address < address) m->count_at++;
    for (size_t i = m->count_at; i < m->count_count && m->counts[i].address == address; i++) {
        const ntr_insn_count *count = &m->counts[i];
        if (count->image != m->index) continue;
        sum.executed += count->executed;
        if (!count->taken && !count->not_taken) continue;
        if (ntr_program_bits(m->program, ntr_tally_count_place(m->tally, count), count->size) !=
            ntr_program_bits(m->program, ntr_program_image_place(m->program, m->index, address), insn->size))
            continue;
        sum.taken += count->taken;
        sum.not_taken += count->not_taken;
    }
    return sum;
}

static uint64_t function_at(line_flow_builder *m, uint64_t address) {
    ntr_frame frame;
    if (address >= m->function_low && address < m->function_high) return m->function_low;
    m->function_low = m->function_high = 0;
    m->returns_value = false;
    if (ntr_debug_info_function(m->debug, ntr_program_image_place(m->program, m->index, address), &frame) != NTR_OK)
        return 0;
    m->returns_value = frame.returns_value;
    if (address < frame.entry || address - frame.entry >= frame.size) return frame.entry;
    m->function_low = frame.entry;
    m->function_high = frame.entry + frame.size;
    return frame.entry;
}

static ntr_status add_row(line_flow_builder *m, const ntr_line_row *row) {
    ntr_line_flow *f = m->flow;
    ntr_insn insn;
    for (uint64_t at = row->address; at - row->address < row->size; at += insn.size) {
        if (ntr_program_insn(m->program, ntr_program_image_place(m->program, m->index, at), &insn) != NTR_OK)
            return NTR_OK;
        if (ntr_reserve(f->allocator, (void **)&f->insns, &f->capacity, f->count + 1, sizeof *f->insns))
            return NTR_E_MEMORY;
        f->insns[f->count++] = (ntr_line_insn){
            .count = count_at(m, at, &insn),
            .file = row->file,
            .line = row->file ? row->line : 0,
            .column = row->column,
            .begins_row = at == row->address,
            .function = function_at(m, at),
            .returns_value = m->returns_value,
            .target = insn.target,
        };
    }
    return NTR_OK;
}

ntr_line_insn *ntr_line_flow_find(const ntr_line_flow *f, uint64_t address) {
    size_t low = 0, high = f->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->insns[middle].count.address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->count && f->insns[low].count.address == address ? &f->insns[low] : NULL;
}

/* A jump back to the entry from inside of the function is not another call of it. */
uint64_t ntr_line_flow_entries(const ntr_line_flow *f, uint64_t entry, uint64_t size) {
    if (!f->count) return 0;
    const ntr_line_insn *insn = ntr_line_flow_find(f, entry), *end = f->insns + f->count;
    uint64_t jumps = 0, executed = insn ? insn->count.executed : 0;
    for (; executed && insn < end && insn->count.address - entry < size; insn++) {
        if (insn->target != entry) continue;
        if (insn->count.flow == NTR_FLOW_BRANCH) jumps += insn->count.taken;
        if (insn->count.flow == NTR_FLOW_DIRECT_JUMP) jumps += insn->count.executed;
    }
    return executed > jumps ? executed - jumps : executed != 0;
}

static size_t image_of(const ntr_line_counts *counts, ntr_place place) {
    size_t image;
    return ntr_program_image_at(counts->program, place, &image) == NTR_OK ? counts->first_image[image] : SIZE_MAX;
}

static ntr_status make_counts(ntr_line_counts *counts) {
    size_t count;
    if (counts->made) return NTR_OK;
    const ntr_tally_row *rows = ntr_tally_rows(counts->tally, &count);
    counts->images = ntr_alloc(counts->tally->allocator, count + 1, sizeof *counts->images);
    counts->first_image = ntr_program_first_images(counts->program, counts->tally->allocator);
    if (!counts->images || !counts->first_image) return NTR_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        counts->images[i] = (struct ntr_row_images){
            image_of(counts, ntr_tally_row_place(counts->tally, &rows[i], rows[i].last)),
            rows[i].target_unknown ? SIZE_MAX
                                   : image_of(counts, ntr_tally_row_place(counts->tally, &rows[i], rows[i].target))};
    ntr_status status = ntr_tally_arrivals(counts->tally, counts->program, UINT32_MAX, &counts->items, &counts->count);
    counts->made = status == NTR_OK;
    return status;
}

void ntr_line_counts_release(ntr_line_counts *counts) {
    if (counts->made) ntr_tally_free_counts(counts->tally, counts->items);
    ntr_dealloc(counts->tally->allocator, counts->images);
    ntr_dealloc(counts->tally->allocator, counts->first_image);
    counts->made = false;
}

ntr_status ntr_line_flow_make(ntr_line_flow *flow, ntr_debug_info *debug, ntr_line_counts *counts, size_t index,
                              const ntr_allocator *allocator) {
    const ntr_line_row *rows;
    size_t row_count;
    *flow = (ntr_line_flow){.allocator = allocator};
    ntr_status status = ntr_debug_info_lines(debug, index, &rows, &row_count);
    if (status || row_count == 0) return status;
    status = make_counts(counts);
    if (status) return status;
    line_flow_builder m = {.flow = flow,
                           .program = counts->program,
                           .debug = debug,
                           .index = index,
                           .tally = counts->tally,
                           .counts = counts->items,
                           .count_count = counts->count};
    for (size_t i = 0; !status && i < row_count; i++) status = add_row(&m, &rows[i]);
    if (status) ntr_line_flow_release(flow);
    return status;
}

void ntr_line_flow_release(ntr_line_flow *flow) {
    ntr_dealloc(flow->allocator, flow->insns);
    *flow = (ntr_line_flow){.allocator = flow->allocator};
}
