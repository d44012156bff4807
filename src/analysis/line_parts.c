#include "analysis/line_parts.h"

#include "base/allocator.h"

typedef struct line_part {
    uint32_t first, last;  /* instructions */
    uint32_t place;        /* the first instruction of the place */
    uint64_t repeated;     /* jumps from the part to its first instruction */
    bool loops;            /* a jump leads back inside of it */
    bool entered_inside;   /* a jump from elsewhere leads to another instruction than the first one */
    bool begins_loop;      /* code after it jumps to its first instruction */
} line_part;

typedef struct part_list {
    ntr_line_flow *flow;
    const uint32_t *first_of;
    line_part *items;
    size_t count;
    uint32_t *part_of; /* by instruction */
    bool *tests;       /* by the first instruction of a place: it contains a conditional branch */
} part_list;

static bool adjacent(const ntr_line_insn *insn) {
    return insn->count.address + insn->count.size == insn[1].count.address && insn->function == insn[1].function;
}

/* Returns whether an instruction continues the last part. Code of line 0 does, if code of the part follows it. */
static bool continues(const part_list *l, size_t i) {
    const ntr_line_insn *insns = l->flow->insns;
    size_t end = i;
    if (!i || !adjacent(&insns[i - 1])) return false;
    while (end + 1 < l->flow->count && !insns[end].line && adjacent(&insns[end])) end++;
    return l->first_of[end] == l->items[l->count - 1].place;
}

static void find_parts(part_list *l) {
    const ntr_line_insn *insns = l->flow->insns;
    for (size_t i = 0, next; i < l->flow->count; i = next) {
        if (!continues(l, i)) l->items[l->count++] = (line_part){.first = (uint32_t)i, .place = l->first_of[i]};
        for (next = i + 1; next < l->flow->count && !insns[next].line && !insns[i].line && adjacent(&insns[next - 1]);)
            next++;
        for (size_t k = i; k < next; k++) {
            l->part_of[k] = (uint32_t)l->count - 1;
            if (insns[k].count.flow == NTR_FLOW_BRANCH) l->tests[l->first_of[k]] = true;
        }
        l->items[l->count - 1].last = (uint32_t)next - 1;
    }
}

static void add_jump(part_list *l, const ntr_line_insn *from) {
    const bool branch = from->count.flow == NTR_FLOW_BRANCH;
    if (!branch && from->count.flow != NTR_FLOW_DIRECT_JUMP) return;
    const ntr_line_insn *to = ntr_line_flow_find(l->flow, from->target);
    if (!to || to->function != from->function) return;
    const uint32_t source = l->part_of[from - l->flow->insns];
    line_part *part = &l->items[l->part_of[to - l->flow->insns]];
    const bool first = to == &l->flow->insns[part->first], inside = part == &l->items[source];
    part->loops |= inside && to <= from;
    part->entered_inside |= !inside && !first && to->line;
    part->begins_loop |= first && to < from;
    if (inside && first) part->repeated += branch ? from->count.taken : from->count.executed;
}

/* The jump before a label has the place of the statement before it. */
static bool is_head(const part_list *l, const line_part *part) {
    const ntr_line_insn *jump = &l->flow->insns[part->first];
    if (part->first != part->last || jump->count.flow != NTR_FLOW_DIRECT_JUMP) return false;
    if (!jump->begins_statement || l->tests[part->place]) return false;
    const size_t next = (size_t)(part - l->items) + 1;
    return next < l->count && jump->target == jump->count.address + jump->count.size &&
           l->flow->insns[l->items[next].first].count.address == jump->target && l->items[next].begins_loop;
}

/* A loop of optimized code can have one place as well. Without optimization, a jump follows each branch. */
static bool is_of_macro(const part_list *l, const line_part *part) {
    const ntr_line_insn *insns = l->flow->insns;
    if (!part->loops || part->entered_inside || part->repeated > insns[part->first].count.executed) return false;
    for (uint32_t i = part->first; i <= part->last; i++)
        if (insns[i].count.flow == NTR_FLOW_BRANCH &&
            (i == part->last || insns[i + 1].count.flow != NTR_FLOW_DIRECT_JUMP))
            return false;
    return true;
}

static void set_counts(const part_list *l, const line_part *part) {
    ntr_line_insn *insns = l->flow->insns;
    const uint64_t entered = insns[part->first].count.executed;
    const bool of_macro = is_of_macro(l, part), head = is_head(l, part);
    for (uint32_t i = part->first; i <= part->last; i++) {
        insns[i].part = insns[i].count.executed;
        if (insns[i].optimized) continue;
        if (head) insns[i].part = insns[i + 1].count.executed;
        if (of_macro && insns[i].part > entered - part->repeated) insns[i].part = entered - part->repeated;
    }
}

ntr_status ntr_line_parts_count(ntr_line_flow *flow, const uint32_t *first_of) {
    const ntr_allocator *allocator = flow->allocator;
    part_list l = {.flow = flow, .first_of = first_of};
    l.items = ntr_alloc(allocator, flow->count + 1, sizeof *l.items);
    l.part_of = ntr_alloc(allocator, flow->count + 1, sizeof *l.part_of);
    l.tests = ntr_alloc(allocator, flow->count + 1, sizeof *l.tests);
    const bool enough = l.items && l.part_of && l.tests;
    if (enough) {
        find_parts(&l);
        for (size_t i = 0; i < flow->count; i++) add_jump(&l, &flow->insns[i]);
        for (size_t i = 0; i < l.count; i++) set_counts(&l, &l.items[i]);
    }
    ntr_dealloc(allocator, l.items);
    ntr_dealloc(allocator, l.part_of);
    ntr_dealloc(allocator, l.tests);
    return enough ? NTR_OK : NTR_E_MEMORY;
}
