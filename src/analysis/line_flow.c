#include "analysis/line_flow.h"

#include "analysis/tally_state.h"
#include "base/allocator.h"
#include "program/program.h"

#include <string.h>

/* State of ntr_line_flow_make. */
typedef struct line_flow_builder {
    ntr_line_flow *flow;
    const ntr_program *program;
    ntr_debug_info *debug;
    const ntr_insn_count *counts; /* executed instructions, sorted by address */
    ntr_tally *tally;
    size_t count_count, count_at, index;
    ntr_cover_rule rule;
    uint64_t function_low, function_high; /* range of the last function */
    bool returns_value;
    uint64_t entry; /* of the last function */
    const char *declared_in;
    uint32_t declared_line;
    ntr_insn before; /* the last instruction */
    ntr_line_row head; /* the last row of the beginning of a function; without a file: none */
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
    m->function_low = m->function_high = m->entry = 0;
    m->returns_value = false;
    if (ntr_debug_info_function(m->debug, ntr_program_image_place(m->program, m->index, address), &frame) != NTR_OK)
        return 0;
    m->returns_value = frame.returns_value;
    m->entry = frame.entry;
    m->declared_in = frame.artificial ? NULL : frame.declared_in;
    m->declared_line = frame.declared_line;
    if (address < frame.entry || address - frame.entry >= frame.size) return frame.entry;
    m->function_low = frame.entry;
    m->function_high = frame.entry + frame.size;
    return frame.entry;
}

/* Returns whether an instruction makes room on the stack: `addi sp, sp, -N`. */
static bool allocates_frame(const line_flow_builder *m, uint64_t address) {
    enum { STACK_POINTER = 2 };
    const ntr_place place = ntr_program_image_place(m->program, m->index, address);
    const uint32_t bits = (uint32_t)ntr_program_bits(m->program, place, 4);
    if ((bits & 3) == 3) return (bits & 0x800fffffu) == (0x80000013u | STACK_POINTER << 15 | STACK_POINTER << 7);
    return (bits & 0xff83u) == (0x1001u | STACK_POINTER << 7) || (bits & 0xff83u) == 0x7101u;
}

/* Returns the line of a row. gcov counts the beginning of a function on the line of its name; gcc's line table has it
 * on the line of the opening brace. */
static uint32_t line_of(line_flow_builder *m, const ntr_line_row *row, bool by_llvm) {
    const uint64_t function = function_at(m, row->address);
    const bool goes_on = m->head.file == row->file && m->head.address + m->head.size == row->address &&
                         m->head.line == row->line && m->head.column == row->column;
    const bool begins = function == row->address && function == m->entry && allocates_frame(m, row->address);
    m->head.file = NULL;
    if (!row->file || by_llvm || !(begins || goes_on) || !m->declared_in || !m->declared_line ||
        m->declared_line >= row->line || strcmp(m->declared_in, row->file) != 0)
        return row->file ? row->line : 0;
    m->head = *row;
    return m->declared_line;
}

/* Returns the target of an instruction that jumps. Without relaxation, calls are AUIPC and JALR. */
static uint64_t target_of(const line_flow_builder *m, const ntr_insn *insn) {
    const bool far = insn->flow == NTR_FLOW_INDIRECT_CALL && m->before.sets_constant && m->before.rd == insn->rs1;
    if (!far) return insn->target;
    return ntr_program_cut(m->program, m->before.target + (uint64_t)insn->immediate) & ~UINT64_C(1);
}

static ntr_status add_row(line_flow_builder *m, const ntr_line_row *row) {
    ntr_line_flow *f = m->flow;
    ntr_insn insn;
    const bool by_llvm = m->rule == NTR_COVER_RULE_PRODUCER ? row->by_llvm : m->rule == NTR_COVER_RULE_LLVM;
    const uint32_t line = line_of(m, row, by_llvm);
    for (uint64_t at = row->address; at - row->address < row->size; at += insn.size) {
        if (ntr_program_insn(m->program, ntr_program_image_place(m->program, m->index, at), &insn) != NTR_OK)
            return NTR_OK;
        if (ntr_reserve(f->allocator, (void **)&f->insns, &f->capacity, f->count + 1, sizeof *f->insns))
            return NTR_E_MEMORY;
        f->insns[f->count++] = (ntr_line_insn){
            .count = count_at(m, at, &insn),
            .file = row->file,
            .line = line,
            .column = row->column,
            .begins_row = at == row->address,
            .begins_statement = at == row->address && row->is_statement,
            .function = function_at(m, at),
            .returns_value = m->returns_value,
            .by_llvm = by_llvm,
            .implicit = row->implicit,
            .optimized = row->optimized,
            .target = target_of(m, &insn),
        };
        m->before = insn;
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

bool ntr_line_flow_is_nop(const ntr_program *program, size_t image, const ntr_insn_count *insn) {
    const ntr_place place = ntr_program_image_place(program, image, insn->address);
    if (insn->flow != NTR_FLOW_LINEAR) return false;
    return ntr_program_bits(program, place, insn->size) == (insn->size == 2 ? 0x0001u : 0x00000013u);
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

uint64_t ntr_line_flow_returns(const ntr_line_flow *f, uint64_t entry, uint64_t size, uint64_t entries) {
    const ntr_line_insn *insn = entries ? ntr_line_flow_find(f, entry) : NULL, *end = f->insns + f->count;
    uint64_t returned = 0;
    for (; insn && insn < end && insn->count.address - entry < size; insn++) {
        const ntr_flow flow = (ntr_flow)insn->count.flow;
        const ntr_line_insn *to = flow == NTR_FLOW_DIRECT_JUMP ? ntr_line_flow_find(f, insn->target) : NULL;
        if (flow == NTR_FLOW_INDIRECT_JUMP && insn->count.executed) return entries;
        const bool leaves = flow == NTR_FLOW_DIRECT_JUMP && (!to || to->function != insn->function);
        if (flow == NTR_FLOW_RETURN || leaves) returned += insn->count.executed;
    }
    return returned < entries ? returned : entries;
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
                           .rule = counts->rule,
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
