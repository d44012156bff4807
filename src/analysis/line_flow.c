#include "analysis/line_flow.h"

#include "base/allocator.h"

/* What make works with. */
typedef struct maker {
    ntr_line_flow *flow;
    const ntr_program *program;
    ntr_source *source;
    const ntr_insn_count *counts; /* executed instructions by address */
    size_t count_count, count_at;
    uint64_t function_low, function_high; /* of the function last met */
} maker;

/* Rows come in address order, so the counts are walked once. */
static ntr_insn_count count_at(maker *m, uint64_t address, const ntr_insn *insn) {
    while (m->count_at < m->count_count && m->counts[m->count_at].address < address) m->count_at++;
    if (m->count_at < m->count_count && m->counts[m->count_at].address == address) return m->counts[m->count_at];
    return (ntr_insn_count){.address = address, .size = insn->size, .flow = insn->flow};
}

static uint64_t function_at(maker *m, uint64_t address) {
    ntr_frame frame;
    if (address >= m->function_low && address < m->function_high) return m->function_low;
    m->function_low = m->function_high = 0;
    if (ntr_source_function(m->source, NULL, address, &frame) != NTR_OK) return 0;
    if (address < frame.entry || address - frame.entry >= frame.size) return frame.entry;
    m->function_low = frame.entry;
    m->function_high = frame.entry + frame.size;
    return frame.entry;
}

static ntr_status add_row(maker *m, const ntr_line_row *row) {
    ntr_line_flow *f = m->flow;
    ntr_insn insn;
    for (uint64_t at = row->address; at - row->address < row->size; at += insn.size) {
        if (ntr_program_insn(m->program, NULL, 0, at, &insn) != NTR_OK) return NTR_OK;
        if (ntr_reserve(f->allocator, (void **)&f->insns, &f->capacity, f->count + 1, sizeof *f->insns))
            return NTR_E_MEMORY;
        f->insns[f->count++] = (ntr_line_insn){
            .count = count_at(m, at, &insn),
            .file = row->file,
            .line = row->line,
            .function = function_at(m, at),
        };
    }
    return NTR_OK;
}

static bool same_line(const ntr_line_insn *a, const ntr_line_insn *b) {
    return a->line == b->line && a->function == b->function && a->file == b->file;
}

/* How often control went from `a` to the instruction right after it; a call comes back there. */
static uint64_t passed_on(const ntr_line_insn *a, const ntr_line_insn *next) {
    switch ((ntr_flow)a->count.flow) {
    case NTR_FLOW_BRANCH: return a->count.not_taken;
    case NTR_FLOW_DIRECT_CALL:
    case NTR_FLOW_INDIRECT_CALL:
    case NTR_FLOW_TRAP: return a->count.executed < next->count.executed ? a->count.executed : next->count.executed;
    case NTR_FLOW_LINEAR: return a->count.executed;
    default: return 0;
    }
}

static void add_straight_flow(ntr_line_flow *f) {
    for (size_t i = 1; i < f->count; i++) {
        ntr_line_insn *insn = &f->insns[i];
        const ntr_line_insn *before = insn - 1;
        if (before->count.address + before->count.size == insn->count.address && same_line(before, insn))
            insn->inside += passed_on(before, insn);
    }
}

static ntr_line_insn *find(const ntr_line_flow *f, uint64_t address) {
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

/* A jump forward within a line is part of the same pass over it; one backward is a new pass. */
static void add_jumps(ntr_line_flow *f, ntr_tally *tally) {
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(tally, &count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].end != NTR_END_TAKEN && rows[i].end != NTR_END_JUMP && rows[i].end != NTR_END_INDIRECT_JUMP)
            continue;
        if (rows[i].target_unknown || rows[i].target <= rows[i].last) continue;
        const ntr_line_insn *from = find(f, rows[i].last);
        ntr_line_insn *to = find(f, rows[i].target);
        if (from && to && same_line(from, to)) to->inside += rows[i].count;
    }
}

ntr_status ntr_line_flow_make(ntr_line_flow *flow, const ntr_program *program, ntr_source *source, ntr_tally *tally,
                              size_t index, const ntr_allocator *allocator) {
    const ntr_line_row *rows;
    ntr_insn_count *counts;
    size_t row_count, count_count;
    *flow = (ntr_line_flow){.allocator = allocator};
    ntr_status status = ntr_source_lines(source, index, &rows, &row_count);
    if (status) return status;
    status = ntr_tally_instructions(tally, program, UINT32_MAX, &counts, &count_count);
    if (status) return status;
    maker m = {.flow = flow, .program = program, .source = source, .counts = counts, .count_count = count_count};
    for (size_t i = 0; !status && i < row_count; i++)
        if (rows[i].line && rows[i].file) status = add_row(&m, &rows[i]);
    ntr_tally_free_counts(tally, counts);
    if (status) {
        ntr_line_flow_release(flow);
        return status;
    }
    add_straight_flow(flow);
    add_jumps(flow, tally);
    return NTR_OK;
}

void ntr_line_flow_release(ntr_line_flow *flow) {
    ntr_dealloc(flow->allocator, flow->insns);
    *flow = (ntr_line_flow){.allocator = flow->allocator};
}
