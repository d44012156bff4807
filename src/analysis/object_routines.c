/* Routines of assembler: code that has lines, but often no functions in debug information. */
#include "analysis/object_run.h"

#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

static int compare_addresses(const void *a, const void *b) {
    const ntr_collected_function *x = a, *y = b;
    NTR_COMPARE_BY(shown.address);
    return 0;
}

/* Returns the end of the function of debug information around an address, or 0. */
static uint64_t function_end(const ntr_object_run *r, uint64_t address) {
    ntr_frame frame;
    if (r->coverage->only_count) /* those that are not selected were not collected */
        return ntr_debug_info_function(r->debug, ntr_object_run_place(r, address), &frame) == NTR_OK && frame.size
                   ? frame.entry + frame.size
                   : 0;
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
static ntr_status add_routine_insn(ntr_object_run *r, const ntr_line_row *row, uint64_t at, const ntr_insn *insn,
                                   uint64_t bits) {
    ntr_object_coverage *c = r->coverage;
    ntr_symbol symbol = {.name = NULL};
    const bool named = ntr_program_symbol(r->program, ntr_object_run_place(r, at), &symbol) == NTR_OK;
    const char *name = named ? symbol.name : row->file;
    ntr_collected_function *last = c->function_count > r->described ? &c->functions[c->function_count - 1] : NULL;
    bool next = last && strcmp(last->shown.name, name ? name : "") == 0 &&
                (named || last->shown.address + r->bias + last->shown.size == at);
    if (!next) {
        const ntr_object_function shown = {
            .name = ntr_texts_keep(&c->texts, name ? name : ""),
            .image = r->image,
            .file = row->file ? ntr_texts_keep(&c->texts, row->file) : NULL,
            .line = row->line,
            .address = at - r->bias,
        };
        if (!shown.name || !(last = ntr_object_run_add(r, &shown))) return NTR_E_MEMORY;
    }
    last->shown.size = at + insn->size - r->bias - last->shown.address;
    last->shown.insn_count++;
    return ntr_object_run_add_insn(r, at, insn, bits);
}

/* ---- padding ----------------------------------------------------------------------------------- */

static bool symbol_begins(const ntr_object_run *r, uint64_t address) {
    ntr_symbol symbol;
    return ntr_program_symbol(r->program, ntr_object_run_place(r, address), &symbol) == NTR_OK &&
           symbol.address == address;
}

/* nop, c.nop, and zeros. */
static bool fills(const ntr_insn *insn, uint64_t bits) {
    return bits == 0x13 || (insn->size == 2 && bits <= 1);
}

/* Returns whether the code before an address never continues there: a function ends, or an instruction of a routine
 * that always jumps. */
static bool is_after_end(const ntr_object_run *r, uint64_t address) {
    const ntr_object_coverage *c = r->coverage;
    if (address > 1 && function_end(r, address - 2) == address) return true;
    const ntr_collected_function *last = c->function_count > r->described ? &c->functions[c->function_count - 1] : NULL;
    if (!last || last->shown.address + r->bias + last->shown.size != address) return false;
    const ntr_flow flow = (ntr_flow)c->insns[c->insn_count - 1].flow;
    return flow == NTR_FLOW_DIRECT_JUMP || flow == NTR_FLOW_INDIRECT_JUMP || flow == NTR_FLOW_RETURN;
}

/* Returns the end of the padding at an address, or the address: instructions without effect that are never executed,
 * from the end of code up to the next row or symbol. Assemblers and linkers align code with them, and give them no row
 * of their own. */
static uint64_t padding_end(ntr_object_run *r, const ntr_line_row *row, uint64_t address) {
    const uint64_t limit = row->address + row->size;
    ntr_insn insn;
    uint64_t bits, at = address;
    bool other;
    if (row->address == address || !is_after_end(r, address)) return address;
    while (at < limit && !symbol_begins(r, at) &&
           ntr_object_code_at(&r->code, ntr_object_run_place(r, at), &insn, &bits) && fills(&insn, bits) &&
           !ntr_object_run_count(r, at, bits, &other).executed && !other)
        at += insn.size;
    return at >= limit || symbol_begins(r, at) ? at : address;
}

/* ---- */

ntr_status ntr_object_run_routines(ntr_object_run *r) {
    ntr_object_coverage *c = r->coverage;
    const size_t count = c->function_count - r->first;
    uint64_t done = 0;
    r->described = c->function_count;
    if (count) qsort(c->functions + r->first, count, sizeof *c->functions, compare_addresses);
    for (size_t i = 0; i < r->row_count; i++) {
        const ntr_line_row *row = &r->rows[i];
        ntr_insn insn;
        uint64_t bits;
        if (!ntr_object_run_selects(r, row->file)) continue;
        for (uint64_t at = row->address > done ? row->address : done, end; at - row->address < row->size;) {
            if ((end = function_end(r, at)) != 0 || (end = padding_end(r, row, at)) != at) {
                at = end;
            } else {
                if (!ntr_object_code_at(&r->code, ntr_object_run_place(r, at), &insn, &bits)) break;
                TRY(add_routine_insn(r, row, at, &insn, bits));
                at += insn.size;
            }
            done = at;
        }
    }
    return NTR_OK;
}
