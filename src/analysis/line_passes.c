#include "analysis/line_passes.h"
#include "analysis/line_parts.h"
#include "analysis/never_returns.h"
#include "base/allocator.h"
#include "base/bytes.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

#define NO_INDEX  UINT32_MAX
#define MIN(a, b) ((a) < (b) ? (a) : (b))

typedef struct pass_block {
    uint32_t first, last; /* instructions */
    uint32_t end;         /* the first instruction of the function's end, or after `last` */
    uint32_t next;        /* the block after it in memory, which it can continue at, or NO_INDEX */
    uint32_t first_arc, arcs;
    bool targeted;        /* a branch or a direct jump leads to it */
    bool counts;          /* it returns, and a statement of the source does it */
    bool cleans;          /* calls of `next` are other passes */
    uint64_t rest;        /* executions that no arc leads to: calls of the function, landing pads, second returns */
    uint64_t unreturned;  /* calls at the end that did not return */
} pass_block;

typedef struct arc {
    uint32_t from, to; /* blocks */
    uint64_t count, left; /* left: executions that no cycle has taken yet */
} arc;

/* A line of one function. */
typedef struct line_group {
    uint32_t first; /* an instruction of it */
    uint32_t stamp; /* the last block in which it was seen, plus 1 */
    bool owned; /* a block belongs to it */
    uint64_t sum;    /* executions of the blocks that contain it */
    uint64_t ends;   /* executions of what no statement has made; used if the line contains nothing else */
    uint64_t after_jumps; /* the part of `ends` that follows a jump: optimized code can have moved a statement there */
    uint64_t most; /* executions of the part that was executed most often */
} line_group;

typedef struct membership {
    uint32_t group, block;
} membership;

typedef struct pass_graph {
    const ntr_allocator *allocator;
    ntr_line_flow *flow;
    const ntr_line_counts *counts;
    ntr_debug_info *debug;
    size_t index; /* of the image */
    const ntr_tally_row *rows;
    size_t row_count;
    uint32_t *group_of; /* by instruction */
    uint32_t *first_of; /* by instruction: the first one of the same place (line and column) */
    line_group *groups;
    uint32_t group_count;
    uint32_t *block_of; /* by instruction */
    pass_block *blocks;
    uint32_t block_count;
    arc *arcs; /* by `from` */
    size_t arc_count, arc_capacity;
    membership *members; /* by group */
    size_t member_count, member_capacity;
    /* of the group that is being counted, by pass_block */
    uint32_t *inside; /* group plus 1 */
    uint32_t *next_arc;
    uint8_t *color;
    uint32_t *path; /* arcs from the root of the search to the current pass_block */
} pass_graph;

/* ---- lines ------------------------------------------------------------------------------------- */
static int compare_lines(const ntr_line_insn *x, const ntr_line_insn *y) {
    NTR_COMPARE_BY(function);
    NTR_COMPARE_BY(line);
    if (x->file != y->file) return !x->file ? -1 : !y->file ? 1 : strcmp(x->file, y->file);
    return 0;
}

static int compare_sorted(const void *a, const void *b) {
    const ntr_line_insn *const *s = a, *const *t = b;
    int order = compare_lines(*s, *t);
    return order ? order : (*s)->column != (*t)->column ? NTR_COMPARE((*s)->column, (*t)->column) : NTR_COMPARE(*s, *t);
}

static ntr_status make_groups(pass_graph *g) {
    const size_t count = g->flow->count;
    const ntr_line_insn **sorted = ntr_alloc(g->allocator, count, sizeof *sorted);
    g->group_of = ntr_alloc(g->allocator, count, sizeof *g->group_of);
    g->first_of = ntr_alloc(g->allocator, count, sizeof *g->first_of);
    g->groups = ntr_alloc(g->allocator, count, sizeof *g->groups);
    if (!sorted || !g->group_of || !g->first_of || !g->groups) {
        ntr_dealloc(g->allocator, sorted);
        return NTR_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++) sorted[i] = &g->flow->insns[i];
    qsort(sorted, count, sizeof *sorted, compare_sorted);
    for (size_t i = 0; i < count; i++) {
        const uint32_t index = (uint32_t)(sorted[i] - g->flow->insns);
        const bool same_line = i && compare_lines(sorted[i - 1], sorted[i]) == 0;
        if (!same_line) g->groups[g->group_count++] = (line_group){.first = index};
        const bool same_place = same_line && sorted[i - 1]->column == sorted[i]->column;
        g->group_of[index] = g->group_count - 1;
        g->first_of[index] = same_place ? g->first_of[sorted[i - 1] - g->flow->insns] : index;
    }
    ntr_dealloc(g->allocator, sorted);
    return NTR_OK;
}

/* ---- blocks ------------------------------------------------------------------------------------ */
/* The link registers of a swap of coroutines also serve calls by a pointer (callstack_change.c, enter). */
static bool is_call(const ntr_line_insn *insn) {
    const ntr_flow flow = (ntr_flow)insn->count.flow;
    return flow == NTR_FLOW_DIRECT_CALL || flow == NTR_FLOW_INDIRECT_CALL || flow == NTR_FLOW_CO_SWAP;
}

/* Returns whether the second of two consecutive instructions follows the first one in memory. */
static bool adjacent(const ntr_line_insn *insn) {
    return insn->count.address + insn->count.size == insn[1].count.address && insn->function == insn[1].function;
}

/* Returns the instruction of the same function at an address, or NO_INDEX. */
static uint32_t find_in_function(const ntr_line_flow *f, const ntr_line_insn *from, uint64_t address) {
    const ntr_line_insn *to = ntr_line_flow_find(f, address);
    return to && to->function == from->function ? (uint32_t)(to - f->insns) : NO_INDEX;
}

static uint32_t direct_target(const ntr_line_flow *f, const ntr_line_insn *insn) {
    if (insn->count.flow != NTR_FLOW_BRANCH && insn->count.flow != NTR_FLOW_DIRECT_JUMP) return NO_INDEX;
    return find_in_function(f, insn, insn->target);
}

static ntr_place place_of(const pass_graph *g, uint64_t address) {
    return ntr_program_image_place(g->counts->program, g->index, address);
}

/* Returns whether a row of the tally is a jump by register inside of the image. */
static bool is_jump_row(const pass_graph *g, size_t row) {
    const struct ntr_row_images *images = &g->counts->images[row];
    return g->rows[row].end == NTR_SPAN_INDIRECT_JUMP && images->last == g->index && images->target == g->index;
}

/* Returns whether a block goes on after an instruction. Code that was not executed has no counts to tell apart. */
static bool goes_on(const pass_graph *g, const ntr_line_insn *insn) {
    if (!adjacent(insn)) return false;
    if (insn->count.flow == NTR_FLOW_LINEAR) return true;
    return insn->count.flow == NTR_FLOW_DIRECT_CALL && insn->count.executed &&
           insn->count.executed == insn[1].count.executed &&
           ntr_always_returns(g->counts->program, place_of(g, insn->target));
}

/* Marks where blocks begin in `block_of`. */
static void mark_leaders(pass_graph *g) {
    ntr_line_flow *f = g->flow;
    for (size_t i = 0; i < f->count; i++) {
        if (i == 0 || !goes_on(g, &f->insns[i - 1])) g->block_of[i] = 1;
        const uint32_t target = direct_target(f, &f->insns[i]);
        if (target != NO_INDEX) g->block_of[target] = 1;
    }
    for (size_t i = 0; i < g->row_count; i++) {
        const ntr_line_insn *to = is_jump_row(g, i) ? ntr_line_flow_find(f, g->rows[i].target) : NULL;
        if (to) g->block_of[to - f->insns] = 1;
    }
}

static ntr_status make_blocks(pass_graph *g) {
    ntr_line_flow *f = g->flow;
    g->block_of = ntr_alloc(g->allocator, f->count, sizeof *g->block_of);
    if (!g->block_of) return NTR_E_MEMORY;
    mark_leaders(g);
    for (size_t i = 0; i < f->count; i++) g->block_count += g->block_of[i];
    g->blocks = ntr_alloc(g->allocator, g->block_count, sizeof *g->blocks);
    if (!g->blocks) return NTR_E_MEMORY;
    uint32_t at = NO_INDEX;
    for (uint32_t i = 0; i < f->count; i++) {
        if (g->block_of[i]) {
            at++;
            g->blocks[at] = (pass_block){.first = i, .next = NO_INDEX, .rest = f->insns[i].count.executed};
            if (i && adjacent(&f->insns[i - 1])) g->blocks[at - 1].next = at;
        }
        g->block_of[i] = at;
        g->blocks[at].last = i;
    }
    return NTR_OK;
}

/* ---- arcs -------------------------------------------------------------------------------------- */
static ntr_status add_arc(pass_graph *g, uint32_t from, uint32_t to, uint64_t count) {
    count = MIN(count, g->blocks[to].rest);
    if (!count) return NTR_OK;
    if (ntr_reserve(g->allocator, (void **)&g->arcs, &g->arc_capacity, g->arc_count + 1, sizeof *g->arcs))
        return NTR_E_MEMORY;
    g->arcs[g->arc_count++] = (arc){.from = from, .to = to, .count = count};
    g->blocks[to].rest -= count;
    return NTR_OK;
}

static uint64_t without_outcome(const ntr_insn_count *c) {
    return c->executed - MIN(c->executed, c->taken + c->not_taken);
}

static ntr_status add_jumps(pass_graph *g) {
    const ntr_line_flow *f = g->flow;
    for (uint32_t b = 0; b < g->block_count; b++) {
        const ntr_line_insn *last = &f->insns[g->blocks[b].last];
        const uint32_t target = direct_target(f, last);
        const bool branch = last->count.flow == NTR_FLOW_BRANCH;
        if (target != NO_INDEX) g->blocks[g->block_of[target]].targeted = true;
        if (target != NO_INDEX)
            TRY(add_arc(g, b, g->block_of[target], branch ? last->count.taken : last->count.executed));
        if (branch && g->blocks[b].next != NO_INDEX) TRY(add_arc(g, b, g->blocks[b].next, last->count.not_taken));
    }
    for (size_t i = 0; i < g->row_count; i++) {
        const ntr_line_insn *from = is_jump_row(g, i) ? ntr_line_flow_find(f, g->rows[i].last) : NULL;
        const uint32_t to = from ? find_in_function(f, from, g->rows[i].target) : NO_INDEX;
        if (to != NO_INDEX) TRY(add_arc(g, g->block_of[from - f->insns], g->block_of[to], g->rows[i].count));
    }
    return NTR_OK;
}

/* When the instruction after such a call is executed, an exception has led there. */
static bool never_returns(const pass_graph *g, uint32_t b) {
    const ntr_line_insn *call = &g->flow->insns[g->blocks[b].last];
    return call->count.flow == NTR_FLOW_DIRECT_CALL &&
           ntr_never_returns(g->counts->program, g->debug, place_of(g, call->target));
}

static bool calls_resume(const pass_graph *g, uint32_t b) {
    static const char resume[] = "_Unwind_Resume";
    const ntr_line_insn *call = &g->flow->insns[g->blocks[b].last];
    ntr_symbol symbol;
    if (call->count.flow != NTR_FLOW_DIRECT_CALL) return false;
    if (ntr_program_symbol(g->counts->program, place_of(g, call->target), &symbol) || symbol.address != call->target)
        return false;
    return strncmp(symbol.name, resume, sizeof resume - 1) == 0 &&
           (symbol.name[sizeof resume - 1] == 0 || symbol.name[sizeof resume - 1] == '@');
}

/* Code that cleans up after an exception is a chain of calls that ends with _Unwind_Resume. Each call is a pass,
 * because what gcc puts between two of them belongs to no line. */
static void find_cleanups(pass_graph *g) {
    for (uint32_t b = g->block_count; b-- > 0;) {
        const ntr_insn_count *last = &g->flow->insns[g->blocks[b].last].count;
        if (!last->executed || !calls_resume(g, b)) continue;
        for (uint32_t at = b; at > 1 && g->blocks[at - 1].next == at && g->blocks[at - 2].next == at - 1; at--) {
            if (!is_call(&g->flow->insns[g->blocks[at - 1].last]) || !is_call(&g->flow->insns[g->blocks[at - 2].last]))
                break;
            if (never_returns(g, at - 1) || never_returns(g, at - 2)) break;
            g->blocks[at - 2].cleans = true;
        }
    }
}

/* Straight code, returns of calls, and branches whose outcome is not recorded: what the jumps leave of the next block's
 * executions came from the block before it, as far as that was executed. */
static ntr_status add_straight_arcs(pass_graph *g) {
    for (uint32_t b = 0; b < g->block_count; b++) {
        pass_block *from = &g->blocks[b];
        const ntr_line_insn *last = &g->flow->insns[from->last];
        const bool call = is_call(last), next = from->next != NO_INDEX;
        const bool final = call && last->count.executed && never_returns(g, b);
        if (call && !final) from->unreturned = last->count.executed;
        if (last->count.flow == NTR_FLOW_BRANCH) {
            const uint32_t target = direct_target(g->flow, last);
            uint64_t open = without_outcome(&last->count), before = next ? g->blocks[from->next].rest : 0;
            if (!open) continue;
            if (next) TRY(add_arc(g, b, from->next, open));
            open -= next ? before - g->blocks[from->next].rest : 0;
            if (target != NO_INDEX) TRY(add_arc(g, b, g->block_of[target], open));
        } else if (next && !final &&
                   (call || last->count.flow == NTR_FLOW_LINEAR || last->count.flow == NTR_FLOW_TRAP)) {
            const uint64_t before = g->blocks[from->next].rest;
            if (from->cleans)
                g->blocks[from->next].rest -= MIN(before, last->count.executed);
            else
                TRY(add_arc(g, b, from->next, last->count.executed));
            if (call) from->unreturned -= before - g->blocks[from->next].rest;
        }
    }
    return NTR_OK;
}

static int compare_arcs(const void *a, const void *b) {
    const arc *x = a, *y = b;
    NTR_COMPARE_BY(from);
    NTR_COMPARE_BY(to);
    return 0;
}

static void index_arcs(pass_graph *g) {
    if (g->arc_count) qsort(g->arcs, g->arc_count, sizeof *g->arcs, compare_arcs);
    for (size_t i = g->arc_count; i-- > 0;) {
        pass_block *b = &g->blocks[g->arcs[i].from];
        b->first_arc = (uint32_t)i;
        b->arcs++;
    }
}

/* ---- lines of blocks --------------------------------------------------------------------------- */

/* The block belongs to the line of an instruction. The last block of a function is counted as one that contains it. */
static ntr_status add_member(pass_graph *g, uint32_t insn, uint32_t b) {
    const pass_block *of = &g->blocks[b];
    const uint32_t group = g->group_of[insn];
    g->groups[group].owned = true;
    if (g->flow->insns[of->last].count.flow == NTR_FLOW_RETURN && !of->counts) return NTR_OK;
    if (ntr_reserve(g->allocator, (void **)&g->members, &g->member_capacity, g->member_count + 1, sizeof *g->members))
        return NTR_E_MEMORY;
    g->members[g->member_count++] = (membership){group, b};
    return NTR_OK;
}

static bool is_nop(const pass_graph *g, const ntr_insn_count *insn) {
    uint8_t bytes[4] = {0};
    if (insn->flow != NTR_FLOW_LINEAR || insn->size > sizeof bytes) return false;
    if (ntr_program_read(g->counts->program, place_of(g, insn->address), bytes, insn->size) != insn->size) return false;
    return ntr_little(bytes, insn->size) == (insn->size == 2 ? 0x0001 : 0x00000013);
}

/* Returns whether an instruction is a jump, or stands for one, that the compiler has made for a place that already has
 * code, for example the one from the end of a loop to the next round. The jump of `break`, `continue` and `goto` has a
 * place of its own. */
static bool is_plain_jump(const pass_graph *g, uint32_t i) {
    const ntr_line_insn *insns = g->flow->insns;
    const uint32_t first = g->first_of[i];
    if (first == i || insns[first].count.flow == NTR_FLOW_DIRECT_JUMP) return false;
    const bool after_nop = first == g->first_of[i - 1] && i > 1 && is_nop(g, &insns[i - 1].count);
    const uint32_t before = i - after_nop - 1u;
    if (first == g->first_of[before]) { /* what is before it must not be more than such a jump */
        if (insns[before].count.flow != NTR_FLOW_DIRECT_JUMP || before == first || !before) return false;
        if (first == g->first_of[before - 1]) return false;
    }
    return insns[i].count.flow == NTR_FLOW_DIRECT_JUMP || is_nop(g, &insns[i].count);
}

/* Returns the first instruction of a block that does not belong to the call before it: what moves the result of a call
 * has the place of the call. */
static uint32_t after_call(const pass_graph *g, uint32_t b) {
    const pass_block *const of = &g->blocks[b];
    uint32_t i = of->first;
    if (!b || g->blocks[b - 1].next != b || !is_call(&g->flow->insns[i - 1])) return i;
    while (i <= of->last && g->first_of[i] == g->first_of[of->first - 1]) i++;
    return i <= of->last ? i : of->first;
}

/* Returns whether a block has no line of its own: gcc gives code that no statement has made, for example what leaves a
 * scope, no row. It follows a jump, in the row of the statement before that. */
static bool is_without_line(const pass_graph *g, uint32_t b) {
    const ntr_line_insn *first = &g->flow->insns[g->blocks[b].first];
    return b && !first->begins_row && first[-1].count.flow == NTR_FLOW_DIRECT_JUMP &&
           g->group_of[g->blocks[b].first] == g->group_of[g->blocks[b].first - 1] &&
           g->blocks[b].end > g->blocks[b].last;
}

/* Each line counts once in a block. The block belongs to its greatest line (of each file, where the files change). The
 * last pass_block of a function, which returns, belongs to none. */
static ntr_status add_lines(pass_graph *g, uint32_t b) {
    const pass_block *const of = &g->blocks[b];
    const ntr_line_insn *const insns = g->flow->insns;
    const uint64_t executed = insns[of->first].count.executed;
    uint32_t greatest = NO_INDEX; /* an instruction */
    uint32_t begin = after_call(g, b);
    if (is_without_line(g, b)) {
        g->groups[g->group_of[of->first]].ends += executed;
        g->groups[g->group_of[of->first]].after_jumps += executed;
        for (begin = of->first + 1; begin <= of->last && !insns[begin].begins_row;) begin++;
    }
    for (uint32_t i = begin; i <= of->last; i++) {
        line_group *group = &g->groups[g->group_of[i]];
        if (!insns[i].line || group->stamp == b + 1 || is_plain_jump(g, i)) continue;
        if (i >= of->end) {
            group->ends += i == of->first || i == of->end ? executed : 0;
            continue;
        }
        group->stamp = b + 1;
        group->sum += executed;
        if (greatest != NO_INDEX && insns[greatest].file != insns[i].file) {
            TRY(add_member(g, greatest, b));
            greatest = NO_INDEX;
        }
        if (greatest == NO_INDEX || insns[i].line > insns[greatest].line) greatest = i;
    }
    return greatest == NO_INDEX ? NTR_OK : add_member(g, greatest, b);
}

/* Finds the instructions at the end of a function that set the result and restore registers. gcov does not count them:
 * no statement has made them. A function without a result ends with a statement if its source has no `return;`: without
 * optimization, gcc makes a `nop` of it. */
static void find_ends(pass_graph *g) {
    enum { COPY_MAX = 2 }; /* instructions that move the result, before the jump to the end */
    const ntr_line_insn *insns = g->flow->insns;
    for (uint32_t b = 0; b < g->block_count; b++) {
        const ntr_line_insn *last = &insns[g->blocks[b].last];
        uint32_t at = g->blocks[b].last;
        g->blocks[b].end = at + 1;
        if (last->count.flow != NTR_FLOW_RETURN) continue;
        while (at > g->blocks[b].first && g->first_of[at - 1] == g->first_of[at]) at--;
        g->blocks[b].counts = !last->returns_value && is_nop(g, &insns[at].count);
        const bool whole = insns[at].count.address == insns[at].function; /* the function has one place, of a macro */
        if (!g->blocks[b].counts && !whole) g->blocks[b].end = at;
    }
    for (uint32_t b = 0; b < g->block_count; b++) {
        const pass_block *of = &g->blocks[b];
        const uint32_t target = direct_target(g->flow, &insns[of->last]);
        const pass_block *to = target == NO_INDEX ? NULL : &g->blocks[g->block_of[target]];
        if (!to || insns[of->last].count.flow != NTR_FLOW_DIRECT_JUMP || of->last - of->first > COPY_MAX) continue;
        if (insns[to->last].count.flow != NTR_FLOW_RETURN || to->end != to->first || !insns[to->last].returns_value)
            continue;
        if (g->group_of[of->first] == g->group_of[to->first] && g->group_of[of->last] == g->group_of[to->first])
            g->blocks[b].end = of->first;
    }
}

static int compare_members(const void *a, const void *b) {
    const membership *x = a, *y = b;
    NTR_COMPARE_BY(group);
    NTR_COMPARE_BY(block);
    return 0;
}

/* ---- passes ------------------------------------------------------------------------------------ */
enum { NOT_SEEN, ON_PATH, FINISHED };

/* Takes the cycle that the last `length` arcs of the path close. Returns its executions, and in *open the number of
 * arcs of the path that remain. */
static uint64_t take_cycle(pass_graph *g, size_t begin, size_t end, size_t *open) {
    uint64_t count = UINT64_MAX;
    for (size_t i = begin; i < end; i++) count = MIN(count, g->arcs[g->path[i]].left);
    *open = end;
    for (size_t i = end; i-- > begin;) {
        arc *a = &g->arcs[g->path[i]];
        a->left -= count;
        if (!a->left) *open = i;
    }
    return count;
}

/* Returns the executions of the cycles that can be reached from a block. A depth-first search takes each cycle that it
 * closes, and continues before the first arc that the cycle has used up. */
static uint64_t cycles_from(pass_graph *g, uint32_t root, uint32_t group) {
    uint64_t cycles = 0;
    size_t length = 0;
    uint32_t at = root;
    g->color[root] = ON_PATH;
    for (;;) {
        const pass_block *b = &g->blocks[at];
        if (g->next_arc[at] == b->arcs) {
            g->color[at] = FINISHED;
            if (length == 0) return cycles;
            at = g->arcs[g->path[--length]].from;
            g->next_arc[at]++;
            continue;
        }
        const uint32_t number = b->first_arc + g->next_arc[at];
        const arc *a = &g->arcs[number];
        if (g->inside[a->to] != group + 1 || !a->left || g->color[a->to] == FINISHED) {
            g->next_arc[at]++;
        } else if (g->color[a->to] == NOT_SEEN) {
            g->path[length++] = number;
            g->color[a->to] = ON_PATH;
            at = a->to;
        } else {
            size_t begin = length, open;
            g->path[length] = number;
            while (begin > 0 && g->arcs[g->path[begin]].from != a->to) begin--;
            cycles += take_cycle(g, begin, length + 1, &open);
            for (size_t i = length; i > open; i--) { /* the blocks after the first used arc are searched again */
                const uint32_t leave = g->arcs[g->path[i - 1]].to;
                g->color[leave] = NOT_SEEN;
                g->next_arc[leave] = 0;
            }
            if (open < length) {
                at = g->arcs[g->path[open]].from;
                length = open;
            }
        }
    }
}

static uint64_t count_passes(pass_graph *g, const membership *members, size_t count) {
    const uint32_t group = members->group;
    uint64_t passes = 0, entered = 0, unreturned = 0;
    for (size_t i = 0; i < count; i++) g->inside[members[i].block] = group + 1;
    for (size_t i = 0; i < count; i++) {
        pass_block *b = &g->blocks[members[i].block];
        const ntr_insn_count *first = &g->flow->insns[b->first].count;
        passes += first->executed;
        if (first->address != g->flow->insns[b->first].function) entered += b->rest;
        unreturned += b->unreturned;
        g->color[members[i].block] = NOT_SEEN;
        g->next_arc[members[i].block] = 0;
        for (uint32_t k = 0; k < b->arcs; k++) {
            arc *a = &g->arcs[b->first_arc + k];
            a->left = a->count;
            if (g->inside[a->to] == group + 1) passes -= a->count;
        }
    }
    passes -= MIN(entered, unreturned); /* exceptions that calls of this line have thrown are handled in it */
    for (size_t i = 0; i < count; i++)
        if (g->color[members[i].block] == NOT_SEEN) passes += cycles_from(g, members[i].block, group);
    return passes;
}

/* Returns whether only an exception leads to a block: nothing jumps there, and the code before it does not go on. */
static bool is_landing_pad(const pass_graph *g, uint32_t b) {
    if (g->blocks[b].targeted) return false;
    if (!b || g->blocks[b - 1].next != b) return true;
    const ntr_line_insn *before = &g->flow->insns[g->blocks[b - 1].last];
    const ntr_flow flow = (ntr_flow)before->count.flow;
    if (is_call(before)) return never_returns(g, b - 1);
    return flow != NTR_FLOW_LINEAR && flow != NTR_FLOW_BRANCH && flow != NTR_FLOW_TRAP;
}

/* The closing brace of a function of clang with one `return` has no code but what cleans up after an exception. Then it
 * counts as often as the function returns. The blocks [first, end) are those of the function. */
static void count_brace(pass_graph *g, uint32_t first, uint32_t end) {
    ntr_line_insn *insns = g->flow->insns;
    const uint32_t begin = g->blocks[first].first, stop = g->blocks[end - 1].last;
    uint32_t last = begin;
    uint64_t returned = 0;
    for (uint32_t i = begin; i <= stop; i++)
        if (insns[i].file == insns[begin].file && insns[i].line > insns[last].line) last = i;
    const line_group *group = &g->groups[g->group_of[last]];
    if (!insns[last].by_llvm || group->most) return;
    for (uint32_t b = first; b < end; b++) {
        const ntr_insn_count *leave = &insns[g->blocks[b].last].count;
        if (leave->flow == NTR_FLOW_RETURN) returned += leave->executed;
        for (uint32_t i = g->blocks[b].first; i <= g->blocks[b].last; i++)
            if (g->group_of[i] == g->group_of[last] && !is_landing_pad(g, b)) return;
    }
    insns[group->first].passes = returned;
}

/* Sets the passes of lines of LLVM. */
static void count_most(pass_graph *g) {
    ntr_line_insn *insns = g->flow->insns;
    for (uint32_t i = 0; i < g->group_count; i++)
        if (insns[g->groups[i].first].by_llvm) insns[g->groups[i].first].passes = g->groups[i].most;
    for (uint32_t b = 0, end; b < g->block_count; b = end) {
        const uint64_t function = insns[g->blocks[b].first].function;
        for (end = b + 1; end < g->block_count && insns[g->blocks[end].first].function == function;) end++;
        count_brace(g, b, end);
    }
}

static ntr_status count_groups(pass_graph *g) {
    g->inside = ntr_alloc(g->allocator, g->block_count, sizeof *g->inside);
    g->next_arc = ntr_alloc(g->allocator, g->block_count, sizeof *g->next_arc);
    g->color = ntr_alloc(g->allocator, g->block_count, sizeof *g->color);
    g->path = ntr_alloc(g->allocator, g->block_count + (size_t)1, sizeof *g->path);
    if (!g->inside || !g->next_arc || !g->color || !g->path) return NTR_E_MEMORY;
    TRY(ntr_line_parts_count(g->flow, g->first_of));
    find_ends(g);
    for (uint32_t b = 0; b < g->block_count; b++) TRY(add_lines(g, b));
    if (g->member_count) qsort(g->members, g->member_count, sizeof *g->members, compare_members);
    for (uint32_t i = 0; i < g->group_count; i++) {
        const line_group *group = &g->groups[i];
        g->flow->insns[group->first].passes = group->stamp ? group->sum : group->ends;
    }
    for (size_t i = 0, end; i < g->member_count; i = end) {
        const uint32_t group = g->members[i].group;
        for (end = i + 1; end < g->member_count && g->members[end].group == group;) end++;
        const line_group *of = &g->groups[group];
        const uint64_t passes = count_passes(g, &g->members[i], end - i);
        ntr_line_insn *first = &g->flow->insns[of->first];
        first->passes = passes ? passes : of->sum ? of->sum : first->optimized ? of->after_jumps : 0;
    }
    for (size_t i = 0; i < g->flow->count; i++) {
        line_group *group = &g->groups[g->group_of[i]];
        const uint64_t executed = g->flow->insns[i].part;
        g->flow->insns[i].contained = group->stamp && !group->owned && !g->flow->insns[i].optimized;
        g->flow->insns[i].only_end = !group->stamp && !g->flow->insns[i].by_llvm;
        if (executed > group->most && !g->flow->insns[i].implicit) group->most = executed;
    }
    count_most(g);
    return NTR_OK;
}

static ntr_status count(pass_graph *g) {
    TRY(make_groups(g));
    TRY(make_blocks(g));
    TRY(add_jumps(g));
    find_cleanups(g);
    TRY(add_straight_arcs(g));
    index_arcs(g);
    return count_groups(g);
}

ntr_status ntr_line_passes_count(ntr_line_flow *flow, ntr_debug_info *debug, const ntr_line_counts *counts,
                                 size_t index) {
    pass_graph g = {.allocator = flow->allocator, .flow = flow, .counts = counts, .debug = debug, .index = index};
    if (flow->count == 0) return NTR_OK;
    if (flow->count >= NO_INDEX) return NTR_E_LIMIT;
    g.rows = ntr_tally_rows(counts->tally, &g.row_count);
    const ntr_status status = count(&g);
    void *const parts[] = {g.group_of, g.first_of, g.groups,   g.block_of, g.blocks, g.arcs,
                           g.members,  g.inside,   g.next_arc, g.color,    g.path};
    for (size_t i = 0; i < NTR_COUNT(parts); i++) ntr_dealloc(flow->allocator, parts[i]);
    return status;
}
