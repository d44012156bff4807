/* The rows of a tally as counts of single instructions: each row is expanded, equal instructions are added. */
#include "analysis/tally_state.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"

#include <ntrace/instructions.h>
#include <stdlib.h>

/* An instruction, and what tells it from others of its image at its address. An image that has a file, or names, may
 * have several versions of an instruction: its bytes tell them apart. Code without a file may be another function with
 * the same bytes: the segment tells it apart (0: a file has the code). */
typedef struct counted_insn {
    ntr_insn_count count;
    uint64_t version;
} counted_insn;

/* Which code is at an address. */
typedef struct code_owner {
    uint32_t image, segment;
} code_owner;

typedef struct count_table {
    ntr_tally *tally;
    const ntr_program *program;
    uint32_t *first_image; /* ntr_program_first_images */
    bool changes;          /* code without a file may be another version of that of a file */
    counted_insn *items;
    size_t count, capacity;
} count_table;

static code_owner owner_at(const count_table *t, ntr_place place) {
    ntr_code_window window;
    size_t image;
    code_owner owner = {NTR_NO_IMAGE, 0};
    if (ntr_program_image_at(t->program, place, &image) == NTR_OK) owner.image = t->first_image[image];
    if (ntr_program_window(t->program, place, &window) && !t->program->images[window.image].path)
        owner.segment = window.image + 1;
    return owner;
}

static uint64_t version_of(const count_table *t, code_owner owner, ntr_place place, const ntr_insn *insn) {
    const bool named = owner.image != NTR_NO_IMAGE && t->program->images[owner.image].path;
    if (!named) return owner.segment;
    return t->changes ? ntr_program_bits(t->program, place, insn->size) : 0;
}

/* Returns the ticks of the first `count` instructions of a row. */
static uint64_t ticks_until(const ntr_tally_row *row, uint64_t count) {
    uint64_t part = row->ticks / row->instructions, rest = row->ticks % row->instructions;
    return part * count + rest * count / row->instructions;
}

/* Appends the instructions of one row, up to where no image has the next one. */
static ntr_status expand(count_table *t, ntr_instructions *instructions, const ntr_tally_row *row) {
    const ntr_event span = {.kind = NTR_EVENT_SPAN,
                            .context = t->tally->views[row->view].context,
                            .address = row->address,
                            .offset = row->position,
                            .instructions = row->instructions};
    const code_owner first = owner_at(t, ntr_event_place(&span, row->address)),
                     last = owner_at(t, ntr_event_place(&span, row->last));
    const bool one = first.image == last.image && first.segment == last.segment;
    ntr_instruction insn;
    ntr_status status;
    ntr_instructions_begin(instructions, &span);
    for (uint32_t i = 0; (status = ntr_instructions_next(instructions, &insn)) == NTR_OK; i++) {
        if (ntr_reserve(t->tally->allocator, (void **)&t->items, &t->capacity, t->count + 1, sizeof *t->items))
            return NTR_E_MEMORY;
        const bool is_last = insn.address == row->last;
        const ntr_place place = ntr_event_place(&span, insn.address);
        const code_owner owner = one ? first : owner_at(t, place);
        t->items[t->count++] = (counted_insn){
            .version = version_of(t, owner, place, &insn.insn),
            .count = {.address = insn.address,
                      .position = row->position,
                      .view = row->view,
                      .image = owner.image,
                      .executed = row->count,
                      .ticks = ticks_until(row, i + 1) - ticks_until(row, i),
                      .taken = is_last && row->end == NTR_SPAN_TAKEN ? row->count : 0,
                      .not_taken = is_last && row->end == NTR_SPAN_NOT_TAKEN ? row->count : 0,
                      .size = insn.insn.size,
                      .flow = insn.insn.flow},
        };
    }
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

/* ECALL and EBREAK do not retire. An arrival at one is counted as an execution. */
static ntr_status add_trapping(count_table *t, const ntr_tally_row *row) {
    const bool traps = row->end == NTR_SPAN_EXCEPTION || row->end == NTR_SPAN_TRAP;
    const uint64_t address = traps ? row->address + UINT64_C(2) * row->halfwords : row->target;
    ntr_insn insn;
    if (!row->instructions || row->end == NTR_SPAN_INTERRUPT || (!traps && row->target_unknown)) return NTR_OK;
    const ntr_place place = ntr_tally_row_place(t->tally, row, address);
    if (ntr_program_insn(t->program, place, &insn) || insn.flow != NTR_FLOW_TRAP) return NTR_OK;
    if (ntr_reserve(t->tally->allocator, (void **)&t->items, &t->capacity, t->count + 1, sizeof *t->items))
        return NTR_E_MEMORY;
    const code_owner owner = owner_at(t, place);
    t->items[t->count++] = (counted_insn){
        .version = version_of(t, owner, place, &insn),
        .count = {.address = address,
                  .position = row->position,
                  .view = row->view,
                  .image = owner.image,
                  .executed = row->count,
                  .size = insn.size,
                  .flow = insn.flow},
    };
    return NTR_OK;
}

static int compare_counts(const void *a, const void *b) {
    const counted_insn *x = a, *y = b;
    NTR_COMPARE_BY(count.address);
    NTR_COMPARE_BY(count.image);
    NTR_COMPARE_BY(version);
    NTR_COMPARE_BY(count.position);
    return 0;
}

/* Is it the same instruction with the same name? Names of code without a file may change although the code does not. */
static bool is_same(const count_table *t, const counted_insn *x, const counted_insn *y) {
    if (x->count.address != y->count.address || x->count.image != y->count.image || x->version != y->version)
        return false;
    const bool file = x->count.image != NTR_NO_IMAGE && t->program->images[x->count.image].path;
    return file || x->count.position == y->count.position ||
           ntr_program_validity(t->program, ntr_tally_count_place(t->tally, &x->count), x->count.address).from ==
               ntr_program_validity(t->program, ntr_tally_count_place(t->tally, &y->count), y->count.address).from;
}

/* Merges sorted items that are the same, and stores them as an array of counts. */
static ntr_status merge(const count_table *t, ntr_insn_count **counts, size_t *count) {
    size_t kept = 0;
    ntr_insn_count *to = *counts = ntr_alloc(t->tally->allocator, t->count + 1, sizeof *to);
    if (!to) return NTR_E_MEMORY;
    for (size_t i = 0; i < t->count; i++) {
        const ntr_insn_count *item = &t->items[i].count;
        if (kept && is_same(t, &t->items[i - 1], &t->items[i])) {
            to[kept - 1].executed += item->executed;
            to[kept - 1].ticks += item->ticks;
            to[kept - 1].taken += item->taken;
            to[kept - 1].not_taken += item->not_taken;
        } else {
            to[kept++] = *item;
        }
    }
    *count = kept;
    return NTR_OK;
}

static ntr_status expand_all(count_table *t, uint32_t view, bool trapping) {
    size_t rows;
    const ntr_tally_row *row = ntr_tally_rows(t->tally, &rows);
    ntr_instructions *instructions;
    ntr_instructions_new(t->program, t->tally->allocator, &instructions);
    ntr_status status = instructions && t->first_image ? NTR_OK : NTR_E_MEMORY;
    for (size_t i = 0; i < rows && status == NTR_OK; i++)
        if (view == UINT32_MAX || row[i].view == view) {
            status = expand(t, instructions, &row[i]);
            if (status == NTR_OK && trapping) status = add_trapping(t, &row[i]);
        }
    ntr_instructions_free(instructions);
    return status;
}

static ntr_status count_all(ntr_tally *t, const ntr_program *program, uint32_t view, bool trapping,
                            ntr_insn_count **counts, size_t *count) {
    count_table table = {
        .tally = t, .program = program, .first_image = ntr_program_first_images(program, t->allocator)};
    *counts = NULL;
    *count = 0;
    for (size_t i = 0; i < program->image_count; i++) table.changes |= !program->images[i].path;
    ntr_status status = expand_all(&table, view, trapping);
    if (status == NTR_OK) {
        if (table.count) qsort(table.items, table.count, sizeof *table.items, compare_counts);
        status = merge(&table, counts, count);
    }
    ntr_dealloc(t->allocator, table.items);
    ntr_dealloc(t->allocator, table.first_image);
    return status;
}

ntr_status ntr_tally_instructions(ntr_tally *t, const ntr_program *program, uint32_t view, ntr_insn_count **counts,
                                  size_t *count) {
    return count_all(t, program, view, false, counts, count);
}

ntr_status ntr_tally_arrivals(ntr_tally *t, const ntr_program *program, uint32_t view, ntr_insn_count **counts,
                              size_t *count) {
    return count_all(t, program, view, true, counts, count);
}

void ntr_tally_free_counts(const ntr_tally *t, ntr_insn_count *counts) {
    ntr_dealloc(t->allocator, counts);
}
