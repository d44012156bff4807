#include "analysis/line_jumps.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

enum {
    OWN_MAX = 16, /* instructions of a line that is only a jump */
    TARGETS_MAX = 3 * OWN_MAX,
    LINE_WAYS_MAX = 100000, /* of a function; each is compared with the jumps of one place */
};

/* A line that is only a jump: its instructions are in places[first, end). */
typedef struct jump_line {
    size_t first, end; /* also of code that follows the jump without a place of its own */
    uint64_t targets[TARGETS_MAX]; /* where the jump leads */
    size_t target_count;
} jump_line;

/* ---- ways -------------------------------------------------------------------------------------- */

static ntr_status add_way(ntr_line_jumps *j, const ntr_line_insn *from, uint64_t to, uint64_t count) {
    if (ntr_reserve(j->flow->allocator, (void **)&j->ways, &j->capacity, j->count + 1, sizeof *j->ways))
        return NTR_E_MEMORY;
    j->ways[j->count++] = (ntr_line_way){from, to, count, NTR_SOURCE_STEP_NONE};
    return NTR_OK;
}

static ntr_status add_ways(ntr_line_jumps *j, const ntr_line_insn *insn, const ntr_line_insn *end) {
    const ntr_insn_count *count = &insn->count;
    const uint64_t after = count->address + count->size;
    uint64_t next = count->executed;
    if (count->flow == NTR_FLOW_BRANCH) {
        TRY(add_way(j, insn, insn->target, count->taken));
        next = count->not_taken;
    } else if (count->flow == NTR_FLOW_DIRECT_JUMP) {
        return add_way(j, insn, insn->target, count->executed);
    } else if (count->flow == NTR_FLOW_DIRECT_CALL || count->flow == NTR_FLOW_INDIRECT_CALL) {
        if (insn + 1 < end && insn[1].count.executed < next) next = insn[1].count.executed;
    } else if (count->flow != NTR_FLOW_LINEAR && count->flow != NTR_FLOW_TRAP) {
        return NTR_OK;
    }
    return insn + 1 < end && insn[1].count.address == after ? add_way(j, insn, after, next) : NTR_OK;
}

static int compare_ways(const void *a, const void *b) {
    const ntr_line_way *x = a, *y = b;
    NTR_COMPARE_BY(to);
    if (!x->count != !y->count) return x->count ? -1 : 1;
    return NTR_COMPARE(x->from, y->from);
}

/* Returns the number of the first way that ends at or after an address. */
static size_t find_way(const ntr_line_jumps *j, uint64_t to) {
    size_t low = 0, high = j->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (j->ways[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- lines ------------------------------------------------------------------------------------- */

static bool is_nop(const ntr_line_jumps *j, const ntr_insn_count *insn) {
    return ntr_line_flow_is_nop(j->program, j->image, insn);
}

static bool is_own(const ntr_line_jumps *j, const jump_line *l, const ntr_line_insn *insn) {
    const ntr_line_insn *first = j->places[l->first];
    return insn->line == first->line && !insn->after_jump && insn->file && strcmp(insn->file, first->file) == 0;
}

static void add_target(jump_line *l, uint64_t target) {
    if (l->target_count < TARGETS_MAX) l->targets[l->target_count++] = target;
}

/* Finds the next line of the function, from the place `at` on, that is only a jump. The instructions are jumps, or
 * `nop` where the jump leads to the next instruction, which may again be a jump. */
static bool find_line(const ntr_line_jumps *j, jump_line *l, size_t at) {
    for (l->first = at; l->first < j->place_count; l->first = l->end) {
        const uint32_t line = j->places[l->first]->line;
        bool jumps = true;
        uint32_t own = 0;
        l->target_count = 0;
        for (l->end = l->first; l->end < j->place_count && j->places[l->end]->line == line; l->end++) {
            const ntr_line_insn *insn = j->places[l->end];
            const uint64_t after = insn->count.address + insn->count.size;
            const bool nop = is_nop(j, &insn->count);
            if (insn->after_jump) continue;
            own++;
            jumps &= insn->column && (nop || insn->count.flow == NTR_FLOW_DIRECT_JUMP);
            add_target(l, nop ? after : insn->target);
            const ntr_line_insn *next = nop ? ntr_line_flow_find(j->flow, after) : NULL;
            if (next && next->count.flow == NTR_FLOW_DIRECT_JUMP) add_target(l, next->target);
        }
        if (jumps && own && own <= OWN_MAX) return true;
    }
    return false;
}

/* Returns the executions of ways from other lines past the line, to where its jump leads; with steps, of those that
 * have come to the jump at `place` of the source. Sets *maybe if that is not known, and *lost if code without a place
 * leads there. */
static uint64_t count_past(const ntr_line_jumps *j, const jump_line *l, const ntr_source_steps *steps,
                           ntr_text_place place, bool *maybe, bool *lost) {
    uint64_t count = 0;
    for (size_t i = 0; i < l->target_count; i++) {
        const uint64_t target = l->targets[i];
        bool counted = false;
        for (size_t k = 0; k < i; k++) counted |= l->targets[k] == target;
        const ntr_line_insn *to = counted ? NULL : ntr_line_flow_find(j->flow, target);
        if (!to || is_own(j, l, to)) continue;
        for (size_t k = find_way(j, target); k < j->count && j->ways[k].to == target && j->ways[k].count; k++) {
            const ntr_line_insn *from = j->ways[k].from;
            if (!steps && *lost) break;
            if (is_own(j, l, from)) continue;
            const bool known = steps && (!from->after_jump || j->ways[k].step != NTR_SOURCE_STEP_NONE);
            const ntr_source_answer answer =
                known ? ntr_source_steps_lead(steps, j->ways[k].step, place) : NTR_SOURCE_NO;
            if (answer == NTR_SOURCE_YES) count += j->ways[k].count;
            *maybe |= answer == NTR_SOURCE_MAYBE;
            *lost |= !known;
        }
    }
    return count;
}

/* Returns how often the line was entered from other lines. */
static uint64_t count_entries(const ntr_line_jumps *j, const jump_line *l) {
    uint64_t count = 0, inside = 0;
    for (size_t i = l->first; i < l->end; i++) {
        const ntr_insn_count *insn = &j->places[i]->count;
        if (j->places[i]->after_jump) continue;
        count += insn->executed;
        for (size_t k = find_way(j, insn->address); k < j->count && j->ways[k].to == insn->address; k++)
            if (is_own(j, l, j->ways[k].from)) inside += j->ways[k].count;
    }
    return count > inside ? count - inside : 0;
}

static bool has_code(const ntr_line_jumps *j, uint32_t step) {
    for (size_t i = 0; i < j->count; i++)
        if (j->ways[i].step == step) return true;
    return false;
}

/* If both results of a condition lead to one place, the compiler leaves the branch out, and maybe all code before it.
 * Then the code of the jump that the condition selects is executed with each result, or ways of other code lead past.
 */
static bool is_branch_missing(const ntr_line_jumps *j, const jump_line *l, const ntr_source_steps *steps,
                              ntr_text_place jump) {
    const uint32_t test = ntr_source_steps_test(steps, jump);
    bool outside = false;
    if (test == NTR_SOURCE_STEP_NONE) return false;
    count_past(j, l, NULL, jump, &outside, &outside);
    for (size_t i = l->first; i < l->end; i++) {
        if (j->places[i]->after_jump) continue;
        const uint64_t to = j->places[i]->count.address;
        for (size_t k = find_way(j, to); k < j->count && j->ways[k].to == to; k++) {
            const ntr_flow flow = (ntr_flow)j->ways[k].from->count.flow;
            if (is_own(j, l, j->ways[k].from)) continue;
            outside |= j->ways[k].step != test && j->ways[k].count;
            if (j->ways[k].step == test && flow != NTR_FLOW_BRANCH && flow != NTR_FLOW_DIRECT_JUMP) return true;
        }
    }
    return outside && !has_code(j, test);
}

/* Returns whether rounds of a loop lead past the line, which ends the loop: they come from code after its beginning. */
static bool skips_rounds(const ntr_line_jumps *j, const jump_line *l) {
    for (size_t i = 0; i < l->target_count; i++) {
        const uint64_t target = l->targets[i];
        const ntr_line_insn *to = ntr_line_flow_find(j->flow, target);
        if (!to || to->line <= j->places[l->first]->line) continue;
        for (size_t k = find_way(j, target); k < j->count && j->ways[k].to == target && j->ways[k].count; k++)
            if (j->ways[k].from->count.address > target) return true;
    }
    return false;
}

static void set_open(const ntr_line_jumps *j, const jump_line *l, bool open) {
    for (size_t i = l->first; i < l->end; i++) j->flow->insns[j->places[i] - j->flow->insns].open = open;
}

static void set_passes(const ntr_line_jumps *j, const jump_line *l, uint64_t passes) {
    for (size_t i = l->first; i < l->end; i++)
        j->flow->insns[j->places[i] - j->flow->insns].passes = i == l->first ? passes : 0;
}

ntr_status ntr_line_jumps_find(ntr_line_jumps *j, size_t first, size_t end, bool *found) {
    jump_line l;
    for (size_t i = first; i < end; i++) {
        ntr_line_insn *insn = &j->flow->insns[i];
        const bool jumps = insn->count.flow == NTR_FLOW_DIRECT_JUMP; /* another one of the same place */
        insn->after_jump = i > first && !insn->begins_row &&
                           (insn[-1].after_jump || (insn[-1].count.flow == NTR_FLOW_DIRECT_JUMP && !jumps));
        TRY(add_ways(j, insn, j->flow->insns + end));
    }
    if (j->count) qsort(j->ways, j->count, sizeof *j->ways, compare_ways);
    *found = false;
    const bool few = j->count <= LINE_WAYS_MAX;
    for (bool more = find_line(j, &l, 0); more; more = find_line(j, &l, l.end)) {
        const uint64_t entries = count_entries(j, &l);
        bool past = false;
        count_past(j, &l, NULL, (ntr_text_place){0}, &past, &past);
        set_open(j, &l, past && !entries);
        *found |= few && (past || entries);
    }
    return NTR_OK;
}

void ntr_line_jumps_count(const ntr_line_jumps *j, const ntr_source_steps *steps) {
    jump_line l;
    for (size_t i = 0; i < j->count; i++) {
        const ntr_line_insn *from = j->ways[i].from;
        const bool inside = from->file && strcmp(from->file, j->places[0]->file) == 0;
        const ntr_text_place at = {from->line, from->column};
        const bool lost = from->after_jump && ntr_source_steps_jump(steps, at).line;
        j->ways[i].step = inside && !lost ? ntr_source_steps_at(steps, at) : NTR_SOURCE_STEP_NONE;
    }
    for (bool more = find_line(j, &l, 0); more; more = find_line(j, &l, l.end)) {
        const ntr_text_place at = {j->places[l.first]->line, j->places[l.first]->column};
        const ntr_text_place jump = ntr_source_steps_jump(steps, at);
        set_open(j, &l, false);
        if (!jump.line) continue;
        bool maybe = false, lost = false;
        const uint64_t passes = count_entries(j, &l) + count_past(j, &l, steps, jump, &maybe, &lost);
        const bool open = maybe || is_branch_missing(j, &l, steps, jump) || (!passes && (lost || skips_rounds(j, &l)));
        set_open(j, &l, open);
        set_passes(j, &l, open ? 0 : passes);
    }
}

void ntr_line_jumps_release(ntr_line_jumps *j) {
    if (j->flow) ntr_dealloc(j->flow->allocator, j->ways);
}
