/* The rows of a tally as counts of single instructions: each row is expanded, equal addresses are added. */
#include "analysis/tally_state.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "program/image_timeline.h"

#include <ntrace/instructions.h>
#include <stdlib.h>

typedef struct count_table {
    ntr_insn_count *items;
    size_t count, capacity;
} count_table;

/* Returns the ticks of the first `count` instructions of a row. */
static uint64_t ticks_until(const ntr_tally_row *row, uint64_t count) {
    uint64_t part = row->ticks / row->instructions, rest = row->ticks % row->instructions;
    return part * count + rest * count / row->instructions;
}

static bool may_end(ntr_flow flow, ntr_end end) {
    const bool any = end == NTR_END_CUT || end == NTR_END_EXCEPTION || end == NTR_END_INTERRUPT || end == NTR_END_TRAP;
    const bool branch = end == NTR_END_TAKEN || end == NTR_END_NOT_TAKEN;
    return any || (branch ? flow == NTR_FLOW_BRANCH : flow != NTR_FLOW_LINEAR && flow != NTR_FLOW_BRANCH);
}

/* Appends the instructions of one row as they are in the images of a position, up to where no image has the next one.
 * *fits: they are what was executed. Zeros, which fill the space between known code, are no instructions. */
static ntr_status decode(ntr_tally *t, ntr_instructions *instructions, const ntr_tally_row *row, uint64_t position,
                         count_table *table, bool *fits) {
    const ntr_event span = {.kind = NTR_EVENT_SPAN,
                            .context = t->views[row->view].context,
                            .address = row->address,
                            .offset = position,
                            .instructions = row->instructions};
    ntr_instruction insn = {0};
    ntr_status status;
    uint32_t i = 0;
    *fits = true;
    ntr_instructions_begin(instructions, &span);
    for (; (status = ntr_instructions_next(instructions, &insn)) == NTR_OK; i++) {
        if (ntr_reserve(t->allocator, (void **)&table->items, &table->capacity, table->count + 1, sizeof *table->items))
            return NTR_E_MEMORY;
        bool is_last = insn.address == row->last;
        *fits &= (insn.bits & 0xffff) != 0;
        table->items[table->count++] = (ntr_insn_count){
            .address = insn.address,
            .executed = row->count,
            .ticks = ticks_until(row, i + 1) - ticks_until(row, i),
            .taken = is_last && row->end == NTR_END_TAKEN ? row->count : 0,
            .not_taken = is_last && row->end == NTR_END_NOT_TAKEN ? row->count : 0,
            .size = insn.insn.size,
            .flow = insn.insn.flow,
        };
    }
    *fits &= i == row->instructions && insn.address == row->last && may_end(insn.insn.flow, row->end);
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

/* Adds the instructions of one row, from the first version of the code that fits; the first of all if none does. */
static ntr_status expand(ntr_tally *t, const ntr_program *program, ntr_instructions *instructions,
                         const ntr_tally_row *row, count_table *table) {
    const size_t before = table->count;
    uint64_t position = 0;
    bool fits;
    ntr_status status = decode(t, instructions, row, position, table, &fits);
    while (status == NTR_OK && !fits && position != NTR_POSITION_ANY) {
        position = ntr_program_next_version(program, row->address, row->last, position);
        table->count = before;
        status = decode(t, instructions, row, position == NTR_POSITION_ANY ? 0 : position, table, &fits);
    }
    return status;
}

static int compare_counts(const void *a, const void *b) {
    const ntr_insn_count *x = a, *y = b;
    NTR_COMPARE_BY(address);
    return 0;
}

/* Merges sorted items with equal addresses. */
static void merge(count_table *table) {
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        const ntr_insn_count *item = &table->items[i];
        if (kept && table->items[kept - 1].address == item->address) {
            table->items[kept - 1].executed += item->executed;
            table->items[kept - 1].ticks += item->ticks;
            table->items[kept - 1].taken += item->taken;
            table->items[kept - 1].not_taken += item->not_taken;
        } else {
            table->items[kept++] = *item;
        }
    }
    table->count = kept;
}

static ntr_status expand_all(ntr_tally *t, const ntr_program *program, uint32_t view, count_table *table) {
    size_t rows;
    const ntr_tally_row *row = ntr_tally_rows(t, &rows);
    ntr_instructions *instructions = ntr_instructions_new(program, t->allocator);
    ntr_status status = instructions ? NTR_OK : NTR_E_MEMORY;
    for (size_t i = 0; i < rows && status == NTR_OK; i++)
        if (view == UINT32_MAX || row[i].view == view) status = expand(t, program, instructions, &row[i], table);
    ntr_instructions_free(instructions);
    return status;
}

ntr_status ntr_tally_instructions(ntr_tally *t, const ntr_program *program, uint32_t view, ntr_insn_count **counts,
                                  size_t *count) {
    count_table table = {0};
    ntr_status status = expand_all(t, program, view, &table);
    if (status) {
        ntr_dealloc(t->allocator, table.items);
        return status;
    }
    if (table.count) qsort(table.items, table.count, sizeof *table.items, compare_counts);
    merge(&table);
    *counts = table.items;
    *count = table.count;
    return NTR_OK;
}

void ntr_tally_free_counts(const ntr_tally *t, ntr_insn_count *counts) {
    ntr_dealloc(t->allocator, counts);
}
