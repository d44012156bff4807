#include "analysis/line_passes.h"
#include "analysis/line_codeless.h"
#include "analysis/line_parts.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

#define NO_INDEX NTR_NO_INDEX

typedef ntr_pass_block pass_block;
typedef ntr_pass_arc pass_arc;

/* A line of one function. */
typedef struct line_group {
    uint32_t first; /* an instruction of it */
    uint32_t stamp; /* the last block in which it was seen, plus 1 */
    bool owned; /* a block belongs to it */
    uint64_t sum;    /* executions of the blocks that contain it */
    uint64_t ends;   /* executions of what no statement has made; used if the line contains nothing else */
    uint64_t after_jumps; /* the part of `ends` that follows a jump: optimized code can have moved a statement there */
    uint64_t more; /* executions of blocks without code */
    uint64_t most; /* executions of the part that was executed most often */
} line_group;

typedef struct membership {
    uint32_t group, block;
} membership;

typedef struct pass_counter {
    ntr_pass_graph graph;
    uint32_t *group_of; /* by instruction */
    uint32_t *first_of; /* by instruction: the first one of the same place (line and column) */
    line_group *groups;
    uint32_t group_count;
    membership *members; /* by group */
    size_t member_count, member_capacity;
    /* of the group that is being counted, by block */
    uint32_t *inside; /* group plus 1 */
    uint32_t *next_arc;
    uint8_t *color;
    uint32_t *path; /* arcs from the root of the search to the current block */
} pass_counter;

/* ---- lines ------------------------------------------------------------------------------------- */
static int compare_lines(const ntr_line_insn *x, const ntr_line_insn *y) {
    NTR_COMPARE_BY(function);
    NTR_COMPARE_BY(depth);
    NTR_COMPARE_BY(copy);
    NTR_COMPARE_BY(line);
    if (x->file != y->file) return !x->file ? -1 : !y->file ? 1 : strcmp(x->file, y->file);
    return 0;
}

static int compare_sorted(const void *a, const void *b) {
    const ntr_line_insn *const *s = a, *const *t = b;
    int order = compare_lines(*s, *t);
    return order ? order : (*s)->column != (*t)->column ? NTR_COMPARE((*s)->column, (*t)->column) : NTR_COMPARE(*s, *t);
}

static ntr_status make_groups(pass_counter *c) {
    const size_t count = c->graph.flow->count;
    const ntr_line_insn **sorted = ntr_alloc(c->graph.allocator, count, sizeof *sorted);
    c->group_of = ntr_alloc(c->graph.allocator, count, sizeof *c->group_of);
    c->first_of = ntr_alloc(c->graph.allocator, count, sizeof *c->first_of);
    c->groups = ntr_alloc(c->graph.allocator, count, sizeof *c->groups);
    if (!sorted || !c->group_of || !c->first_of || !c->groups) {
        ntr_dealloc(c->graph.allocator, sorted);
        return NTR_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++) sorted[i] = &c->graph.flow->insns[i];
    qsort(sorted, count, sizeof *sorted, compare_sorted);
    for (size_t i = 0; i < count; i++) {
        const uint32_t index = (uint32_t)(sorted[i] - c->graph.flow->insns);
        const bool same_line = i && compare_lines(sorted[i - 1], sorted[i]) == 0;
        if (!same_line) c->groups[c->group_count++] = (line_group){.first = index};
        const bool same_place = same_line && sorted[i - 1]->column == sorted[i]->column;
        c->group_of[index] = c->group_count - 1;
        c->first_of[index] = same_place ? c->first_of[sorted[i - 1] - c->graph.flow->insns] : index;
    }
    ntr_dealloc(c->graph.allocator, sorted);
    return NTR_OK;
}

/* ---- lines of blocks --------------------------------------------------------------------------- */

/* The block belongs to the line of an instruction. The last block of a function is counted as one that contains it. */
static ntr_status add_member(pass_counter *c, uint32_t insn, uint32_t b) {
    const pass_block *of = &c->graph.blocks[b];
    const uint32_t group = c->group_of[insn];
    c->groups[group].owned = true;
    if (c->graph.flow->insns[of->last].count.flow == NTR_FLOW_RETURN && !of->counts) return NTR_OK;
    if (ntr_reserve(c->graph.allocator, (void **)&c->members, &c->member_capacity, c->member_count + 1,
                    sizeof *c->members))
        return NTR_E_MEMORY;
    c->members[c->member_count++] = (membership){group, b};
    return NTR_OK;
}

/* Returns whether an instruction is a jump, or stands for one, that the compiler has made for a place that already has
 * code, for example the one from the end of a loop to the next round. The jump of `break`, `continue` and `goto` has a
 * place of its own. */
static bool is_plain_jump(const pass_counter *c, uint32_t i) {
    const ntr_line_insn *insns = c->graph.flow->insns;
    const uint32_t first = c->first_of[i];
    if (ntr_line_codeless_leads_out(&c->graph, i)) return false;
    if (first == i || insns[first].count.flow == NTR_FLOW_DIRECT_JUMP) return false;
    const bool after_nop = first == c->first_of[i - 1] && i > 1 && ntr_line_graph_is_nop(&c->graph, i - 1);
    const uint32_t before = i - after_nop - 1u;
    if (first == c->first_of[before]) { /* what is before it must not be more than such a jump */
        if (insns[before].count.flow != NTR_FLOW_DIRECT_JUMP || before == first || !before) return false;
        if (first == c->first_of[before - 1]) return false;
    }
    return insns[i].count.flow == NTR_FLOW_DIRECT_JUMP || ntr_line_graph_is_nop(&c->graph, i);
}

/* Returns the first instruction of a block that does not belong to the call before it: what moves the result of a call
 * has the place of the call. */
static uint32_t after_call(const pass_counter *c, uint32_t b) {
    const pass_block *const of = &c->graph.blocks[b];
    uint32_t i = of->first;
    if (!b || c->graph.blocks[b - 1].next != b || !ntr_line_is_call(&c->graph.flow->insns[i - 1])) return i;
    while (i <= of->last && c->first_of[i] == c->first_of[of->first - 1]) i++;
    return i <= of->last ? i : of->first;
}

/* Returns whether a block has no line of its own: gcc gives code that no statement has made, for example what leaves a
 * scope, no row. It follows a jump, in the row of the statement before that, or another line jumps into this row. A
 * landing pad that calls a destructor has the line of that. */
static bool is_without_line(const pass_counter *c, uint32_t b) {
    const pass_block *of = &c->graph.blocks[b];
    const ntr_line_insn *first = &c->graph.flow->insns[of->first], *last = &c->graph.flow->insns[of->last];
    if (!b || first->begins_row || c->group_of[of->first] != c->group_of[of->first - 1] || of->end <= of->last)
        return false;
    if (first[-1].count.flow == NTR_FLOW_DIRECT_JUMP)
        return !(ntr_line_is_call(last) && ntr_line_graph_is_landing_pad(&c->graph, b));
    if (!of->crossed || first[-1].count.flow != NTR_FLOW_LINEAR || last->count.flow == NTR_FLOW_RETURN) return false;
    if (ntr_line_codeless_is_way(&c->graph, of->first - 1)) return false;
    const bool entry = c->graph.flow->insns[of[-1].first].count.address == first->function;
    return (entry || !ntr_line_graph_is_landing_pad(&c->graph, b - 1)) && !first->optimized && !first->by_llvm;
}

/* Finds the blocks to which another line jumps. */
static void find_crossed(pass_counter *c) {
    for (uint32_t b = 0; b < c->graph.block_count; b++) {
        const uint32_t last = c->graph.blocks[b].last;
        const uint32_t target = ntr_line_graph_target(&c->graph, &c->graph.flow->insns[last]);
        if (target != NO_INDEX && c->group_of[target] != c->group_of[last])
            c->graph.blocks[c->graph.block_of[target]].crossed = true;
    }
}

/* Each line counts once in a block. The block belongs to its greatest line (of each file, where the files change). The
 * last block of a function, which returns, belongs to none. */
static ntr_status add_lines(pass_counter *c, uint32_t b) {
    const pass_block *const of = &c->graph.blocks[b];
    const ntr_line_insn *const insns = c->graph.flow->insns;
    const uint64_t executed = insns[of->first].count.executed;
    uint32_t greatest = NO_INDEX; /* an instruction */
    uint32_t begin = after_call(c, b);
    if (of->no_line) return NTR_OK;
    if (is_without_line(c, b)) {
        c->groups[c->group_of[of->first]].ends += executed;
        c->groups[c->group_of[of->first]].after_jumps += executed;
        for (begin = of->first + 1; begin <= of->last && !insns[begin].begins_row;) begin++;
    }
    if (of->also != NO_INDEX) greatest = of->also;
    for (uint32_t i = begin; i <= of->last; i++) {
        line_group *group = &c->groups[c->group_of[i]];
        if (!insns[i].line || group->stamp == b + 1 || is_plain_jump(c, i)) continue;
        if (i >= of->end) {
            group->ends += i == of->first || i == of->end ? executed : 0;
            continue;
        }
        group->stamp = b + 1;
        group->sum += executed;
        if (greatest != NO_INDEX && insns[greatest].file != insns[i].file) {
            TRY(add_member(c, greatest, b));
            greatest = NO_INDEX;
        }
        if (greatest == NO_INDEX || insns[i].line > insns[greatest].line) greatest = i;
    }
    return greatest == NO_INDEX ? NTR_OK : add_member(c, greatest, b);
}

/* Finds the instructions at the end of a function that set the result and restore registers. gcov does not count them:
 * no statement has made them. A function without a result ends with a statement if its source has no `return;`: without
 * optimization, gcc makes a `nop` of it. */
static void find_ends(pass_counter *c) {
    enum { COPY_MAX = 2 }; /* instructions that move the result, before the jump to the end */
    const ntr_line_insn *insns = c->graph.flow->insns;
    for (uint32_t b = 0; b < c->graph.block_count; b++) {
        const ntr_line_insn *last = &insns[c->graph.blocks[b].last];
        uint32_t at = c->graph.blocks[b].last;
        c->graph.blocks[b].end = at + 1;
        if (last->count.flow != NTR_FLOW_RETURN) continue;
        while (at > c->graph.blocks[b].first && c->first_of[at - 1] == c->first_of[at]) at--;
        c->graph.blocks[b].counts = !last->returns_value && ntr_line_graph_is_nop(&c->graph, at);
        const bool whole = insns[at].count.address == insns[at].function; /* the function has one place, of a macro */
        if (!c->graph.blocks[b].counts && !whole) c->graph.blocks[b].end = at;
    }
    for (uint32_t b = 0; b < c->graph.block_count; b++) {
        const pass_block *of = &c->graph.blocks[b];
        const uint32_t target = ntr_line_graph_target(&c->graph, &insns[of->last]);
        const pass_block *to = target == NO_INDEX ? NULL : &c->graph.blocks[c->graph.block_of[target]];
        if (!to || insns[of->last].count.flow != NTR_FLOW_DIRECT_JUMP || of->last - of->first > COPY_MAX) continue;
        if (insns[to->last].count.flow != NTR_FLOW_RETURN || to->end != to->first || !insns[to->last].returns_value)
            continue;
        if (c->group_of[of->first] == c->group_of[to->first] && c->group_of[of->last] == c->group_of[to->first])
            c->graph.blocks[b].end = of->first;
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
static uint64_t take_cycle(pass_counter *c, size_t begin, size_t end, size_t *open) {
    uint64_t count = UINT64_MAX;
    for (size_t i = begin; i < end; i++) count = NTR_LINE_MIN(count, c->graph.arcs[c->path[i]].left);
    *open = end;
    for (size_t i = end; i-- > begin;) {
        pass_arc *a = &c->graph.arcs[c->path[i]];
        a->left -= count;
        if (!a->left) *open = i;
    }
    return count;
}

/* Returns the executions of the cycles that can be reached from a block. A depth-first search takes each cycle that it
 * closes, and continues before the first arc that the cycle has used up. */
static uint64_t cycles_from(pass_counter *c, uint32_t root, uint32_t group) {
    uint64_t cycles = 0;
    size_t length = 0;
    uint32_t at = root;
    c->color[root] = ON_PATH;
    for (;;) {
        const pass_block *b = &c->graph.blocks[at];
        if (c->next_arc[at] == b->arcs) {
            c->color[at] = FINISHED;
            if (length == 0) return cycles;
            at = c->graph.arcs[c->path[--length]].from;
            c->next_arc[at]++;
            continue;
        }
        const uint32_t number = b->first_arc + c->next_arc[at];
        const pass_arc *a = &c->graph.arcs[number];
        if (c->inside[a->to] != group + 1 || a->apart || !a->left || c->color[a->to] == FINISHED) {
            c->next_arc[at]++;
        } else if (c->color[a->to] == NOT_SEEN) {
            c->path[length++] = number;
            c->color[a->to] = ON_PATH;
            at = a->to;
        } else {
            size_t begin = length, open;
            c->path[length] = number;
            while (begin > 0 && c->graph.arcs[c->path[begin]].from != a->to) begin--;
            cycles += take_cycle(c, begin, length + 1, &open);
            for (size_t i = length; i > open; i--) { /* the blocks after the first used arc are searched again */
                const uint32_t leave = c->graph.arcs[c->path[i - 1]].to;
                c->color[leave] = NOT_SEEN;
                c->next_arc[leave] = 0;
            }
            if (open < length) {
                at = c->graph.arcs[c->path[open]].from;
                length = open;
            }
        }
    }
}

static uint64_t count_passes(pass_counter *c, const membership *members, size_t count) {
    const uint32_t group = members->group;
    uint64_t passes = 0, entered = 0, unreturned = 0;
    for (size_t i = 0; i < count; i++) c->inside[members[i].block] = group + 1;
    for (size_t i = 0; i < count; i++) {
        pass_block *b = &c->graph.blocks[members[i].block];
        const ntr_insn_count *first = &c->graph.flow->insns[b->first].count;
        passes += first->executed;
        if (first->address != c->graph.flow->insns[b->first].function) entered += b->rest;
        unreturned += b->unreturned;
        c->color[members[i].block] = NOT_SEEN;
        c->next_arc[members[i].block] = 0;
        for (uint32_t k = 0; k < b->arcs; k++) {
            pass_arc *a = &c->graph.arcs[b->first_arc + k];
            a->left = a->count;
            if (c->inside[a->to] == group + 1 && !a->apart) passes -= a->count;
        }
    }
    passes -= NTR_LINE_MIN(entered, unreturned); /* exceptions that calls of this line have thrown are handled in it */
    for (size_t i = 0; i < count; i++)
        if (c->color[members[i].block] == NOT_SEEN) passes += cycles_from(c, members[i].block, group);
    return passes;
}

/* The closing brace of a function of clang with one `return` has no code but what cleans up after an exception. Then it
 * counts as often as the function returns. The blocks [first, end) are those of the function. */
static void count_brace(pass_counter *c, uint32_t first, uint32_t end) {
    ntr_line_insn *insns = c->graph.flow->insns;
    const uint32_t begin = c->graph.blocks[first].first, stop = c->graph.blocks[end - 1].last;
    uint32_t last = begin;
    uint64_t returned = 0;
    for (uint32_t i = begin; i <= stop; i++)
        if (!insns[i].depth && insns[i].file == insns[begin].file && insns[i].line > insns[last].line) last = i;
    const line_group *group = &c->groups[c->group_of[last]];
    if (!insns[last].by_llvm || group->most) return;
    for (uint32_t b = first; b < end; b++) {
        const ntr_insn_count *leave = &insns[c->graph.blocks[b].last].count;
        if (leave->flow == NTR_FLOW_RETURN) returned += leave->executed;
        for (uint32_t i = c->graph.blocks[b].first; i <= c->graph.blocks[b].last; i++)
            if (c->group_of[i] == c->group_of[last] && !ntr_line_graph_is_landing_pad(&c->graph, b)) return;
    }
    insns[group->first].passes = returned;
}

/* Sets the passes of lines of LLVM. */
static void count_most(pass_counter *c) {
    ntr_line_insn *insns = c->graph.flow->insns;
    for (uint32_t i = 0; i < c->group_count; i++)
        if (insns[c->groups[i].first].by_llvm) insns[c->groups[i].first].passes = c->groups[i].most;
    for (uint32_t b = 0, end; b < c->graph.block_count; b = end) {
        const uint64_t function = insns[c->graph.blocks[b].first].function;
        for (end = b + 1; end < c->graph.block_count && insns[c->graph.blocks[end].first].function == function;) end++;
        count_brace(c, b, end);
    }
}

static ntr_status count_groups(pass_counter *c) {
    c->inside = ntr_alloc(c->graph.allocator, c->graph.block_count, sizeof *c->inside);
    c->next_arc = ntr_alloc(c->graph.allocator, c->graph.block_count, sizeof *c->next_arc);
    c->color = ntr_alloc(c->graph.allocator, c->graph.block_count, sizeof *c->color);
    c->path = ntr_alloc(c->graph.allocator, c->graph.block_count + (size_t)1, sizeof *c->path);
    if (!c->inside || !c->next_arc || !c->color || !c->path) return NTR_E_MEMORY;
    TRY(ntr_line_parts_count(c->graph.flow, c->first_of));
    find_ends(c);
    for (uint32_t b = 0; b < c->graph.block_count; b++) {
        TRY(add_lines(c, b));
        c->groups[c->group_of[c->graph.blocks[b].more_of]].more += c->graph.blocks[b].more;
    }
    if (c->member_count) qsort(c->members, c->member_count, sizeof *c->members, compare_members);
    for (uint32_t i = 0; i < c->group_count; i++) {
        const line_group *group = &c->groups[i];
        c->graph.flow->insns[group->first].passes = group->stamp ? group->sum + group->more : group->ends;
    }
    for (size_t i = 0, end; i < c->member_count; i = end) {
        const uint32_t group = c->members[i].group;
        for (end = i + 1; end < c->member_count && c->members[end].group == group;) end++;
        const line_group *of = &c->groups[group];
        uint64_t passes = count_passes(c, &c->members[i], end - i);
        passes += of->more;
        ntr_line_insn *first = &c->graph.flow->insns[of->first];
        first->passes = passes ? passes : of->sum ? of->sum : first->optimized ? of->after_jumps : 0;
    }
    for (size_t i = 0; i < c->graph.flow->count; i++) {
        line_group *group = &c->groups[c->group_of[i]];
        ntr_line_insn *insn = &c->graph.flow->insns[i];
        const uint64_t executed = insn->part;
        insn->contained = group->stamp && !group->owned && !group->more && !insn->optimized && !insn->by_llvm;
        insn->only_end = !group->stamp && !insn->by_llvm;
        if (executed > group->most && !insn->implicit) group->most = executed;
    }
    count_most(c);
    return NTR_OK;
}

static ntr_status count(pass_counter *c) {
    TRY(make_groups(c));
    TRY(ntr_line_graph_make(&c->graph));
    ntr_line_codeless_find(&c->graph);
    find_crossed(c);
    return count_groups(c);
}

ntr_status ntr_line_passes_count(ntr_line_flow *flow, ntr_debug_info *debug, const ntr_line_counts *counts,
                                 size_t index) {
    pass_counter c = {
        .graph = {.allocator = flow->allocator, .flow = flow, .counts = counts, .debug = debug, .index = index}};
    if (flow->count == 0) return NTR_OK;
    if (flow->count >= NO_INDEX) return NTR_E_LIMIT;
    c.graph.rows = ntr_tally_rows(counts->tally, &c.graph.row_count);
    const ntr_status status = count(&c);
    void *const parts[] = {c.group_of, c.first_of, c.groups, c.members, c.inside, c.next_arc, c.color, c.path};
    for (size_t i = 0; i < NTR_COUNT(parts); i++) ntr_dealloc(flow->allocator, parts[i]);
    ntr_line_graph_release(&c.graph);
    return status;
}
