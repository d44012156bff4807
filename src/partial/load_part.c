/* Applies the call tree of a part of a capture to the tree of the parts before it (analysis/open_log.h). */
#include "partial/load.h"

#include "base/allocator.h"

#include <inttypes.h>

typedef struct applying {
    loading *l;
    ntr_callstack *stacks;
    ntr_record *nodes;
    uint32_t *numbers; /* of the nodes in the tree; NTR_CALLTREE_NONE: not known yet */
    size_t count, capacity, added;
    ntr_record *entries;
    size_t entry_count, entry_capacity;
} applying;

static ntr_status damaged(const applying *a) {
    ntr_block_reader_fail(&a->l->partial->reader, "is damaged: the call tree of a part is not possible");
    return a->l->partial->reader.status;
}

static ntr_status wrong(const applying *a, const char *what) {
    const ntr_partial_capture *c = &a->l->partial->tables.captures[0];
    ntr_partial_fail(a->l->partial, "%s: part %" PRIu32 " of %" PRIu32 " began with a wrong guess: %s", c->path, c->shard, c->shards, what);
    return NTR_E_STATE;
}

/* ---- reading */

static ntr_status read_records(applying *a, uint8_t kind, unsigned keys, unsigned fields, ntr_record **records, size_t *count,
                               size_t *capacity) {
    ntr_block_reader *reader = &a->l->partial->reader;
    ntr_record r;
    while (ntr_block_get_fields(reader, kind, &r, keys, fields)) {
        if (ntr_reserve(a->l->allocator, (void **)records, capacity, *count + 1, sizeof **records)) return NTR_E_MEMORY;
        (*records)[(*count)++] = r;
    }
    return reader->status;
}

static ntr_status read_part(applying *a) {
    ntr_status status =
        read_records(a, NTR_BLOCK_PART_NODES, NTR_NODE_KEYS, NTR_NODE_CAPTURE, &a->nodes, &a->count, &a->capacity);
    if (status == NTR_OK)
        status = read_records(a, NTR_BLOCK_ENTRIES, NTR_ENTRY_FIELDS, NTR_ENTRY_FIELDS, &a->entries, &a->entry_count, &a->entry_capacity);
    if (status != NTR_OK) return status;
    if (!a->nodes || !a->count) return damaged(a);
    a->numbers = ntr_alloc(a->l->allocator, a->count, sizeof *a->numbers);
    if (!a->numbers) return NTR_E_MEMORY;
    for (size_t i = 0; i < a->count; i++) a->numbers[i] = NTR_CALLTREE_NONE;
    a->added = 1;
    return NTR_OK;
}

/* ---- nodes */

static bool is_base(const ntr_record *r) {
    return r->v[NTR_NODE_DEPTH] == 0;
}

/* Adds the nodes before `end`; bases are known from their entries. */
static ntr_status add_nodes(applying *a, uint64_t end) {
    if (end > a->count) return damaged(a);
    for (; a->added < end; a->added++) {
        const uint64_t *v = a->nodes[a->added].v;
        if (is_base(&a->nodes[a->added])) continue;
        ntr_call_node node = {.kind = (uint8_t)v[NTR_NODE_KIND], .calls = v[NTR_NODE_CALLS], .instructions = v[NTR_NODE_INSTRUCTIONS],
                              .ticks = v[NTR_NODE_TICKS]};
        if (v[NTR_NODE_DEPTH] >= a->added || a->numbers[v[NTR_NODE_DEPTH]] == NTR_CALLTREE_NONE || v[NTR_NODE_KIND] > UINT8_MAX ||
            v[NTR_NODE_FUNCTION] >= a->l->partial->tables.function_count ||
            !ntr_load_address(a->l, v[NTR_NODE_SITE_IMAGE], v[NTR_NODE_SITE], &node.site))
            return damaged(a);
        node.parent = a->numbers[v[NTR_NODE_DEPTH]];
        node.function = a->l->functions[v[NTR_NODE_FUNCTION]];
        a->numbers[a->added] = ntr_calltree_add_node(a->l->analysis->tree, &node);
        if (a->numbers[a->added] == NTR_CALLTREE_NONE) return NTR_E_MEMORY;
    }
    return NTR_OK;
}

/* ---- the log */

static bool entry_of(const applying *a, const ntr_record *r, ntr_open_entry *entry) {
    const uint64_t *v = r->v;
    const ntr_partial_tables *t = &a->l->partial->tables;
    if (v[NTR_ENTRY_KIND] >= NTR_OPEN_KINDS || v[NTR_ENTRY_EVENT] >= NTR_EVENT_KINDS || v[NTR_ENTRY_END] >= NTR_END_KINDS ||
        v[NTR_ENTRY_SRC] > UINT16_MAX || v[NTR_ENTRY_VIEW] >= t->view_count || v[NTR_ENTRY_HALFWORDS] > UINT32_MAX)
        return false;
    *entry = (ntr_open_entry){.kind = (uint8_t)v[NTR_ENTRY_KIND], .stopped = v[NTR_ENTRY_STOPPED] != 0, .frame_count = (size_t)v[NTR_ENTRY_FRAMES]};
    ntr_event *e = &entry->event;
    e->kind = (uint8_t)v[NTR_ENTRY_EVENT];
    e->src = (uint16_t)v[NTR_ENTRY_SRC];
    e->context = t->views[v[NTR_ENTRY_VIEW]].context;
    e->offset = v[NTR_ENTRY_OFFSET];
    bool valid = ntr_load_address(a->l, v[NTR_ENTRY_STOP_IMAGE], v[NTR_ENTRY_STOP], &entry->stopped_at);
    if (e->kind == NTR_EVENT_GAP) {
        e->gap.until = v[NTR_ENTRY_UNTIL];
    } else if (e->kind == NTR_EVENT_SPAN || e->kind == NTR_EVENT_SYNC) {
        valid = valid && ntr_load_address(a->l, v[NTR_ENTRY_IMAGE], v[NTR_ENTRY_ADDRESS], &e->address) &&
                ntr_load_address(a->l, v[NTR_ENTRY_TARGET_IMAGE], v[NTR_ENTRY_TARGET], &e->target);
        e->last = e->address + v[NTR_ENTRY_LAST];
        e->halfwords = (uint32_t)v[NTR_ENTRY_HALFWORDS];
        e->end = (uint8_t)v[NTR_ENTRY_END];
        e->flags = (uint8_t)(v[NTR_ENTRY_FLAGS] & NTR_EVENT_TARGET_UNKNOWN);
    }
    return valid;
}

/* The frame that a base stands for is on top of the stack. */
static ntr_status apply_base(applying *a, const ntr_record *r, const ntr_open_entry *entry) {
    const uint64_t node = r->v[NTR_ENTRY_NODE];
    if (!node || node >= a->count || node != r->v[NTR_ENTRY_NODES] || !is_base(&a->nodes[node]) || entry->event.kind != NTR_EVENT_SPAN ||
        a->nodes[node].v[NTR_NODE_FUNCTION] >= a->l->partial->tables.function_count)
        return damaged(a);
    const ntr_stack_frame *frame = ntr_callstack_frame(a->stacks, &entry->event);
    if (!frame) return NTR_E_MEMORY;
    if (frame->function != a->l->functions[a->nodes[node].v[NTR_NODE_FUNCTION]])
        return wrong(a, "another function was called at its beginning");
    a->numbers[node] = frame->handle;
    ntr_calltree_add_self(a->l->analysis->tree, frame->handle, a->nodes[node].v[NTR_NODE_INSTRUCTIONS], a->nodes[node].v[NTR_NODE_TICKS]);
    return NTR_OK;
}

/* Reads the frames of an entry. */
static ntr_status read_frames(const applying *a, size_t count, ntr_stack_frame *frames) {
    ntr_record r;
    for (size_t i = 0; i < count; i++) {
        if (!ntr_block_get_fields(&a->l->partial->reader, NTR_BLOCK_FRAMES, &r, NTR_FRAME_FIELDS, NTR_FRAME_FIELDS)) return damaged(a);
        const uint64_t node = r.v[NTR_FRAME_NODE];
        if (node >= a->added || a->numbers[node] == NTR_CALLTREE_NONE || is_base(&a->nodes[node])) return damaged(a);
        const uint64_t *v = a->nodes[node].v;
        frames[i] = (ntr_stack_frame){.function = a->l->functions[v[NTR_NODE_FUNCTION]], .handle = a->numbers[node],
                                      .kind = (uint8_t)v[NTR_NODE_KIND]};
        if (!ntr_load_address(a->l, v[NTR_NODE_SITE_IMAGE], v[NTR_NODE_SITE], &frames[i].site) ||
            !ntr_load_address(a->l, r.v[NTR_FRAME_IMAGE], r.v[NTR_FRAME_RETURN], &frames[i].return_to))
            return damaged(a);
    }
    return NTR_OK;
}

static ntr_status apply_event(applying *a, const ntr_open_entry *entry) {
    if (entry->frame_count > NTR_BLOCK_MAX) return damaged(a);
    ntr_stack_frame *frames = ntr_alloc(a->l->allocator, entry->frame_count + 1, sizeof *frames);
    ntr_status status = frames ? read_frames(a, entry->frame_count, frames) : NTR_E_MEMORY;
    if (status == NTR_OK) status = ntr_open_log_push(a->stacks, entry, frames, entry->frame_count);
    ntr_dealloc(a->l->allocator, frames);
    if (status == NTR_E_LIMIT) return wrong(a, "its calls are too deep");
    if (status != NTR_OK || entry->kind == NTR_OPEN_END) return status;
    return ntr_callstack_feed(a->stacks, &entry->event);
}

static ntr_status apply_log(applying *a) {
    ntr_status status = NTR_OK;
    if (!a->nodes) return damaged(a);
    if (ntr_callstack_threaded(a->stacks)) return wrong(a, "threads of an operating system were switched before it");
    for (size_t i = 0; i < a->entry_count && status == NTR_OK; i++) {
        ntr_open_entry entry;
        if (!entry_of(a, &a->entries[i], &entry)) return damaged(a);
        status = add_nodes(a, a->entries[i].v[NTR_ENTRY_NODES]);
        if (status == NTR_OK) status = entry.kind == NTR_OPEN_BASE ? apply_base(a, &a->entries[i], &entry) : apply_event(a, &entry);
    }
    return status == NTR_OK ? add_nodes(a, a->count) : status;
}

ntr_status ntr_load_part(loading *l) {
    applying a = {.l = l, .stacks = ntr_calltree_stacks(l->analysis->tree)};
    ntr_status status = read_part(&a);
    if (status == NTR_OK && a.nodes && a.nodes[0].v[NTR_NODE_CALLS]) status = wrong(&a, "threads of an operating system were switched in it");
    if (status == NTR_OK) status = apply_log(&a);
    ntr_dealloc(l->allocator, a.nodes);
    ntr_dealloc(l->allocator, a.numbers);
    ntr_dealloc(l->allocator, a.entries);
    return status;
}
