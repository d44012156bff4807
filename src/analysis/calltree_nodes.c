/* The nodes of a call tree: found by a hash table, and mostly by prediction (calltree_state.h). */
#include "analysis/calltree_state.h"

#include "base/allocator.h"

#include <stdio.h>
#include <string.h>

/* A node is identified by its parent, call site, function and kind. */
typedef struct node_key {
    uint64_t site;
    uint32_t parent, function;
    uint8_t kind;
} node_key;

static node_key key_of(const ntr_call_node *node) {
    return (node_key){node->site, node->parent, node->function, node->kind};
}

static uint32_t hash(const node_key *key) {
    uint64_t value = ((uint64_t)key->parent << 32 | key->function) * 0x9e3779b97f4a7c15u;
    value ^= (key->site + key->kind) * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(value ^ value >> 29);
}

static bool same_key(const node_key *a, const node_key *b) {
    return a->site == b->site && a->parent == b->parent && a->function == b->function && a->kind == b->kind;
}

/* Returns the slot of the node, or the free slot for it. */
static struct node_slot *slot_of(ntr_calltree *t, const node_key *key, uint32_t hash) {
    const size_t mask = t->slot_count - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        struct node_slot *slot = &t->slots[at];
        if (slot->number == NTR_CALLTREE_NONE) return slot;
        if (slot->hash != hash) continue;
        const node_key other = key_of(&t->nodes[slot->number]);
        if (same_key(&other, key)) return slot;
    }
}

bool ntr_calltree_resize(ntr_calltree *t, size_t slot_count) {
    struct node_slot *slots = ntr_alloc(t->allocator, slot_count, sizeof *slots);
    const size_t mask = slot_count - 1;
    if (!slots) return false;
    memset(slots, 0xff, slot_count * sizeof *slots);
    for (size_t i = 0; i < t->slot_count; i++) {
        if (t->slots[i].number == NTR_CALLTREE_NONE) continue;
        size_t at = t->slots[i].hash & mask;
        while (slots[at].number != NTR_CALLTREE_NONE) at = (at + 1) & mask;
        slots[at] = t->slots[i];
    }
    ntr_dealloc(t->allocator, t->slots);
    t->slots = slots;
    t->slot_count = slot_count;
    return true;
}

static uint32_t new_child(ntr_calltree *t, uint32_t parent, const ntr_stack_frame *frame, const node_key *key,
                          uint32_t hash) {
    if (t->nodes[parent].depth == NTR_CALLTREE_DEPTH_MAX || t->count == NTR_CALLTREE_NODES_MAX) return parent;
    if (ntr_reserve(t->allocator, (void **)&t->nodes, &t->capacity, t->count + 1, sizeof *t->nodes) ||
        ntr_reserve(t->allocator, (void **)&t->predictions, &t->prediction_capacity, t->count + 1,
                    sizeof *t->predictions) ||
        (t->count * 2 >= t->slot_count && !ntr_calltree_resize(t, t->slot_count * 2))) {
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
    t->predictions[number] = (struct prediction){0};
    *slot_of(t, key, hash) = (struct node_slot){number, hash};
    return number;
}

static bool is_child(const ntr_calltree *t, uint32_t number, const node_key *key) {
    const node_key other = key_of(&t->nodes[number]);
    return same_key(&other, key);
}

static uint32_t look_up(ntr_calltree *t, uint32_t parent, const ntr_stack_frame *frame, const node_key *key) {
    const uint32_t hashed = hash(key), found = slot_of(t, key, hashed)->number;
    return found == NTR_CALLTREE_NONE ? new_child(t, parent, frame, key, hashed) : found;
}

uint32_t ntr_calltree_child(ntr_calltree *t, uint32_t parent, const ntr_stack_frame *frame) {
    const node_key key = {frame->site, parent, frame->function, frame->kind};
    uint32_t last = t->predictions[parent].last, found = t->predictions[last].next;
    if (last && is_child(t, last, &key)) return last;
    if (!found || !is_child(t, found, &key)) found = look_up(t, parent, frame, &key);
    if (last) t->predictions[last].next = found;
    t->predictions[parent].last = found;
    return found;
}

/* A process has the name that it has in the end: a frame begins before execve gives the name, or a kernel thread gets
 * one. Idle threads all have the pid 0. */
static uint32_t name_of_process(const ntr_calltree *t, const ntr_task *task) {
    const ntr_task *last =
        task->has_pid && task->tgid ? ntr_tasks_last(ntr_functions_tasks(t->functions), task->tgid) : NULL;
    char name[96];
    snprintf(name, sizeof name, task->has_pid ? "%.64s (%lu)" : "%.64s", last ? last->name : task->name,
             (unsigned long)task->tgid);
    return ntr_functions_named(t->functions, name);
}

/* Returns the number of the name of the hart, context or process, UINT32_MAX when out of memory. */
static uint32_t name_of(const ntr_calltree *t, const ntr_stack_moment *moment) {
    const ntr_context *context = moment->context;
    char name[96];
    const ntr_tasks *tasks = ntr_functions_tasks(t->functions);
    const ntr_task *owner = tasks && context->has_scontext ? ntr_tasks_context(tasks, context->scontext) : NULL;
    if (t->split == NTR_CALLTREE_PROCESSES && (moment->task || owner))
        return name_of_process(t, moment->task ? moment->task : owner);
    int used = snprintf(name, sizeof name, "hart %u", moment->src);
    if (t->split == NTR_CALLTREE_CONTEXTS && context->has_scontext)
        used += snprintf(name + used, sizeof name - (size_t)used, " scontext 0x%llx",
                         (unsigned long long)context->scontext);
    if (t->split == NTR_CALLTREE_CONTEXTS && owner)
        used += snprintf(name + used, sizeof name - (size_t)used, " %.32s", owner->name);
    if (t->split == NTR_CALLTREE_CONTEXTS && context->has_hcontext)
        snprintf(name + used, sizeof name - (size_t)used, " hcontext 0x%llx", (unsigned long long)context->hcontext);
    return ntr_functions_named(t->functions, name);
}

/* Returns the node of the hart, context or process, the parent of its root frames. */
static uint32_t subtree_of(ntr_calltree *t, const ntr_stack_moment *moment) {
    if (t->split == NTR_CALLTREE_TOGETHER) return NTR_CALLTREE_ROOT;
    const ntr_stack_frame place = {.function = name_of(t, moment), .kind = NTR_FRAME_ROOT};
    if (place.function == UINT32_MAX) {
        t->failed = NTR_E_MEMORY;
        return NTR_CALLTREE_ROOT;
    }
    uint32_t node = ntr_calltree_child(t, NTR_CALLTREE_ROOT, &place);
    if (!t->nodes[node].calls) t->nodes[node].calls = 1;
    return node;
}

/* A frame whose callers are not known begins. */
static uint32_t enter_base(ntr_calltree *t, const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    ntr_stack_frame base = *frame;
    base.site = ntr_open_log_base(t->log, moment, t->count);
    /* The names are numbered as in the tree of the whole. */
    const bool named = t->split == NTR_CALLTREE_TOGETHER || name_of(t, moment) != UINT32_MAX;
    if (!base.site || !named) t->failed = NTR_E_MEMORY;
    const size_t before = t->count;
    const uint32_t node = ntr_calltree_child(t, NTR_CALLTREE_ROOT, &base);
    if (t->count == before) t->log->dependent = true; /* too many nodes */
    return node;
}

uint32_t ntr_calltree_node_of(const ntr_calltree *t, uint32_t handle) {
    if (t->kept) return handle < t->kept->pool.used ? t->kept->records[handle].node : NTR_CALLTREE_ROOT;
    if (!t->followed) return handle;
    return handle < t->followers.pool.used ? t->followers.records[handle].own : NTR_CALLTREE_ROOT;
}

/* Returns the handle of a frame that no follower has. */
static uint32_t handle_of(ntr_calltree *t, uint32_t node) {
    return t->kept ? ntr_chunk_frames_enter(t->kept, node) : node;
}

uint32_t ntr_calltree_enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_calltree *t = user;
    if (t->log && !moment->parent) return handle_of(t, enter_base(t, moment, frame));
    uint32_t node = ntr_calltree_child(
        t, moment->parent ? ntr_calltree_node_of(t, moment->parent->handle) : subtree_of(t, moment), frame);
    if (!moment->resumed) t->nodes[node].calls += ntr_event_times(moment->event);
    return t->followed ? ntr_followers_enter(&t->followers, moment, frame, tail, node) : handle_of(t, node);
}

void ntr_calltree_leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    ntr_calltree *t = user;
    if (t->kept)
        ntr_chunk_frames_leave(t->kept, moment, frame);
    else
        ntr_followers_leave(&t->followers, moment, frame, lost);
}
