#include <ntrace/calltree.h>

#include "base/allocator.h"

#include <string.h>

/* Time last seen on a source, and the node that it runs in. */
typedef struct clock_of {
    uint64_t time;
    bool known;
} clock_of;

struct ntr_calltree {
    const ntr_allocator *allocator;
    ntr_callstack *stacks;
    ntr_call_node *nodes;
    size_t count, capacity;
    uint32_t *slots; /* open addressing by node_key: node numbers, NONE when free */
    size_t slot_count;
    clock_of *clocks; /* by source */
    size_t clock_count, clock_capacity;
    ntr_status failed;
};

/* ---- nodes ------------------------------------------------------------------------------------- */

/* What makes a node: called from the same node, at the same place, the same function, in the same way. */
typedef struct node_key {
    uint64_t site;
    uint32_t parent, function;
    uint8_t kind;
} node_key;

static node_key key_of(const ntr_call_node *node) {
    return (node_key){node->site, node->parent, node->function, node->kind};
}

static size_t hash(const node_key *key) {
    uint64_t value = ((uint64_t)key->parent << 32 | key->function) * 0x9e3779b97f4a7c15u;
    value ^= (key->site + key->kind) * 0xc2b2ae3d27d4eb4fu;
    return (size_t)(value ^ value >> 29);
}

static bool same_key(const node_key *a, const node_key *b) {
    return a->site == b->site && a->parent == b->parent && a->function == b->function && a->kind == b->kind;
}

static uint32_t *slot_of(ntr_calltree *t, const node_key *key) {
    size_t mask = t->slot_count - 1, at = hash(key) & mask;
    for (;; at = (at + 1) & mask) {
        if (t->slots[at] == NTR_CALLTREE_NONE) return &t->slots[at];
        const node_key other = key_of(&t->nodes[t->slots[at]]);
        if (same_key(&other, key)) return &t->slots[at];
    }
}

static bool rehash(ntr_calltree *t, size_t slot_count) {
    uint32_t *slots = ntr_alloc(t->allocator, slot_count, sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, slot_count * sizeof *slots);
    ntr_dealloc(t->allocator, t->slots);
    t->slots = slots;
    t->slot_count = slot_count;
    for (uint32_t i = 1; i < t->count; i++) {
        const node_key key = key_of(&t->nodes[i]);
        *slot_of(t, &key) = i;
    }
    return true;
}

static uint32_t child_of(ntr_calltree *t, uint32_t parent, const ntr_stack_frame *frame) {
    const node_key key = {frame->site, parent, frame->function, frame->kind};
    uint32_t found = *slot_of(t, &key);
    if (found != NTR_CALLTREE_NONE) return found;
    if (t->nodes[parent].depth == NTR_CALLTREE_DEPTH_MAX || t->count == NTR_CALLTREE_NODES_MAX) return parent;
    if (ntr_reserve(t->allocator, (void **)&t->nodes, &t->capacity, t->count + 1, sizeof *t->nodes) ||
        (t->count * 2 >= t->slot_count && !rehash(t, t->slot_count * 2))) {
        t->failed = NTR_E_MEMORY;
        return parent;
    }
    uint32_t number = (uint32_t)t->count++;
    t->nodes[number] = (ntr_call_node){
        .parent = parent,
        .child = NTR_CALLTREE_NONE,
        .sibling = t->nodes[parent].child,
        .function = frame->function,
        .depth = (uint16_t)(t->nodes[parent].depth + 1),
        .kind = frame->kind,
        .site = frame->site,
    };
    t->nodes[parent].child = number;
    *slot_of(t, &key) = number;
    return number;
}

static uint32_t on_enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_calltree *t = user;
    (void)tail;
    uint32_t node = child_of(t, moment->parent ? moment->parent->handle : NTR_CALLTREE_ROOT, frame);
    t->nodes[node].calls++;
    return node;
}

/* ---- life -------------------------------------------------------------------------------------- */

ntr_calltree *ntr_calltree_new(ntr_functions *functions, const ntr_allocator *allocator) {
    enum { SLOTS = 1024 };
    ntr_calltree *t = ntr_alloc(allocator, 1, sizeof *t);
    if (!t) return NULL;
    t->allocator = allocator;
    const ntr_stack_listener listener = {.enter = on_enter, .user = t};
    t->stacks = ntr_callstack_new(functions, &listener, allocator);
    if (!t->stacks || ntr_reserve(allocator, (void **)&t->nodes, &t->capacity, 1, sizeof *t->nodes) ||
        !rehash(t, SLOTS)) {
        ntr_calltree_free(t);
        return NULL;
    }
    t->nodes[t->count++] = (ntr_call_node){.parent = NTR_CALLTREE_NONE, .child = NTR_CALLTREE_NONE,
                                           .sibling = NTR_CALLTREE_NONE, .function = UINT32_MAX};
    return t;
}

void ntr_calltree_free(ntr_calltree *t) {
    if (!t) return;
    ntr_callstack_free(t->stacks);
    ntr_dealloc(t->allocator, t->nodes);
    ntr_dealloc(t->allocator, t->slots);
    ntr_dealloc(t->allocator, t->clocks);
    ntr_dealloc(t->allocator, t);
}

/* ---- counting ---------------------------------------------------------------------------------- */

/* Ticks that passed on the event's source since the event before; 0 when unknown. */
static uint64_t elapsed(ntr_calltree *t, const ntr_event *event) {
    size_t need = (size_t)event->src + 1;
    if (need > t->clock_count) {
        if (ntr_reserve(t->allocator, (void **)&t->clocks, &t->clock_capacity, need, sizeof *t->clocks)) return 0;
        memset(t->clocks + t->clock_count, 0, (need - t->clock_count) * sizeof *t->clocks);
        t->clock_count = need;
    }
    clock_of *clock = &t->clocks[event->src], before = *clock;
    clock->known = (event->flags & NTR_EVENT_TIME) != 0;
    clock->time = event->time;
    return before.known && clock->known && event->time > before.time ? event->time - before.time : 0;
}

ntr_status ntr_calltree_feed(ntr_calltree *t, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ntr_event *event = &events[i];
        uint64_t ticks = elapsed(t, event);
        if (event->kind == NTR_EVENT_SPAN) {
            const ntr_stack_frame *frame = ntr_callstack_frame(t->stacks, event);
            if (!frame) return NTR_E_MEMORY;
            ntr_call_node *node = &t->nodes[frame->handle];
            node->instructions += event->instructions;
            node->ticks += ticks;
            if (event->end == NTR_END_NOT_TAKEN || event->end == NTR_END_CUT) continue;
        }
        ntr_status status = ntr_callstack_feed(t->stacks, event);
        if (status) return status;
    }
    return t->failed;
}

void ntr_calltree_finish(ntr_calltree *t) {
    for (size_t i = 0; i < t->count; i++) {
        t->nodes[i].total_instructions = t->nodes[i].instructions;
        t->nodes[i].total_ticks = t->nodes[i].ticks;
    }
    for (size_t i = t->count; i-- > 1;) {
        ntr_call_node *parent = &t->nodes[t->nodes[i].parent];
        parent->total_instructions += t->nodes[i].total_instructions;
        parent->total_ticks += t->nodes[i].total_ticks;
    }
}

const ntr_call_node *ntr_calltree_nodes(const ntr_calltree *t, size_t *count) {
    *count = t->count;
    return t->nodes;
}

/* Whether an ancestor of the node is the same function: then the ancestor's total has it already. */
static bool nested_in_itself(const ntr_calltree *t, const ntr_call_node *node) {
    for (uint32_t at = node->parent; at != NTR_CALLTREE_ROOT; at = t->nodes[at].parent)
        if (t->nodes[at].function == node->function) return true;
    return false;
}

void ntr_calltree_sums(const ntr_calltree *t, ntr_call_sum *sums, size_t capacity) {
    for (size_t i = 0; i < capacity; i++) sums[i] = (ntr_call_sum){.function = (uint32_t)i};
    for (size_t i = 1; i < t->count; i++) {
        const ntr_call_node *node = &t->nodes[i];
        if (node->function >= capacity) continue;
        ntr_call_sum *sum = &sums[node->function];
        sum->calls += node->calls;
        sum->self_instructions += node->instructions;
        sum->self_ticks += node->ticks;
        if (nested_in_itself(t, node)) continue;
        sum->total_instructions += node->total_instructions;
        sum->total_ticks += node->total_ticks;
    }
}
