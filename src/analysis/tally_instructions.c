/* The rows of a tally as counts of single instructions: each row is expanded, equal addresses are added. */
#include "analysis/tally_state.h"
#include "base/allocator.h"
#include "base/compare.h"

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

/* Adds the instructions of one row, up to where no image has the next one. */
static ntr_status expand(ntr_tally *t, ntr_instructions *instructions, const ntr_tally_row *row, count_table *table) {
    const ntr_event span = {.kind = NTR_EVENT_SPAN, .context = t->views[row->view].context, .address = row->address,
                            .instructions = row->instructions};
    ntr_instruction insn;
    ntr_status status;
    ntr_instructions_begin(instructions, &span);
    for (uint32_t i = 0; (status = ntr_instructions_next(instructions, &insn)) == NTR_OK; i++) {
        if (ntr_reserve(t->allocator, (void **)&table->items, &table->capacity, table->count + 1,
                        sizeof *table->items))
            return NTR_E_MEMORY;
        bool is_last = insn.address == row->last;
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
    return status == NTR_E_MEMORY ? status : NTR_OK;
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
        if (view == UINT32_MAX || row[i].view == view) status = expand(t, instructions, &row[i], table);
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
