#include "analysis/open_part.h"

#include "analysis/calltree_state.h"
#include "analysis/sums.h"
#include "base/allocator.h"

typedef struct applying {
    const ntr_open_part *part;
    ntr_callstack *stacks;
    ntr_calltree *tree;
    const ntr_allocator *allocator;
    const char **why;
    uint32_t *numbers; /* of the nodes in the tree; NTR_CALLTREE_NONE: not known yet */
    size_t added;      /* number of nodes that have been added */
    ntr_followers *followers; /* of the tree, or NULL; they have got */
    size_t left;       /* ... so many frames */
    ntr_stack_frame *frames;
    size_t frame_capacity;
} applying;

static ntr_status wrong(const applying *a, const char *why) {
    *a->why = why;
    return NTR_E_STATE;
}

static bool is_base(const ntr_open_node *node) {
    return node->parent == NTR_CALLTREE_ROOT;
}

/* ---- nodes */

static ntr_status add_node(applying *a, size_t index) {
    const ntr_open_node *n = &a->part->nodes[index];
    if (n->parent >= index || a->numbers[n->parent] == NTR_CALLTREE_NONE || n->function >= a->part->function_count)
        return NTR_E_FORMAT;
    if (!a->tree) {
        a->numbers[index] = 0;
        return NTR_OK;
    }
    const ntr_call_node node = {.parent = a->numbers[n->parent],
                                .function = a->part->functions[n->function],
                                .kind = n->kind,
                                .site = n->site,
                                .calls = n->calls,
                                .instructions = n->instructions,
                                .ticks = n->ticks};
    a->numbers[index] = ntr_calltree_add_node(a->tree, &node);
    return a->numbers[index] == NTR_CALLTREE_NONE ? NTR_E_MEMORY : NTR_OK;
}

/* Adds the nodes before `end`; bases are known from their entries. */
static ntr_status add_nodes(applying *a, size_t end) {
    ntr_status status = NTR_OK;
    if (end > a->part->count) return NTR_E_FORMAT;
    for (; a->added < end && !status; a->added++)
        if (!is_base(&a->part->nodes[a->added])) status = add_node(a, a->added);
    return status;
}

/* ---- the log */

/* The frame that a base stands for is on top of the stack. */
static ntr_status apply_base(applying *a, const ntr_open_entry *entry) {
    const ntr_open_part *p = a->part;
    if (!entry->node || entry->node >= p->count || entry->node != entry->nodes || entry->event.kind != NTR_EVENT_SPAN)
        return NTR_E_FORMAT;
    const ntr_open_node *node = &p->nodes[entry->node];
    if (!is_base(node) || node->function >= p->function_count) return NTR_E_FORMAT;
    const ntr_stack_frame *frame = ntr_callstack_frame(a->stacks, &entry->event);
    if (!frame) return NTR_E_MEMORY;
    if (frame->function != p->functions[node->function])
        return wrong(a, "another function was called at its beginning");
    a->numbers[entry->node] = a->tree ? ntr_calltree_node_of(a->tree, frame->handle) : 0;
    if (a->tree) ntr_calltree_add_self(a->tree, a->numbers[entry->node], node->instructions, node->ticks);
    return NTR_OK;
}

/* Returns the handle of a frame that was entered in the part and is still on its stack. */
static uint32_t handle_of(applying *a, const ntr_open_frame *frame, const ntr_open_node *node) {
    const ntr_chunk_frame open = {.begin = frame->begin,
                                  .order = frame->order,
                                  .function = a->part->functions[node->function],
                                  .kind = node->kind};
    return a->followers ? ntr_followers_enter_open(a->followers, &open, a->numbers[frame->node])
                        : a->numbers[frame->node];
}

/* Makes the frames of an entry from their nodes. */
static ntr_status take_frames(applying *a, const ntr_open_entry *entry) {
    const ntr_open_part *p = a->part;
    if (entry->first_frame > p->frame_count || entry->frame_count > p->frame_count - entry->first_frame)
        return NTR_E_FORMAT;
    if (ntr_reserve(a->allocator, (void **)&a->frames, &a->frame_capacity, entry->frame_count + 1, sizeof *a->frames))
        return NTR_E_MEMORY;
    for (size_t i = 0; i < entry->frame_count; i++) {
        const ntr_open_frame *frame = &p->frames[entry->first_frame + i];
        if (frame->node >= a->added || a->numbers[frame->node] == NTR_CALLTREE_NONE || is_base(&p->nodes[frame->node]))
            return NTR_E_FORMAT;
        const ntr_open_node *node = &p->nodes[frame->node];
        a->frames[i] = (ntr_stack_frame){.function = p->functions[node->function],
                                         .handle = handle_of(a, frame, node),
                                         .kind = node->kind,
                                         .site = node->site,
                                         .return_to = frame->return_to};
    }
    return NTR_OK;
}

/* The same as when a tree with followers gets the event (calltree_count.c). */
static ntr_status follow_event(applying *a, const ntr_event *event) {
    ntr_followers_before(a->followers, event);
    if (event->kind == NTR_EVENT_SPAN && !ntr_callstack_frame(a->stacks, event)) return NTR_E_MEMORY;
    ntr_followers_executed(a->followers, event);
    const ntr_status status = ntr_callstack_feed(a->stacks, event), ended = ntr_followers_after(a->followers, event);
    return status ? status : ended;
}

static ntr_status apply_event(applying *a, const ntr_open_entry *entry) {
    ntr_status status = take_frames(a, entry);
    if (status == NTR_OK) status = ntr_open_log_push(a->stacks, entry, a->frames, entry->frame_count);
    if (status == NTR_E_LIMIT) return wrong(a, "its calls are too deep");
    if (status != NTR_OK || entry->kind == NTR_OPEN_END) return status;
    return a->followers ? follow_event(a, &entry->event) : ntr_callstack_feed(a->stacks, &entry->event);
}

/* Gives the followers the frames that were left before this place of the part, and moves them there. */
static ntr_status move(applying *a, size_t left, uint64_t now, uint64_t entered) {
    if (!a->followers) return NTR_OK;
    if (left > a->part->left_count) return NTR_E_FORMAT;
    for (; a->left < left; a->left++) {
        ntr_chunk_frame frame = a->part->left[a->left];
        if (frame.function >= a->part->function_count) return NTR_E_FORMAT;
        frame.function = a->part->functions[frame.function];
        ntr_followers_left(a->followers, &frame);
    }
    ntr_followers_move(a->followers, now, entered);
    return NTR_OK;
}

static ntr_status apply_log(applying *a) {
    const ntr_open_part *p = a->part;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < p->entry_count && status == NTR_OK; i++) {
        const ntr_open_entry *entry = &p->entries[i];
        status = add_nodes(a, entry->nodes);
        if (status == NTR_OK) status = move(a, entry->left, entry->now, entry->entered);
        if (status == NTR_OK) status = entry->kind == NTR_OPEN_BASE ? apply_base(a, entry) : apply_event(a, entry);
    }
    if (status == NTR_OK) status = move(a, p->left_count, p->now, p->entered);
    return status == NTR_OK ? add_nodes(a, p->count) : status;
}

ntr_status ntr_open_part_apply(const ntr_open_part *part, ntr_callstack *stacks, ntr_calltree *tree, const char **why,
                               const ntr_allocator *allocator) {
    applying a = {.part = part, .stacks = stacks, .tree = tree, .why = why, .allocator = allocator, .added = 1};
    if (!part->count) return NTR_E_FORMAT;
    if (tree && tree->followers.count) a.followers = &tree->followers;
    if (ntr_callstack_threaded(stacks)) return wrong(&a, "threads of an operating system were switched before it");
    a.numbers = ntr_alloc(allocator, part->count, sizeof *a.numbers);
    for (size_t i = 0; a.numbers && i < part->count; i++) a.numbers[i] = NTR_CALLTREE_NONE;
    ntr_status status = a.numbers ? apply_log(&a) : NTR_E_MEMORY;
    ntr_dealloc(allocator, a.numbers);
    ntr_dealloc(allocator, a.frames);
    return status;
}
