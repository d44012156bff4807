#include "analysis/calltree_state.h"
#include "analysis/tree_chunk.h"

#include "analysis/sums.h"
#include "base/allocator.h"

#include <string.h>

/* ---- creation ---------------------------------------------------------------------------------- */

ntr_status ntr_calltree_new(ntr_functions *functions, const ntr_allocator *allocator, ntr_calltree **out) {
    *out = NULL;
    enum { SLOTS = 1024 };
    ntr_calltree *t = ntr_alloc(allocator, 1, sizeof *t);
    if (!t) return NTR_E_MEMORY;
    t->allocator = allocator;
    t->functions = functions;
    t->followers.allocator = allocator;
    const ntr_stack_listener listener = {.enter = ntr_calltree_enter, .user = t};
    ntr_callstack_new(functions, &listener, allocator, &t->stacks);
    if (!t->stacks || ntr_reserve(allocator, (void **)&t->nodes, &t->capacity, 1, sizeof *t->nodes) ||
        ntr_reserve(allocator, (void **)&t->predictions, &t->prediction_capacity, 1, sizeof *t->predictions) ||
        !ntr_calltree_resize(t, SLOTS)) {
        ntr_calltree_free(t);
        return NTR_E_MEMORY;
    }
    t->predictions[0] = (struct prediction){0};
    t->nodes[t->count++] = (ntr_call_node){
        .parent = NTR_CALLTREE_NONE, .child = NTR_CALLTREE_NONE, .sibling = NTR_CALLTREE_NONE, .function = UINT32_MAX};
    *out = t;
    return NTR_OK;
}

void ntr_calltree_divide(ntr_calltree *t, ntr_calltree_split split) {
    t->split = split;
}

void ntr_calltree_free(ntr_calltree *t) {
    if (!t) return;
    ntr_callstack_free(t->stacks);
    ntr_followers_release(&t->followers);
    ntr_chunk_applier_free(t->applier);
    ntr_dealloc(t->allocator, t->nodes);
    ntr_dealloc(t->allocator, t->slots);
    ntr_dealloc(t->allocator, t->predictions);
    for (size_t i = 0; i < t->source_count; i++) ntr_time_attribution_release(&t->sources[i].time, t->allocator);
    ntr_dealloc(t->allocator, t->sources);
    if (t->log) ntr_open_log_release(t->log);
    ntr_dealloc(t->allocator, t->log);
    if (t->head) ntr_chunk_head_release(t->head);
    ntr_dealloc(t->allocator, t->head);
    ntr_dealloc(t->allocator, t);
}

ntr_status ntr_calltree_open(ntr_calltree *t) {
    t->log = ntr_alloc(t->allocator, 1, sizeof *t->log);
    if (t->log) t->log->allocator = t->allocator;
    return t->log ? NTR_OK : NTR_E_MEMORY;
}

ntr_status ntr_calltree_keep_frames(ntr_calltree *t, uint64_t shortest) {
    const ntr_stack_listener listener = {ntr_calltree_enter, ntr_calltree_leave, t};
    if (!t->log) return NTR_E_INVALID;
    if (!t->kept) {
        t->kept = t->log->kept = ntr_alloc(t->allocator, 1, sizeof *t->kept);
        if (!t->kept) return NTR_E_MEMORY;
        t->kept->allocator = t->allocator;
        ntr_callstack_listen(t->stacks, &listener);
    }
    t->kept->shortest = shortest;
    return NTR_OK;
}

uint64_t ntr_calltree_shortest_frame(const ntr_calltree *t) {
    return ntr_followers_shortest(&t->followers);
}

const ntr_open_log *ntr_calltree_log(const ntr_calltree *t) {
    return t->log;
}

ntr_callstack *ntr_calltree_stacks(ntr_calltree *t) {
    return t->stacks;
}

ntr_functions *ntr_calltree_functions(const ntr_calltree *t) {
    return t->functions;
}

ntr_chunk_applier **ntr_calltree_applier(ntr_calltree *t) {
    return &t->applier;
}

ntr_chunk_head *ntr_calltree_head(ntr_calltree *t) {
    if (!t->head && (t->head = ntr_alloc(t->allocator, 1, sizeof *t->head))) t->head->allocator = t->allocator;
    if (!t->head) t->failed = NTR_E_MEMORY;
    return t->head;
}

void ntr_calltree_moved(ntr_calltree *t) {
    for (size_t i = 0; i < t->source_count; i++) t->sources[i].stays = false;
    t->fed = true;
}

/* ---- followers --------------------------------------------------------------------------------- */

bool ntr_calltree_is_unused(const ntr_calltree *t) {
    return !t->fed && t->count == 1;
}

bool ntr_calltree_follow(ntr_calltree *t, const ntr_follower *follower) {
    const ntr_stack_listener listener = {ntr_calltree_enter, ntr_calltree_leave, t};
    if (t->log || !ntr_calltree_is_unused(t) || t->followers.count == NTR_FOLLOWERS_MAX) return false;
    t->followed = true;
    t->followers.list[t->followers.count++] = *follower;
    ntr_callstack_listen(t->stacks, &listener);
    return true;
}

void ntr_calltree_end_following(ntr_calltree *t, bool finish) {
    if (finish) ntr_callstack_finish(t->stacks, &t->last);
    t->followers.count = 0;
}

/* ---- sums -------------------------------------------------------------------------------------- */

void ntr_calltree_restart(ntr_calltree *t) {
    for (size_t i = 0; i < t->source_count; i++) {
        ntr_time_attribution_flush(&t->sources[i].time, ntr_calltree_take_ticks, t);
        t->sources[i].stays = false;
    }
    if (t->log) ntr_open_log_restart(t->log, t->stacks);
    t->count = 1;
    t->nodes[0].child = NTR_CALLTREE_NONE;
    t->nodes[0].instructions = t->nodes[0].ticks = 0;
    t->predictions[0] = (struct prediction){0};
    memset(t->slots, 0xff, t->slot_count * sizeof *t->slots);
}

void ntr_calltree_finish(ntr_calltree *t) {
    for (size_t i = 0; i < t->source_count; i++)
        ntr_time_attribution_flush(&t->sources[i].time, ntr_calltree_take_ticks, t);
    if (t->log && ntr_open_log_finish(t->log, t->stacks, t->count) != NTR_OK) t->failed = NTR_E_MEMORY;
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

uint32_t ntr_calltree_add_node(ntr_calltree *t, const ntr_call_node *node) {
    const ntr_stack_frame frame = {.function = node->function, .kind = node->kind, .site = node->site};
    const uint32_t number = ntr_calltree_child(t, node->parent, &frame);
    if (t->failed) return NTR_CALLTREE_NONE;
    t->nodes[number].calls += node->calls;
    t->nodes[number].instructions += node->instructions;
    t->nodes[number].ticks += node->ticks;
    return number;
}

void ntr_calltree_add_self(ntr_calltree *t, uint32_t node, uint64_t instructions, uint64_t ticks) {
    t->nodes[node].instructions += instructions;
    t->nodes[node].ticks += ticks;
}

ntr_calltree_split ntr_calltree_divided(const ntr_calltree *t) {
    return t->split;
}

const ntr_call_node *ntr_calltree_nodes(const ntr_calltree *t, size_t *count) {
    *count = t->count;
    return t->nodes;
}

/* Returns whether an ancestor of the node is the same function. The total of that ancestor then includes the node. */
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
