#include "analysis/line_graph.h"

#include "analysis/never_returns.h"
#include "base/allocator.h"
#include "base/bytes.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

/* ---- instructions ------------------------------------------------------------------------------ */

/* Returns the instruction of the same function at an address, or NTR_NO_INDEX. */
static uint32_t find_in_function(const ntr_line_flow *f, const ntr_line_insn *from, uint64_t address) {
    const ntr_line_insn *to = ntr_line_flow_find(f, address);
    return to && to->function == from->function ? (uint32_t)(to - f->insns) : NTR_NO_INDEX;
}

uint32_t ntr_line_graph_target(const ntr_pass_graph *g, const ntr_line_insn *insn) {
    if (insn->count.flow != NTR_FLOW_BRANCH && insn->count.flow != NTR_FLOW_DIRECT_JUMP) return NTR_NO_INDEX;
    return find_in_function(g->flow, insn, insn->target);
}

static ntr_place place_of(const ntr_pass_graph *g, uint64_t address) {
    return ntr_program_image_place(g->counts->program, g->index, address);
}

uint32_t ntr_line_graph_bits(const ntr_pass_graph *g, uint32_t insn) {
    const ntr_insn_count *of = &g->flow->insns[insn].count;
    uint8_t bytes[4] = {0};
    if (of->size > sizeof bytes) return 0;
    if (ntr_program_read(g->counts->program, place_of(g, of->address), bytes, of->size) != of->size) return 0;
    return (uint32_t)ntr_little(bytes, of->size);
}

bool ntr_line_graph_is_nop(const ntr_pass_graph *g, uint32_t insn) {
    return ntr_line_flow_is_nop(g->counts->program, g->index, &g->flow->insns[insn].count);
}

bool ntr_line_graph_symbol(const ntr_pass_graph *g, uint64_t address, ntr_symbol *symbol) {
    return ntr_program_symbol(g->counts->program, place_of(g, address), symbol) == NTR_OK && symbol->address == address;
}

bool ntr_line_graph_callee(const ntr_pass_graph *g, uint32_t block, ntr_symbol *symbol) {
    const ntr_line_insn *call = &g->flow->insns[g->blocks[block].last];
    return ntr_line_is_call(call) && call->target && ntr_line_graph_symbol(g, call->target, symbol);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

/* Returns whether a row of the tally is a jump by register inside of the image. */
static bool is_jump_row(const ntr_pass_graph *g, size_t row) {
    const struct ntr_row_images *images = &g->counts->images[row];
    return g->rows[row].end == NTR_SPAN_INDIRECT_JUMP && images->last == g->index && images->target == g->index;
}

/* Returns whether a block goes on after an instruction. Code that was not executed has no counts to tell apart. */
static bool goes_on(const ntr_pass_graph *g, uint32_t i) {
    const ntr_line_insn *insn = &g->flow->insns[i];
    if (!ntr_line_is_adjacent(insn)) return false;
    if (insn->count.flow == NTR_FLOW_LINEAR) return true;
    return ntr_line_is_call(insn) && insn->target && insn->count.executed &&
           insn->count.executed == insn[1].count.executed &&
           ntr_always_returns(g->counts->program, place_of(g, insn->target));
}

/* Without optimization, the end of an inlined copy (`always_inline`) ends a block. */
static ntr_status mark_end_of_copy(void *user, const ntr_frame *frame) {
    const ntr_pass_graph *g = user;
    const ntr_line_insn *insn = frame->inlined ? ntr_line_flow_find(g->flow, frame->entry + frame->size) : NULL;
    if (insn && !insn->optimized) g->block_of[insn - g->flow->insns] = 1;
    return NTR_OK;
}

/* Marks where blocks begin in `block_of`. */
static ntr_status mark_leaders(ntr_pass_graph *g) {
    ntr_line_flow *f = g->flow;
    for (uint32_t i = 0; i < f->count; i++) {
        if (i == 0 || !goes_on(g, i - 1)) g->block_of[i] = 1;
        const uint32_t target = ntr_line_graph_target(g, &f->insns[i]);
        if (target != NTR_NO_INDEX) g->block_of[target] = 1;
    }
    for (size_t i = 0; i < g->row_count; i++) {
        const ntr_line_insn *to = is_jump_row(g, i) ? ntr_line_flow_find(f, g->rows[i].target) : NULL;
        if (to) g->block_of[to - f->insns] = 1;
    }
    return ntr_debug_info_functions(g->debug, g->index, mark_end_of_copy, g);
}

static ntr_status make_blocks(ntr_pass_graph *g) {
    ntr_line_flow *f = g->flow;
    g->block_of = ntr_alloc(g->allocator, f->count, sizeof *g->block_of);
    if (!g->block_of) return NTR_E_MEMORY;
    TRY(mark_leaders(g));
    for (size_t i = 0; i < f->count; i++) g->block_count += g->block_of[i];
    g->blocks = ntr_alloc(g->allocator, g->block_count, sizeof *g->blocks);
    if (!g->blocks) return NTR_E_MEMORY;
    uint32_t at = NTR_NO_INDEX;
    for (uint32_t i = 0; i < f->count; i++) {
        if (g->block_of[i]) {
            at++;
            g->blocks[at] = (ntr_pass_block){
                .first = i, .next = NTR_NO_INDEX, .also = NTR_NO_INDEX, .rest = f->insns[i].count.executed};
            if (i && ntr_line_is_adjacent(&f->insns[i - 1])) g->blocks[at - 1].next = at;
        }
        g->block_of[i] = at;
        g->blocks[at].last = i;
    }
    return NTR_OK;
}

/* ---- arcs -------------------------------------------------------------------------------------- */
static ntr_status add_arc(ntr_pass_graph *g, uint32_t from, uint32_t to, uint64_t count) {
    count = NTR_LINE_MIN(count, g->blocks[to].rest);
    if (!count) return NTR_OK;
    if (ntr_reserve(g->allocator, (void **)&g->arcs, &g->arc_capacity, g->arc_count + 1, sizeof *g->arcs))
        return NTR_E_MEMORY;
    g->arcs[g->arc_count++] = (ntr_pass_arc){.from = from, .to = to, .count = count};
    g->blocks[to].rest -= count;
    return NTR_OK;
}

static uint64_t without_outcome(const ntr_insn_count *c) {
    return c->executed - NTR_LINE_MIN(c->executed, c->taken + c->not_taken);
}

static ntr_status add_jumps(ntr_pass_graph *g) {
    const ntr_line_flow *f = g->flow;
    for (uint32_t b = 0; b < g->block_count; b++) {
        const ntr_line_insn *last = &f->insns[g->blocks[b].last];
        const uint32_t target = ntr_line_graph_target(g, last);
        const bool branch = last->count.flow == NTR_FLOW_BRANCH;
        if (target != NTR_NO_INDEX) g->blocks[g->block_of[target]].targeted = true;
        if (target != NTR_NO_INDEX)
            TRY(add_arc(g, b, g->block_of[target], branch ? last->count.taken : last->count.executed));
        if (branch && g->blocks[b].next != NTR_NO_INDEX) TRY(add_arc(g, b, g->blocks[b].next, last->count.not_taken));
    }
    for (size_t i = 0; i < g->row_count; i++) {
        const ntr_line_insn *from = is_jump_row(g, i) ? ntr_line_flow_find(f, g->rows[i].last) : NULL;
        const uint32_t to = from ? find_in_function(f, from, g->rows[i].target) : NTR_NO_INDEX;
        if (to != NTR_NO_INDEX) TRY(add_arc(g, g->block_of[from - f->insns], g->block_of[to], g->rows[i].count));
    }
    return NTR_OK;
}

/* When the instruction after such a call is executed, an exception has led there. */
static bool never_returns(const ntr_pass_graph *g, uint32_t b) {
    const ntr_line_insn *call = &g->flow->insns[g->blocks[b].last];
    return ntr_line_is_call(call) && call->target &&
           ntr_never_returns(g->counts->program, g->debug, place_of(g, call->target));
}

static bool calls_resume(const ntr_pass_graph *g, uint32_t b) {
    static const char resume[] = "_Unwind_Resume";
    ntr_symbol symbol;
    return ntr_line_graph_callee(g, b, &symbol) && strncmp(symbol.name, resume, sizeof resume - 1) == 0 &&
           (symbol.name[sizeof resume - 1] == 0 || symbol.name[sizeof resume - 1] == '@');
}

/* Code that cleans up after an exception is a chain of calls that ends with _Unwind_Resume. Each call is a pass,
 * because what gcc puts between two of them belongs to no line. */
static void find_cleanups(ntr_pass_graph *g) {
    for (uint32_t b = g->block_count; b-- > 0;) {
        const ntr_insn_count *last = &g->flow->insns[g->blocks[b].last].count;
        if (!last->executed || !calls_resume(g, b)) continue;
        for (uint32_t at = b; at > 1 && g->blocks[at - 1].next == at && g->blocks[at - 2].next == at - 1; at--) {
            if (!ntr_line_is_call(&g->flow->insns[g->blocks[at - 1].last]) ||
                !ntr_line_is_call(&g->flow->insns[g->blocks[at - 2].last]))
                break;
            if (never_returns(g, at - 1) || never_returns(g, at - 2)) break;
            g->blocks[at - 2].cleans = true;
        }
    }
}

/* Straight code, returns of calls, and branches whose outcome is not recorded: what the jumps leave of the next block's
 * executions came from the block before it, as far as that was executed. */
static ntr_status add_straight_arcs(ntr_pass_graph *g) {
    for (uint32_t b = 0; b < g->block_count; b++) {
        ntr_pass_block *from = &g->blocks[b];
        const ntr_line_insn *last = &g->flow->insns[from->last];
        const bool call = ntr_line_is_call(last), next = from->next != NTR_NO_INDEX;
        const bool final = call && last->count.executed && never_returns(g, b);
        if (call && !final) from->unreturned = last->count.executed;
        if (last->count.flow == NTR_FLOW_BRANCH) {
            const uint32_t target = ntr_line_graph_target(g, last);
            uint64_t open = without_outcome(&last->count), before = next ? g->blocks[from->next].rest : 0;
            if (!open) continue;
            if (next) TRY(add_arc(g, b, from->next, open));
            open -= next ? before - g->blocks[from->next].rest : 0;
            if (target != NTR_NO_INDEX) TRY(add_arc(g, b, g->block_of[target], open));
        } else if (next && !final &&
                   (call || last->count.flow == NTR_FLOW_LINEAR || last->count.flow == NTR_FLOW_TRAP)) {
            const uint64_t before = g->blocks[from->next].rest;
            if (from->cleans)
                g->blocks[from->next].rest -= NTR_LINE_MIN(before, last->count.executed);
            else
                TRY(add_arc(g, b, from->next, last->count.executed));
            if (call) from->unreturned -= before - g->blocks[from->next].rest;
        }
    }
    return NTR_OK;
}

static int compare_arcs(const void *a, const void *b) {
    const ntr_pass_arc *x = a, *y = b;
    NTR_COMPARE_BY(from);
    NTR_COMPARE_BY(to);
    return 0;
}

static void index_arcs(ntr_pass_graph *g) {
    if (g->arc_count) qsort(g->arcs, g->arc_count, sizeof *g->arcs, compare_arcs);
    for (size_t i = g->arc_count; i-- > 0;) {
        ntr_pass_block *b = &g->blocks[g->arcs[i].from];
        b->first_arc = (uint32_t)i;
        b->arcs++;
    }
}

bool ntr_line_graph_is_landing_pad(const ntr_pass_graph *g, uint32_t b) {
    if (g->blocks[b].targeted) return false;
    if (!b || g->blocks[b - 1].next != b) return true;
    const ntr_line_insn *before = &g->flow->insns[g->blocks[b - 1].last];
    const ntr_flow flow = (ntr_flow)before->count.flow;
    if (ntr_line_is_call(before)) return never_returns(g, b - 1);
    return flow != NTR_FLOW_LINEAR && flow != NTR_FLOW_BRANCH && flow != NTR_FLOW_TRAP;
}

ntr_status ntr_line_graph_make(ntr_pass_graph *g) {
    TRY(make_blocks(g));
    TRY(add_jumps(g));
    find_cleanups(g);
    TRY(add_straight_arcs(g));
    index_arcs(g);
    return NTR_OK;
}

void ntr_line_graph_release(ntr_pass_graph *g) {
    ntr_dealloc(g->allocator, g->block_of);
    ntr_dealloc(g->allocator, g->blocks);
    ntr_dealloc(g->allocator, g->arcs);
}
