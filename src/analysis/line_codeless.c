#include "analysis/line_codeless.h"

#include <string.h>

/* ---- registers --------------------------------------------------------------------------------- */

enum {
    NO_REGISTER = 0,
    S1 = 9,
    FIRST_ARGUMENT = 10,
    S2 = 18,
    S11 = 27,
    NUMBER_MASK = 31,
    SHORT_FIRST = 8,
    SHORT_MASK = 7
};

static bool is_long(uint32_t bits) {
    return (bits & 3) == 3;
}

static unsigned destination(uint32_t bits) {
    return bits >> 7 & NUMBER_MASK;
}

/* Without optimization, registers that calls preserve have values of the compiler only, never variables. */
static bool is_preserved(unsigned reg) {
    return reg == S1 || (reg >= S2 && reg <= S11);
}

/* Returns the register that an instruction sets to a constant (ADDI of x0, C.LI), or 0. */
static unsigned loads_constant(uint32_t bits) {
    const bool loads = is_long(bits) ? (bits & 0xff07f) == 0x13 : (bits & 0xe003) == 0x4001;
    return loads ? destination(bits) : NO_REGISTER;
}

static uint32_t constant(uint32_t bits) {
    return is_long(bits) ? bits >> 20 : (bits >> 2 & 31) | (bits >> 7 & 32);
}

/* Returns the register that an instruction copies (ADDI of 0, C.MV), or 0. */
static unsigned copies(uint32_t bits) {
    if (is_long(bits)) return (bits & 0xfff0707f) == 0x13 ? bits >> 15 & NUMBER_MASK : NO_REGISTER;
    return (bits & 0xf003) == 0x8002 ? bits >> 2 & NUMBER_MASK : NO_REGISTER;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static const ntr_line_insn *first_of(const ntr_pass_graph *g, uint32_t b) {
    return &g->flow->insns[g->blocks[b].first];
}

static const ntr_line_insn *last_of(const ntr_pass_graph *g, uint32_t b) {
    return &g->flow->insns[g->blocks[b].last];
}

static bool is_by_gcc(const ntr_line_insn *insn) {
    return !insn->by_llvm && !insn->optimized;
}

static bool is_lone_jump(const ntr_pass_graph *g, uint32_t b) {
    return g->blocks[b].first == g->blocks[b].last && last_of(g, b)->count.flow == NTR_FLOW_DIRECT_JUMP;
}

/* Returns whether a block ends with the call of a destructor: _ZN...D1Ev or _ZN...D2Ev. */
static bool calls_destructor(const ntr_pass_graph *g, uint32_t b) {
    static const char begin[] = "_ZN", end[] = "Ev";
    ntr_symbol symbol;
    if (!ntr_line_graph_callee(g, b, &symbol) || strncmp(symbol.name, begin, sizeof begin - 1) != 0) return false;
    const size_t length = strlen(symbol.name);
    return length > 4 && symbol.name[length - 4] == 'D' && strcmp(&symbol.name[length - 2], end) == 0;
}

/* ---- ways out of scopes ------------------------------------------------------------------------ */

/* Returns the preserved register that the branch at the end of a block tests, or 0: it is compared with 0, or its copy
 * with a constant. */
static unsigned tested_register(const ntr_pass_graph *g, uint32_t b) {
    const uint32_t last = g->blocks[b].last;
    if (last_of(g, b)->count.flow != NTR_FLOW_BRANCH) return NO_REGISTER;
    const uint32_t bits = ntr_line_graph_bits(g, last);
    const unsigned operand = is_long(bits) ? bits >> 15 & NUMBER_MASK : SHORT_FIRST + (bits >> 7 & SHORT_MASK);
    const bool with_zero = !is_long(bits) || !(bits >> 20 & NUMBER_MASK);
    if (with_zero && is_preserved(operand)) return operand;
    if (!is_long(bits) || last < g->blocks[b].first + 2) return NO_REGISTER;
    const unsigned copied = copies(ntr_line_graph_bits(g, last - 2));
    return is_preserved(copied) && loads_constant(ntr_line_graph_bits(g, last - 1)) ? copied : NO_REGISTER;
}

/* Returns whether an instruction of a block sets a register to a constant or to the value of another one. */
static bool sets(const ntr_pass_graph *g, uint32_t b, unsigned reg) {
    for (uint32_t i = g->blocks[b].first; i <= g->blocks[b].last; i++) {
        const uint32_t bits = ntr_line_graph_bits(g, i);
        if (loads_constant(bits) == reg || (copies(bits) && destination(bits) == reg)) return true;
    }
    return false;
}

/* Returns whether the branch at the end of a block selects the way out of a scope: several ways meet before the calls
 * of destructors that precede it, and each has set the register that it tests to a number. Stores the number of the way
 * that comes from the end of the scope. */
static bool selects_way(const ntr_pass_graph *g, uint32_t b, uint32_t *number) {
    enum { CALLS_MAX = 64 };
    const unsigned reg = tested_register(g, b);
    if (!reg) return false;
    for (uint32_t at = b, calls = 0; at > 0 && calls < CALLS_MAX && !sets(g, at, reg); at--, calls++) {
        if (g->blocks[at].targeted) {
            const uint32_t bits = ntr_line_graph_bits(g, g->blocks[at].first - 1);
            *number = constant(bits);
            return loads_constant(bits) == reg;
        }
        if (g->blocks[at - 1].next != at) break;
    }
    return false;
}

/* Returns whether a block goes on selecting: it has nothing but the next comparison. */
static bool selects_on(const ntr_pass_graph *g, uint32_t b, unsigned reg) {
    return g->blocks[b].last - g->blocks[b].first <= 2 && tested_register(g, b) == reg;
}

/* Returns whether a handler of exceptions ends with the call at the end of a block. */
static bool ends_handler(const ntr_pass_graph *g, uint32_t b) {
    static const char end[] = "__cxa_end_catch";
    ntr_symbol symbol;
    return ntr_line_graph_callee(g, b, &symbol) && strncmp(symbol.name, end, sizeof end - 1) == 0;
}

bool ntr_line_codeless_is_way(const ntr_pass_graph *g, uint32_t insn) {
    return is_preserved(loads_constant(ntr_line_graph_bits(g, insn)));
}

/* Returns whether a block begins with the number of a way out of the scope around it. */
static bool begins_way(const ntr_pass_graph *g, uint32_t b) {
    return ntr_line_codeless_is_way(g, g->blocks[b].first);
}

/* Returns whether an arc from a branch is taken when the register has a number. */
static bool is_way_of(const ntr_pass_graph *g, const ntr_pass_arc *a, uint32_t number) {
    enum { BEQ_OF = 0x7000, C_BEQZ_OF = 0x2000 };
    const uint32_t last = g->blocks[a->from].last, bits = ntr_line_graph_bits(g, last);
    const bool with_zero = !is_long(bits) || !(bits >> 20 & NUMBER_MASK);
    const uint32_t compared = with_zero ? 0 : constant(ntr_line_graph_bits(g, last - 1));
    const bool taken_if_equal = !(bits & (is_long(bits) ? BEQ_OF : C_BEQZ_OF)),
               taken = g->blocks[a->from].next != a->to;
    return (number == compared) == (taken == taken_if_equal);
}

/* Returns whether an arc of a branch that selects the way leads to a note that memory is free. `goto` out of a handler
 * does not, and has a line. The way to the end of a scope around this one begins with its number, which has a line. */
static bool leads_to_note(const ntr_pass_graph *g, const ntr_pass_arc *a, uint32_t number) {
    const bool after_handler = a->from && g->blocks[a->from - 1].next == a->from && ends_handler(g, a->from - 1);
    if (after_handler) return is_way_of(g, a, number) || begins_way(g, a->to);
    if (g->blocks[a->from].next != a->to) return true;
    if (selects_on(g, a->to, tested_register(g, a->from))) return false;
    return !begins_way(g, a->to);
}

/* Returns whether a block is the jump of a branch that is too far: a branch that skips this jump is before it. */
static bool is_far_branch(const ntr_pass_graph *g, uint32_t b) {
    if (!b || !is_lone_jump(g, b) || g->blocks[b - 1].next != b) return false;
    const ntr_line_insn *jump = last_of(g, b), *branch = last_of(g, b - 1);
    return branch->count.flow == NTR_FLOW_BRANCH && branch->target == jump->count.address + jump->count.size;
}

/* Returns whether an arc leads from the end of a scope to the end of the scope around it, to which a branch leads that
 * did not enter the inner one. If this branch is just before the call of the destructor, a temporary ends there, which
 * has a line. */
static bool ends_scope(const ntr_pass_graph *g, const ntr_pass_arc *a) {
    const ntr_pass_block *from = &g->blocks[a->from], *to = &g->blocks[a->to];
    if (!a->from || from->next != a->to || !to->skipped_to) return false;
    if (!calls_destructor(g, a->from) || !calls_destructor(g, a->to)) return false;
    const ntr_line_insn *before = first_of(g, a->from) - 1;
    return before->count.flow != NTR_FLOW_BRANCH || before->target != first_of(g, a->to)->count.address;
}

/* Returns whether a landing pad keeps the exception and the number of its handler. */
static bool selects_handler(const ntr_pass_graph *g, uint32_t b) {
    bool exception = false, handler = false;
    for (uint32_t i = g->blocks[b].first; i <= g->blocks[b].last; i++) {
        const uint32_t bits = ntr_line_graph_bits(g, i);
        if (!is_preserved(destination(bits))) continue;
        exception |= copies(bits) == FIRST_ARGUMENT;
        handler |= copies(bits) == FIRST_ARGUMENT + 1;
    }
    return exception && handler;
}

/* The calls of destructors between a landing pad and its handler are apart from each other. */
static void find_handler_ways(ntr_pass_graph *g, uint32_t b) {
    while (g->blocks[b].arcs == 1 && ntr_line_is_call(last_of(g, b))) {
        ntr_pass_arc *a = &g->arcs[g->blocks[b].first_arc];
        if (is_lone_jump(g, a->to) && g->blocks[a->to].arcs == 1) a = &g->arcs[g->blocks[a->to].first_arc];
        if (a->apart) return;
        a->apart = true;
        b = a->to;
    }
}

/* Returns whether a block leads from an exception to a handler: it begins without a row, and moves the exception or
 * compares its number with those of handlers. */
static bool leads_to_handler(const ntr_pass_graph *g, uint32_t b) {
    const ntr_flow flow = (ntr_flow)last_of(g, b)->count.flow;
    if (first_of(g, b)->begins_row || (flow != NTR_FLOW_BRANCH && flow != NTR_FLOW_LINEAR)) return false;
    return ntr_line_graph_is_landing_pad(g, b) || (b && g->blocks[b - 1].next == b && g->blocks[b - 1].to_handler);
}

/* Such code is a part of the way from the call that has thrown. */
static void join_handler(ntr_pass_graph *g, ntr_pass_arc *a) {
    g->blocks[a->to].rest += a->count;
    a->count = 0;
}

/* ---- lines of blocks --------------------------------------------------------------------------- */

static bool is_cxx(const ntr_pass_graph *g, const ntr_line_insn *insn) {
    ntr_symbol symbol;
    return ntr_line_graph_symbol(g, insn->function, &symbol) && strncmp(symbol.name, "_Z", 2) == 0;
}

/* Returns an instruction of the greatest line of the code from the last branch before an instruction. */
static uint32_t greatest_since_branch(const ntr_pass_graph *g, uint32_t insn) {
    enum { OPERAND_MAX = 4096 }; /* instructions */
    const ntr_line_insn *insns = g->flow->insns;
    uint32_t greatest = insn;
    for (uint32_t i = insn; i > 0 && insn - i < OPERAND_MAX && ntr_line_is_adjacent(&insns[i - 1]); i--) {
        if (i < insn && insns[i - 1].count.flow == NTR_FLOW_BRANCH) break;
        if (insns[i - 1].file == insns[insn].file && insns[i - 1].line > insns[greatest].line) greatest = i - 1;
    }
    return greatest;
}

/* C++ has the place of the end of the statement for a value that a function returns. */
static void find_returned_value(ntr_pass_graph *g, uint32_t to, uint32_t one) {
    const ntr_line_insn *insns = g->flow->insns, *first = first_of(g, to);
    if (last_of(g, to)->count.flow != NTR_FLOW_RETURN || !first->begins_row || !first->returns_value) return;
    if (insns[one].line != first[-1].line || !is_cxx(g, first)) return;
    const uint32_t greatest = greatest_since_branch(g, one);
    if (insns[greatest].line == insns[one].line) return;
    g->blocks[to].more = first->count.executed;
    g->blocks[to].more_of = greatest;
}

/* The value of `a && b`: `li a, 1; j value; li a, 0; value:`. */
static void find_value(ntr_pass_graph *g, uint32_t b) {
    const ntr_line_insn *insns = g->flow->insns;
    const uint32_t jump = g->blocks[b].last, value = ntr_line_graph_target(g, &insns[jump]);
    if (jump == g->blocks[b].first || value == NTR_NO_INDEX || !value || !ntr_line_is_adjacent(&insns[value - 1]))
        return;
    const uint32_t one = ntr_line_graph_bits(g, jump - 1), other = ntr_line_graph_bits(g, value - 1);
    const unsigned reg = loads_constant(one);
    if (!reg || is_preserved(reg) || loads_constant(other) != reg || constant(one) + constant(other) != 1) return;
    ntr_pass_block *to = &g->blocks[g->block_of[value]];
    if (insns[jump - 1].file != insns[value - 1].file || to->also != NTR_NO_INDEX) return;
    to->also = insns[jump - 1].line > insns[value - 1].line ? jump - 1 : value - 1;
    find_returned_value(g, g->block_of[value], jump - 1);
}

/* ---- the whole --------------------------------------------------------------------------------- */

bool ntr_line_codeless_leads_out(const ntr_pass_graph *g, uint32_t insn) {
    const uint32_t b = g->block_of[insn];
    if (!is_lone_jump(g, b) || !g->flow->insns[insn].begins_row || !is_by_gcc(&g->flow->insns[insn])) return false;
    const uint32_t to = ntr_line_graph_target(g, &g->flow->insns[insn]);
    return to != NTR_NO_INDEX && last_of(g, g->block_of[to])->count.flow == NTR_FLOW_RETURN;
}

static void look_at_block(ntr_pass_graph *g, uint32_t b) {
    const ntr_line_insn *last = last_of(g, b);
    const uint32_t to = ntr_line_graph_target(g, last);
    const bool is_branch = last->count.flow == NTR_FLOW_BRANCH;
    if (to != NTR_NO_INDEX && to > g->blocks[b].last && (is_branch || is_far_branch(g, b)) && !tested_register(g, b))
        g->blocks[g->block_of[to]].skipped_to = true;
    g->blocks[b].to_handler = leads_to_handler(g, b);
    if (last->count.flow == NTR_FLOW_DIRECT_JUMP) find_value(g, b);
}

/* Returns whether a block is all that is left of a note: a jump, a `nop` in place of one, or both. */
static bool is_note(const ntr_pass_graph *g, uint32_t b) {
    const ntr_pass_block *of = &g->blocks[b];
    const bool nop = ntr_line_graph_is_nop(g, of->first), jump = last_of(g, b)->count.flow == NTR_FLOW_DIRECT_JUMP;
    return of->first == of->last ? nop || jump : nop && jump && of->first + 1 == of->last;
}

static void look_at_arc(ntr_pass_graph *g, ntr_pass_arc *a) {
    uint32_t number;
    if (g->blocks[a->from].to_handler) join_handler(g, a);
    a->apart |= ends_scope(g, a) || (selects_way(g, a->from, &number) && leads_to_note(g, a, number)) ||
                (ends_handler(g, a->from) && begins_way(g, a->to));
    if (a->apart && is_note(g, a->to) && last_of(g, a->to)->line == last_of(g, a->from)->line)
        g->blocks[a->to].no_line = true;
}

void ntr_line_codeless_find(ntr_pass_graph *g) {
    for (uint32_t b = 0; b < g->block_count; b++)
        if (is_by_gcc(last_of(g, b))) look_at_block(g, b);
    for (size_t i = 0; i < g->arc_count; i++)
        if (is_by_gcc(last_of(g, g->arcs[i].from))) look_at_arc(g, &g->arcs[i]);
    for (uint32_t b = 0; b < g->block_count; b++)
        if (is_by_gcc(last_of(g, b)) && ntr_line_graph_is_landing_pad(g, b) && selects_handler(g, b))
            find_handler_ways(g, b);
}
