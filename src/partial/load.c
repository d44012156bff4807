/* Loading a partial into an analysis: relative addresses become those of its program, and functions and nodes get their
 * numbers in the order of first use, as when the captures had been decoded one after the other. */
#include "analysis/open_log.h"
#include "analysis/open_part.h"
#include "analysis/sums.h"
#include "base/allocator.h"
#include "partial/identity.h"
#include "partial/partial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A node of the tree. */
typedef struct loaded_node {
    ntr_record record;
    uint64_t parent; /* index of the node */
    uint32_t number; /* in the tree */
} loaded_node;

typedef struct loading {
    ntr_partial *partial;
    ntr_analysis *analysis;
    const ntr_allocator *allocator;
    uint64_t *bias, *from; /* of each image: load bias, and a stream offset at which it is visible */
    uint32_t *functions; /* numbers in the analysis */
    loaded_node *nodes;
    size_t node_count, node_capacity;
} loading;

static ntr_status ntr_load_part(loading *l);

/* ---- images */

/* Finds the images of the program that have the identities of the table. */
static ntr_status find_images(loading *l) {
    const ntr_partial_tables *t = &l->partial->tables;
    bool *found = ntr_alloc(l->allocator, t->image_count + 1, sizeof *found);
    ntr_status status = found ? NTR_OK : NTR_E_MEMORY;
    for (size_t i = 0; status == NTR_OK; i++) {
        ntr_image_info info;
        char *identity;
        if (ntr_program_image(l->analysis->program, i, &info) != NTR_OK) break;
        status = ntr_image_identity(l->analysis->program, i, l->allocator, &identity);
        if (status == NTR_E_IO) status = NTR_OK;
        for (size_t k = 0; identity && k < t->image_count; k++) {
            if (found[k] || strcmp(t->images[k].identity, identity) != 0) continue;
            found[k] = true;
            l->bias[k] = info.bias;
            l->from[k] = info.options.from;
        }
        ntr_dealloc(l->allocator, identity);
    }
    for (size_t k = 0; status == NTR_OK && k < t->image_count; k++) {
        if (found[k]) continue;
        ntr_partial_fail(l->partial, "%s: the image %s (%s) is not in the program: name its file with -e",
                         l->partial->name ? l->partial->name : "", t->images[k].name, t->images[k].identity);
        status = NTR_E_NO_IMAGE;
    }
    ntr_dealloc(l->allocator, found);
    return status;
}

/* A stream offset at which an image (number + 1; 0: none) is visible. */
static uint64_t position_of(const loading *l, uint64_t image) {
    return image && image <= l->partial->tables.image_count ? l->from[image - 1] : 0;
}

/* Stores the address in the program of an offset in an image (number + 1; 0: none). False: there is no such image. */
static bool ntr_load_address(const loading *l, uint64_t image, uint64_t offset, uint64_t *address) {
    if (image > l->partial->tables.image_count) return false;
    *address = image ? offset + l->bias[image - 1] : offset;
    return true;
}

/* ---- the tally */

typedef struct view_order {
    const ntr_partial_view *view;
} view_order;

static int by_first_view(const void *a, const void *b) {
    const ntr_partial_view *x = ((const view_order *)a)->view, *y = ((const view_order *)b)->view;
    return ntr_first_before(x->first, y->first) ? -1 : ntr_first_before(y->first, x->first);
}

/* Numbers the views in the order of first use. */
static ntr_status load_views(const loading *l) {
    const ntr_partial_tables *t = &l->partial->tables;
    view_order *order = ntr_alloc(l->allocator, t->view_count + 1, sizeof *order);
    ntr_status status = order ? NTR_OK : NTR_E_MEMORY;
    for (size_t i = 0; order && i < t->view_count; i++) order[i].view = &t->views[i];
    if (order && t->view_count) qsort(order, t->view_count, sizeof *order, by_first_view);
    for (size_t i = 0; status == NTR_OK && i < t->view_count; i++) {
        const ntr_tally_view_info info = {order[i].view->src, order[i].view->context};
        if (order[i].view->first.capture != UINT64_MAX) status = ntr_tally_add_view(l->analysis->tally, &info);
    }
    ntr_dealloc(l->allocator, order);
    return status;
}

static bool row_of(const loading *l, const ntr_record *r, ntr_tally_row *row) {
    const uint64_t end = r->v[NTR_COUNTED_END] & ~(uint64_t)NTR_COUNTED_UNKNOWN;
    *row = (ntr_tally_row){
        .count = r->v[NTR_COUNTED_COUNT],
        .ticks = r->v[NTR_COUNTED_TICKS],
        .instructions = (uint32_t)r->v[NTR_COUNTED_INSTRUCTIONS],
        .halfwords = (uint32_t)r->v[NTR_COUNTED_HALFWORDS],
        .end = (uint8_t)end,
        .target_unknown = (r->v[NTR_COUNTED_END] & NTR_COUNTED_UNKNOWN) != 0,
    };
    const bool valid = r->v[NTR_COUNTED_VIEW] < l->partial->tables.view_count && end < NTR_SPAN_KINDS &&
                       row->instructions == r->v[NTR_COUNTED_INSTRUCTIONS] &&
                       row->halfwords == r->v[NTR_COUNTED_HALFWORDS] &&
                       ntr_load_address(l, r->v[NTR_COUNTED_IMAGE], r->v[NTR_COUNTED_ADDRESS], &row->address) &&
                       ntr_load_address(l, r->v[NTR_COUNTED_TARGET_IMAGE], r->v[NTR_COUNTED_TARGET], &row->target);
    const uint64_t from = position_of(l, r->v[NTR_COUNTED_IMAGE]), at = position_of(l, r->v[NTR_COUNTED_TARGET_IMAGE]);
    row->position = from > at ? from : at;
    row->last = row->address + r->v[NTR_COUNTED_LAST];
    if (row->target_unknown) row->target = 0;
    return valid;
}

static ntr_status load_rows(const loading *l) {
    ntr_block_reader *reader = &l->partial->reader;
    const ntr_partial_tables *t = &l->partial->tables;
    ntr_record record;
    if (!l->analysis->tally || !(t->holds & NTR_PARTIAL_TALLY)) return NTR_OK;
    ntr_status status = load_views(l);
    while (status == NTR_OK &&
           ntr_block_get_fields(reader, NTR_BLOCK_ROWS, &record, NTR_COUNTED_KEYS, NTR_COUNTED_FIELDS)) {
        ntr_tally_row row;
        if (!row_of(l, &record, &row)) {
            ntr_block_reader_fail(reader, "is damaged: a count of code is not possible");
            break;
        }
        const ntr_partial_view *view = &t->views[record.v[NTR_COUNTED_VIEW]];
        const ntr_tally_view_info info = {view->src, view->context};
        status = ntr_tally_add_row(l->analysis->tally, &info, &row);
    }
    for (size_t i = 0; i < t->capture_count; i++) ntr_tally_add_gaps(l->analysis->tally, t->captures[i].gaps);
    return status ? status : reader->status;
}

/* ---- functions */

static int by_first_function(const void *a, const void *b, void *functions) {
    const ntr_partial_function *f = functions;
    const ntr_first x = f[*(const uint32_t *)a].first, y = f[*(const uint32_t *)b].first;
    return ntr_first_before(x, y) ? -1 : ntr_first_before(y, x);
}

static bool same_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b) == 0;
}

/* Finds the function in the program. Returns UINT32_MAX when it is not there. */
static uint32_t find_function(const loading *l, const ntr_partial_function *f) {
    uint64_t address;
    if (f->only_name) return ntr_functions_named(l->analysis->functions, f->name);
    if (!ntr_load_address(l, f->image, f->offset, &address)) return UINT32_MAX;
    const ntr_context *context = &l->partial->tables.views[f->view].context;
    const uint32_t number =
        ntr_functions_at(l->analysis->functions, ntr_place_at(context, position_of(l, f->image), address));
    const ntr_function *found = ntr_functions_get(l->analysis->functions, number);
    return found && same_text(found->name, f->name) ? number : UINT32_MAX;
}

static ntr_status load_functions(loading *l) {
    const ntr_partial_tables *t = &l->partial->tables;
    uint32_t *order = ntr_alloc(l->allocator, t->function_count + 1, sizeof *order);
    l->functions = ntr_alloc(l->allocator, t->function_count + 1, sizeof *l->functions);
    ntr_status status = order && l->functions ? NTR_OK : NTR_E_MEMORY;
    for (uint32_t i = 0; order && i < t->function_count; i++) order[i] = i;
    if (order && t->function_count) qsort_r(order, t->function_count, sizeof *order, by_first_function, t->functions);
    for (size_t i = 0; status == NTR_OK && i < t->function_count; i++) {
        const ntr_partial_function *f = &t->functions[order[i]];
        l->functions[order[i]] = find_function(l, f);
        if (l->functions[order[i]] != UINT32_MAX) continue;
        ntr_partial_fail(l->partial,
                         "%s: function %s: expected it at the address that the partial answer has, found other code "
                         "there; give the program and the debug files of the capture",
                         l->partial->name ? l->partial->name : "", f->name);
        status = NTR_E_NO_IMAGE;
    }
    ntr_dealloc(l->allocator, order);
    return status;
}

/* ---- nodes */

static ntr_status load_read_nodes(loading *l) {
    ntr_block_reader *reader = &l->partial->reader;
    uint64_t *path = ntr_alloc(l->allocator, NTR_CALLTREE_DEPTH_MAX + 2, sizeof *path);
    uint64_t depth = 0; /* of the node before */
    ntr_record r;
    if (!path) return NTR_E_MEMORY;
    while (ntr_block_get_fields(reader, NTR_BLOCK_NODES, &r, NTR_NODE_KEYS, NTR_NODE_FIELDS)) {
        const uint64_t at = r.v[NTR_NODE_DEPTH];
        if (l->node_count
                ? at == 0 || at > depth + 1 || at > NTR_CALLTREE_DEPTH_MAX ||
                      r.v[NTR_NODE_FUNCTION] >= l->partial->tables.function_count || r.v[NTR_NODE_KIND] > UINT8_MAX
                : at != 0) {
            ntr_block_reader_fail(reader, "is damaged: a node of the call tree is not possible");
            break;
        }
        if (ntr_reserve(l->allocator, (void **)&l->nodes, &l->node_capacity, l->node_count + 1, sizeof *l->nodes)) {
            reader->status = NTR_E_MEMORY;
            break;
        }
        l->nodes[l->node_count] = (loaded_node){.record = r, .parent = at ? path[at - 1] : 0};
        path[at] = l->node_count++;
        depth = at;
    }
    ntr_dealloc(l->allocator, path);
    return reader->status;
}

static int by_first_node(const void *a, const void *b, void *nodes) {
    const loaded_node *n = nodes;
    return ntr_record_compare(&n[*(const uint64_t *)a].record, &n[*(const uint64_t *)b].record, NTR_NODE_CAPTURE,
                              NTR_NODE_FIELDS);
}

static ntr_status add_node(const loading *l, loaded_node *node) {
    const uint64_t *v = node->record.v;
    ntr_call_node added = {
        .parent = l->nodes[node->parent].number,
        .function = l->functions[v[NTR_NODE_FUNCTION]],
        .kind = (uint8_t)v[NTR_NODE_KIND],
        .calls = v[NTR_NODE_CALLS],
        .instructions = v[NTR_NODE_INSTRUCTIONS],
        .ticks = v[NTR_NODE_TICKS],
    };
    if (added.parent == NTR_CALLTREE_NONE ||
        !ntr_load_address(l, v[NTR_NODE_SITE_IMAGE], v[NTR_NODE_SITE], &added.site)) {
        ntr_block_reader_fail(&l->partial->reader, "is damaged: a node of the call tree was used before its parent");
        return NTR_E_FORMAT;
    }
    node->number = ntr_calltree_add_node(l->analysis->tree, &added);
    return node->number == NTR_CALLTREE_NONE ? NTR_E_MEMORY : NTR_OK;
}

static ntr_status add_nodes(const loading *l) {
    uint64_t *order = ntr_alloc(l->allocator, l->node_count + 1, sizeof *order);
    ntr_status status = order ? NTR_OK : NTR_E_MEMORY;
    for (size_t i = 1; order && i < l->node_count; i++) {
        order[i - 1] = i;
        l->nodes[i].number = NTR_CALLTREE_NONE;
    }
    if (order && l->node_count > 1) qsort_r(order, l->node_count - 1, sizeof *order, by_first_node, l->nodes);
    for (size_t i = 1; status == NTR_OK && i < l->node_count; i++) status = add_node(l, &l->nodes[order[i - 1]]);
    ntr_dealloc(l->allocator, order);
    return status;
}

static ntr_status load_tree(loading *l) {
    if (!l->analysis->tree || !(l->partial->tables.holds & NTR_PARTIAL_TREE)) return NTR_OK;
    ntr_calltree_divide(l->analysis->tree, (ntr_calltree_split)l->partial->tables.split);
    ntr_status status = load_functions(l);
    if (status == NTR_OK && l->partial->tables.captures[0].shards) return ntr_load_part(l);
    if (status == NTR_OK) status = load_read_nodes(l);
    if (status == NTR_OK && l->node_count)
        ntr_calltree_add_self(l->analysis->tree, NTR_CALLTREE_ROOT, l->nodes[0].record.v[NTR_NODE_INSTRUCTIONS],
                              l->nodes[0].record.v[NTR_NODE_TICKS]);
    if (status == NTR_OK) status = add_nodes(l);
    if (status == NTR_OK) ntr_calltree_finish(l->analysis->tree);
    return status;
}

static void skip_rows(ntr_block_reader *reader) {
    ntr_record record;
    while (ntr_block_get_fields(reader, NTR_BLOCK_ROWS, &record, NTR_COUNTED_KEYS, NTR_COUNTED_FIELDS)) continue;
}

ntr_status ntr_partial_load(ntr_partial *partial, ntr_analysis *analysis) {
    loading l = {.partial = partial, .analysis = analysis, .allocator = partial->allocator};
    l.bias = ntr_alloc(l.allocator, partial->tables.image_count + 1, sizeof *l.bias);
    l.from = ntr_alloc(l.allocator, partial->tables.image_count + 1, sizeof *l.from);
    ntr_status status = l.bias && l.from ? find_images(&l) : NTR_E_MEMORY;
    const bool counts = !(partial->tables.holds & NTR_PARTIAL_EVENTS);
    if (status == NTR_OK && analysis->totals) ntr_totals_add(analysis->totals, &partial->tables.totals);
    if (status == NTR_OK && counts) status = load_rows(&l);
    if (status == NTR_OK && counts) skip_rows(&partial->reader);
    if (status == NTR_OK && counts) status = load_tree(&l);
    if (status == NTR_OK && counts) status = ntr_block_skip(&partial->reader);
    if (!partial->error[0]) ntr_partial_reader_error(partial);
    ntr_dealloc(l.allocator, l.bias);
    ntr_dealloc(l.allocator, l.from);
    ntr_dealloc(l.allocator, l.functions);
    ntr_dealloc(l.allocator, l.nodes);
    return status;
}

/* ---- Reads the call tree of a part of a capture, and applies it to the tree of the parts before it
 * (analysis/open_part.h).
 */

/* A part that is being read. */
typedef struct part_reading {
    loading *l;
    ntr_open_node *nodes;
    ntr_open_entry *entries;
    ntr_open_frame *frames;
    size_t count, capacity, entry_count, entry_capacity, frame_count, frame_capacity;
    size_t frames_said; /* of all entries */
    bool dependent;
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

static ntr_status part_read_nodes(part_reading *r) {
    ntr_block_reader *reader = &r->l->partial->reader;
    ntr_record record;
    while (ntr_block_get_fields(reader, NTR_BLOCK_PART_NODES, &record, NTR_NODE_KEYS, NTR_NODE_CAPTURE)) {
        if (r->count == UINT32_MAX ||
            ntr_reserve(r->l->allocator, (void **)&r->nodes, &r->capacity, r->count + 1, sizeof *r->nodes))
            return NTR_E_MEMORY;
        if (!node_of(r, record.v, &r->nodes[r->count])) return damaged(r);
        if (r->count == 0) r->dependent = record.v[NTR_NODE_CALLS] != 0;
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
        v[NTR_ENTRY_END] >= NTR_SPAN_KINDS || v[NTR_ENTRY_SRC] > UINT16_MAX ||
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

/* Applies the nodes and the log of a part to the tree, after its functions were loaded. Errors: NTR_E_STATE (a guess of
 * the part is wrong), NTR_E_FORMAT, NTR_E_MEMORY. */
static ntr_status ntr_load_part(loading *l) {
    part_reading r = {.l = l};
    ntr_status status = part_read_nodes(&r);
    if (status == NTR_OK) status = read_entries(&r);
    if (status == NTR_OK) status = read_frames(&r);
    if (status == NTR_OK)
        status =
            r.dependent ? wrong(&r, "threads of an operating system, or coroutines, were switched in it") : apply(&r);
    ntr_dealloc(l->allocator, r.nodes);
    ntr_dealloc(l->allocator, r.entries);
    ntr_dealloc(l->allocator, r.frames);
    return status;
}
