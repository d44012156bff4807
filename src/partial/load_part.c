/* Reads the call tree of a part of a capture, and applies it to the tree of the parts before it (analysis/open_part.h).
 */
#include "partial/load.h"

#include "analysis/open_part.h"
#include "base/allocator.h"

#include <inttypes.h>

/* A part that is being read. */
typedef struct part_reading {
    loading *l;
    ntr_open_node *nodes;
    ntr_open_entry *entries;
    ntr_open_frame *frames;
    size_t count, capacity, entry_count, entry_capacity, frame_count, frame_capacity;
    size_t frames_said; /* of all entries */
    bool unfit;
} part_reading;

static ntr_status damaged(const part_reading *r) {
    ntr_block_reader_fail(&r->l->partial->reader, "is damaged: the call tree of a part is not possible");
    return r->l->partial->reader.status;
}

static ntr_status wrong(const part_reading *r, const char *what) {
    const ntr_partial_capture *c = &r->l->partial->tables.captures[0];
    ntr_partial_fail(r->l->partial, "%s: part %" PRIu32 " of %" PRIu32 " began with a wrong guess: %s", c->path,
                     c->shard, c->shards, what);
    return NTR_E_STATE;
}

/* ---- nodes */

static bool node_of(const part_reading *r, const uint64_t *v, ntr_open_node *node) {
    *node = (ntr_open_node){.parent = (uint32_t)v[NTR_NODE_DEPTH],
                            .function = (uint32_t)v[NTR_NODE_FUNCTION],
                            .kind = (uint8_t)v[NTR_NODE_KIND],
                            .calls = v[NTR_NODE_CALLS],
                            .instructions = v[NTR_NODE_INSTRUCTIONS],
                            .ticks = v[NTR_NODE_TICKS]};
    if (r->count == 0) return true; /* the root */
    return v[NTR_NODE_DEPTH] < r->count && v[NTR_NODE_KIND] <= UINT8_MAX &&
           v[NTR_NODE_FUNCTION] < r->l->partial->tables.function_count &&
           ntr_load_address(r->l, v[NTR_NODE_SITE_IMAGE], v[NTR_NODE_SITE], &node->site);
}

static ntr_status read_nodes(part_reading *r) {
    ntr_block_reader *reader = &r->l->partial->reader;
    ntr_record record;
    while (ntr_block_get_fields(reader, NTR_BLOCK_PART_NODES, &record, NTR_NODE_KEYS, NTR_NODE_CAPTURE)) {
        if (r->count == UINT32_MAX ||
            ntr_reserve(r->l->allocator, (void **)&r->nodes, &r->capacity, r->count + 1, sizeof *r->nodes))
            return NTR_E_MEMORY;
        if (!node_of(r, record.v, &r->nodes[r->count])) return damaged(r);
        if (r->count == 0) r->unfit = record.v[NTR_NODE_CALLS] != 0;
        r->count++;
    }
    return reader->status != NTR_OK ? reader->status : r->count ? NTR_OK : damaged(r);
}

/* ---- the log */

static bool event_of(const part_reading *r, const uint64_t *v, ntr_event *e) {
    *e = (ntr_event){.kind = (uint8_t)v[NTR_ENTRY_EVENT],
                     .src = (uint16_t)v[NTR_ENTRY_SRC],
                     .offset = v[NTR_ENTRY_OFFSET],
                     .context = r->l->partial->tables.views[v[NTR_ENTRY_VIEW]].context};
    if (e->kind == NTR_EVENT_GAP) e->gap.until = v[NTR_ENTRY_UNTIL];
    if (e->kind != NTR_EVENT_SPAN && e->kind != NTR_EVENT_SYNC) return true;
    const bool valid = ntr_load_address(r->l, v[NTR_ENTRY_IMAGE], v[NTR_ENTRY_ADDRESS], &e->address) &&
                       ntr_load_address(r->l, v[NTR_ENTRY_TARGET_IMAGE], v[NTR_ENTRY_TARGET], &e->target);
    e->last = e->address + v[NTR_ENTRY_LAST];
    e->halfwords = (uint32_t)v[NTR_ENTRY_HALFWORDS];
    e->end = (uint8_t)v[NTR_ENTRY_END];
    e->flags = (uint8_t)(v[NTR_ENTRY_FLAGS] & NTR_EVENT_TARGET_UNKNOWN);
    return valid;
}

static bool entry_of(const part_reading *r, const uint64_t *v, ntr_open_entry *entry) {
    if (v[NTR_ENTRY_KIND] >= NTR_OPEN_KINDS || v[NTR_ENTRY_EVENT] >= NTR_EVENT_KINDS ||
        v[NTR_ENTRY_END] >= NTR_END_KINDS || v[NTR_ENTRY_SRC] > UINT16_MAX ||
        v[NTR_ENTRY_VIEW] >= r->l->partial->tables.view_count || v[NTR_ENTRY_HALFWORDS] > UINT32_MAX ||
        v[NTR_ENTRY_NODE] > UINT32_MAX || v[NTR_ENTRY_NODES] > r->count || v[NTR_ENTRY_FRAMES] > NTR_BLOCK_MAX)
        return false;
    *entry = (ntr_open_entry){.kind = (uint8_t)v[NTR_ENTRY_KIND],
                              .nodes = (uint32_t)v[NTR_ENTRY_NODES],
                              .node = (uint32_t)v[NTR_ENTRY_NODE],
                              .stopped = v[NTR_ENTRY_STOPPED] != 0,
                              .first_frame = r->frames_said,
                              .frame_count = (size_t)v[NTR_ENTRY_FRAMES]};
    return event_of(r, v, &entry->event) &&
           ntr_load_address(r->l, v[NTR_ENTRY_STOP_IMAGE], v[NTR_ENTRY_STOP], &entry->stopped_at);
}

static ntr_status read_entries(part_reading *r) {
    ntr_block_reader *reader = &r->l->partial->reader;
    ntr_record record;
    while (ntr_block_get_fields(reader, NTR_BLOCK_ENTRIES, &record, NTR_ENTRY_FIELDS, NTR_ENTRY_FIELDS)) {
        if (ntr_reserve(r->l->allocator, (void **)&r->entries, &r->entry_capacity, r->entry_count + 1,
                        sizeof *r->entries))
            return NTR_E_MEMORY;
        if (!entry_of(r, record.v, &r->entries[r->entry_count])) return damaged(r);
        r->frames_said += r->entries[r->entry_count++].frame_count;
    }
    return reader->status;
}

static ntr_status read_frames(part_reading *r) {
    ntr_block_reader *reader = &r->l->partial->reader;
    ntr_record record;
    while (ntr_block_get_fields(reader, NTR_BLOCK_FRAMES, &record, NTR_FRAME_FIELDS, NTR_FRAME_FIELDS)) {
        if (ntr_reserve(r->l->allocator, (void **)&r->frames, &r->frame_capacity, r->frame_count + 1,
                        sizeof *r->frames))
            return NTR_E_MEMORY;
        ntr_open_frame *frame = &r->frames[r->frame_count++];
        if (record.v[NTR_FRAME_NODE] >= r->count) return damaged(r);
        frame->node = (uint32_t)record.v[NTR_FRAME_NODE];
        if (!ntr_load_address(r->l, record.v[NTR_FRAME_IMAGE], record.v[NTR_FRAME_RETURN], &frame->return_to))
            return damaged(r);
    }
    return reader->status != NTR_OK ? reader->status : r->frame_count == r->frames_said ? NTR_OK : damaged(r);
}

/* ---- */

static ntr_status apply(const part_reading *r) {
    ntr_calltree *tree = r->l->analysis->tree;
    const ntr_open_part part = {.nodes = r->nodes,
                                .entries = r->entries,
                                .frames = r->frames,
                                .functions = r->l->functions,
                                .count = r->count,
                                .entry_count = r->entry_count,
                                .frame_count = r->frame_count,
                                .function_count = r->l->partial->tables.function_count};
    const char *why = NULL;
    const ntr_status status = ntr_open_part_apply(&part, ntr_calltree_stacks(tree), tree, &why, r->l->allocator);
    return status == NTR_E_STATE ? wrong(r, why) : status == NTR_E_FORMAT ? damaged(r) : status;
}

ntr_status ntr_load_part(loading *l) {
    part_reading r = {.l = l};
    ntr_status status = read_nodes(&r);
    if (status == NTR_OK) status = read_entries(&r);
    if (status == NTR_OK) status = read_frames(&r);
    if (status == NTR_OK)
        status = r.unfit ? wrong(&r, "threads of an operating system were switched in it") : apply(&r);
    ntr_dealloc(l->allocator, r.nodes);
    ntr_dealloc(l->allocator, r.entries);
    ntr_dealloc(l->allocator, r.frames);
    return status;
}
