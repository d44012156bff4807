/* Call trees of the chunks of a stream, made by several threads and put together in the order of the stream.
 *
 * Idea: the tree of a chunk is that of a part whose callers are not known (open_log.h), behind its first events if they
 * have time (chunk_head.h). These, its nodes, its log, its functions in the order of their first look-up, and the time
 * at its end are packed into one block of memory, with the frames that followers need, if they are kept
 * (chunk_frames.h). To apply it, head and log are first applied to a copy of the stacks with functions of its own: a
 * guess that is wrong is found before anything has changed. Then the functions get their numbers, in the order that
 * they would have had, and head and log are applied to the tree. */
#include "analysis/tree_chunk.h"

#include "analysis/calltree_state.h"
#include "analysis/chunk_applier.h"
#include "analysis/open_part.h"
#include "analysis/sums.h"
#include "base/allocator.h"

#include <string.h>

/* A packed chunk: this, then the events of its head, its nodes, entries, frames, functions, and kept frames. All sizes
 * are multiples of 8. */
typedef struct packed_tree {
    uint64_t dependent;
    uint64_t head_count, count, entry_count, frame_count, function_count;
    ntr_time_attribution time; /* at its end, of the source of its head; no items */
    uint64_t goes_on;          /* there are events behind its head */
    uint64_t kept;             /* frames were kept: */
    uint64_t left_count, now, entered;
    ntr_chunk_facts facts;
} packed_tree;

typedef struct packed_function {
    ntr_function_place place;
    const char *name; /* if it has no address */
} packed_function;

_Static_assert(sizeof(packed_tree) % 8 == 0 && sizeof(ntr_event) % 8 == 0 && sizeof(ntr_open_node) % 8 == 0 &&
                   sizeof(ntr_open_entry) % 8 == 0 && sizeof(ntr_open_frame) % 8 == 0 &&
                   sizeof(packed_function) % 8 == 0 && sizeof(ntr_chunk_frame) % 8 == 0,
               "each array is aligned behind the one before");

/* ---- packing */

void ntr_calltree_begin_chunk(ntr_calltree *tree) {
    ntr_chunk_head *chunk_head = ntr_calltree_head(tree);
    if (!chunk_head) return; /* feeding fails */
    ntr_chunk_head_restart(chunk_head);
    ntr_callstack_restart(ntr_calltree_stacks(tree));
    ntr_calltree_restart(tree);
    ntr_calltree_forget_times(tree);
    ntr_functions_note(ntr_calltree_functions(tree));
}

static size_t size_of(const packed_tree *p) {
    return sizeof *p + p->head_count * sizeof(ntr_event) + p->count * sizeof(ntr_open_node) +
           p->entry_count * sizeof(ntr_open_entry) + p->frame_count * sizeof(ntr_open_frame) +
           p->function_count * sizeof(packed_function) + p->left_count * sizeof(ntr_chunk_frame);
}

static void pack_nodes(const ntr_functions *functions, const ntr_call_node *nodes, size_t count, ntr_open_node *to) {
    for (size_t i = 0; i < count; i++)
        to[i] = (ntr_open_node){.parent = nodes[i].parent,
                                .function = i ? ntr_functions_note_index(functions, nodes[i].function) : UINT32_MAX,
                                .site = nodes[i].site,
                                .calls = nodes[i].calls,
                                .instructions = nodes[i].instructions,
                                .ticks = nodes[i].ticks,
                                .kind = nodes[i].kind};
}

static void pack_functions(const ntr_functions *functions, const uint32_t *noted, size_t count, packed_function *to) {
    for (size_t i = 0; i < count; i++) {
        const ntr_function_place place = ntr_functions_place(functions, noted[i]);
        to[i] = (packed_function){place, place.only_name ? ntr_functions_get(functions, noted[i])->name : NULL};
    }
}

static bool can_trap(const ntr_open_entry *entry) {
    const unsigned ends = 1u << NTR_SPAN_EXCEPTION | 1u << NTR_SPAN_TRAP | 1u << NTR_SPAN_INTERRUPT;
    return entry->kind == NTR_OPEN_EVENT && (entry->event.kind == NTR_EVENT_SYNC ||
                                             (entry->event.kind == NTR_EVENT_SPAN && ends >> entry->event.end & 1));
}

static ntr_chunk_facts facts_of(ntr_functions *functions, const uint32_t *noted, size_t count,
                                const ntr_open_log *log) {
    ntr_chunk_facts facts = {.src = log->kept->src};
    for (size_t i = 0; i < count; i++) facts.names |= ntr_functions_role(functions, noted[i]).role != NTR_OS_NONE;
    for (size_t i = 0; i < log->count; i++) facts.traps |= can_trap(&log->entries[i]);
    return facts;
}

static void pack_frames(const ntr_functions *functions, const ntr_chunk_frames *kept, ntr_chunk_frame *to) {
    for (size_t i = 0; i < kept->count; i++) {
        to[i] = kept->list[i];
        to[i].function = ntr_functions_note_index(functions, kept->list[i].function);
    }
}

/* The time at the end of the chunk: that of messages without spans may belong to the next chunk. */
static void pack_time(ntr_calltree *tree, const ntr_chunk_head *chunk_head, packed_tree *head) {
    const ntr_time_attribution *time = chunk_head->count ? ntr_calltree_time(tree, chunk_head->events[0].src) : NULL;
    head->goes_on = !chunk_head->open;
    if (time)
        head->time = (ntr_time_attribution){
            .message = time->message, .time = time->time, .ticks = time->ticks, .timed = time->timed};
}

size_t ntr_calltree_pack(ntr_calltree *tree, void *to, size_t room) {
    ntr_functions *functions = ntr_calltree_functions(tree);
    const ntr_open_log *log = ntr_calltree_log(tree);
    packed_tree head = {0};
    size_t count, function_count;
    const ntr_call_node *nodes = ntr_calltree_nodes(tree, &count);
    const uint32_t *noted = ntr_functions_noted(functions, &function_count);
    const ntr_chunk_head *chunk_head = ntr_calltree_head(tree);
    const ntr_chunk_frames *kept = log->kept;
    head.dependent = !chunk_head || log->dependent || chunk_head->dependent ||
                     (kept && (kept->dependent || kept->failed || chunk_head->count));
    if (!head.dependent) {
        pack_time(tree, chunk_head, &head);
        head.head_count = chunk_head->count;
        head.count = count;
        head.entry_count = log->count;
        head.frame_count = log->frame_count;
        head.function_count = function_count;
    }
    if (!head.dependent && kept) {
        head.kept = true;
        head.left_count = kept->count;
        head.now = kept->now;
        head.entered = kept->entered;
        head.facts = facts_of(functions, noted, function_count, log);
    }
    const size_t size = size_of(&head);
    if (size > room) return size;
    memcpy(to, &head, sizeof head);
    ntr_event *first = (void *)((char *)to + sizeof head);
    ntr_open_node *packed = (void *)(first + head.head_count);
    ntr_open_entry *entries = (void *)(packed + head.count);
    ntr_open_frame *frames = (void *)(entries + head.entry_count);
    if (head.head_count) memcpy(first, chunk_head->events, head.head_count * sizeof *first);
    pack_nodes(functions, nodes, head.count, packed);
    if (head.entry_count) memcpy(entries, log->entries, head.entry_count * sizeof *entries);
    if (head.frame_count) memcpy(frames, log->frames, head.frame_count * sizeof *frames);
    packed_function *packed_functions = (void *)(frames + head.frame_count);
    pack_functions(functions, noted, head.function_count, packed_functions);
    if (head.left_count) pack_frames(functions, kept, (void *)(packed_functions + head.function_count));
    return size;
}

/* ---- applying */

static ntr_chunk_applier *applier_of(ntr_calltree *tree) {
    ntr_chunk_applier **place = ntr_calltree_applier(tree);
    if (!*place) *place = ntr_chunk_applier_new(ntr_calltree_functions(tree));
    return *place;
}

/* Finds the numbers of the functions of a chunk. */
static ntr_status find_functions(ntr_chunk_applier *a, ntr_functions *functions, const packed_function *packed,
                                 size_t count) {
    if (ntr_reserve(a->allocator, (void **)&a->numbers, &a->number_capacity, count + 1, sizeof *a->numbers))
        return NTR_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        a->numbers[i] =
            packed[i].name
                ? ntr_functions_named(functions, packed[i].name)
                : ntr_functions_at(functions, ntr_place_at(&packed[i].place.context, packed[i].place.position,
                                                           packed[i].place.address));
        if (a->numbers[i] == UINT32_MAX) return NTR_E_MEMORY;
    }
    return NTR_OK;
}

static ntr_status try_part(ntr_chunk_applier *a, const ntr_event *first, size_t count, const ntr_open_part *part,
                           const ntr_callstack *stacks) {
    const char *why;
    ntr_status status = ntr_chunk_applier_copy(a, stacks);
    for (size_t i = 0; i < count && !status; i++) status = ntr_callstack_feed(a->stacks, &first[i]);
    return status ? status : ntr_open_part_apply(part, a->stacks, NULL, &why, a->allocator);
}

/* The time at the end of the chunk; without a head, no time is known there. */
static void leave_time(ntr_calltree *tree, const packed_tree *head, const ntr_event *first) {
    if (head->head_count)
        ntr_calltree_set_time(tree, first[0].src, &head->time);
    else
        ntr_calltree_forget_times(tree);
}

ntr_status ntr_calltree_apply(ntr_calltree *tree, const void *packed, size_t size) {
    ntr_chunk_applier *a = applier_of(tree);
    packed_tree head;
    const char *why;
    if (!a) return NTR_E_MEMORY;
    memcpy(&head, packed, sizeof head);
    if (head.dependent || size_of(&head) != size) return NTR_E_STATE;
    if (tree->followers.count && !(head.kept && ntr_followers_begin_chunk(&tree->followers, &head.facts)))
        return NTR_E_STATE;
    ntr_callstack *stacks = ntr_calltree_stacks(tree);
    ntr_open_part part = {.count = head.count,
                          .entry_count = head.entry_count,
                          .frame_count = head.frame_count,
                          .function_count = head.function_count,
                          .left_count = head.left_count,
                          .now = head.now,
                          .entered = head.entered};
    const ntr_event *first = (const void *)((const char *)packed + sizeof head);
    part.nodes = (const void *)(first + head.head_count);
    part.entries = (const void *)(part.nodes + part.count);
    part.frames = (const void *)(part.entries + part.entry_count);
    const packed_function *functions = (const void *)(part.frames + part.frame_count);
    part.left = (const void *)(functions + part.function_count);
    ntr_status status = find_functions(a, a->functions, functions, part.function_count);
    part.functions = a->numbers;
    if (!status) status = try_part(a, first, head.head_count, &part, stacks);
    if (!status) status = ntr_calltree_feed(tree, first, head.head_count);
    if (!status) status = find_functions(a, ntr_calltree_functions(tree), functions, part.function_count);
    part.functions = a->numbers;
    if (!status) status = ntr_open_part_apply(&part, stacks, tree, &why, a->allocator);
    ntr_calltree_moved(tree);
    if (!status && head.goes_on) leave_time(tree, &head, first);
    return status;
}
