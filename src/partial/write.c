/* Writing what an analysis has counted.
 *
 * Idea: records are collected with the numbers that views, images and functions have in the analysis, then the tables
 * are sorted, and the numbers of the records become those of the sorted tables, and the records are sorted by them. */
#include "analysis/open_log.h"
#include "analysis/sums.h"
#include "base/allocator.h"
#include "partial/identity.h"
#include "partial/tables.h"

#include <ntrace/version.h>

#include <stdlib.h>
#include <string.h>

typedef struct ntr_writing {
    const ntr_analysis *analysis;
    const ntr_allocator *allocator;
    ntr_partial_tables tables;
    uint64_t *image_of;     /* number in the table by the number in the program; NO_NUMBER: not in it yet */
    size_t program_images;
    uint64_t *views, *images, *functions; /* number in the sorted table, by the number before */
    uint64_t *function_of;  /* number in the table by that in the analysis */
    size_t function_numbers;
    uint64_t order;         /* first part of the order of first uses: the part of the capture */
    ntr_record *rows, *nodes;
    size_t row_count, node_count;
    const ntr_open_log *log; /* of a part; NULL: of a whole capture */
    ntr_record *entries, *frames;
    ntr_status status;
} ntr_writing;

/* ---- sorting */

static int compare_images(const void *a, const void *b, void *tables) {
    const ntr_partial_tables *t = tables;
    return ntr_image_compare(&t->images[*(const uint64_t *)a], &t->images[*(const uint64_t *)b]);
}

static int compare_views(const void *a, const void *b, void *tables) {
    const ntr_partial_tables *t = tables;
    return ntr_view_compare(&t->views[*(const uint64_t *)a], &t->views[*(const uint64_t *)b]);
}

static int compare_functions(const void *a, const void *b, void *tables) {
    const ntr_partial_tables *t = tables;
    return ntr_function_compare(&t->functions[*(const uint64_t *)a], &t->functions[*(const uint64_t *)b]);
}

/* Sorts a table. Returns the new number of each element by its old one; NULL when out of memory. */
static uint64_t *sort_table(ntr_writing *w, void *items, size_t count, size_t size,
                            int (*compare)(const void *, const void *, void *)) {
    uint64_t *order = ntr_alloc(w->allocator, count + 1, sizeof *order);
    uint64_t *numbers = ntr_alloc(w->allocator, count + 1, sizeof *numbers);
    char *sorted = ntr_alloc(w->allocator, count + 1, size);
    const bool can = order && numbers && sorted;
    for (size_t i = 0; can && i < count; i++) order[i] = i;
    if (can && count) qsort_r(order, count, sizeof *order, compare, &w->tables);
    for (size_t i = 0; can && i < count; i++) {
        numbers[order[i]] = i;
        memcpy(sorted + i * size, (char *)items + order[i] * size, size);
    }
    if (can && count) memcpy(items, sorted, count * size);
    ntr_dealloc(w->allocator, order);
    ntr_dealloc(w->allocator, sorted);
    if (can) return numbers;
    ntr_dealloc(w->allocator, numbers);
    return NULL;
}

static uint64_t new_image(const ntr_writing *w, uint64_t image) {
    return image ? w->images[image - 1] + 1 : 0;
}

/* Sorts the tables, and gives records and functions their new numbers. Returns false when out of memory. */
static bool ntr_writing_sort_tables(ntr_writing *w) {
    ntr_partial_tables *t = &w->tables;
    w->images = sort_table(w, t->images, t->image_count, sizeof *t->images, compare_images);
    w->views = sort_table(w, t->views, t->view_count, sizeof *t->views, compare_views);
    for (size_t i = 0; w->images && w->views && i < t->function_count; i++) {
        t->functions[i].image = new_image(w, t->functions[i].image);
        t->functions[i].view = w->views[t->functions[i].view];
    }
    w->functions = sort_table(w, t->functions, t->function_count, sizeof *t->functions, compare_functions);
    return w->images && w->views && w->functions;
}

static int compare_rows(const void *a, const void *b) {
    return ntr_record_compare(a, b, 0, NTR_COUNTED_KEYS);
}

/* Sorts the rows by the new numbers. */
static void ntr_writing_sort_rows(ntr_writing *w) {
    for (size_t i = 0; i < w->row_count; i++) {
        ntr_record *r = &w->rows[i];
        r->v[NTR_COUNTED_VIEW] = w->views[r->v[NTR_COUNTED_VIEW]];
        r->v[NTR_COUNTED_IMAGE] = new_image(w, r->v[NTR_COUNTED_IMAGE]);
        r->v[NTR_COUNTED_TARGET_IMAGE] = new_image(w, r->v[NTR_COUNTED_TARGET_IMAGE]);
    }
    if (w->row_count) qsort(w->rows, w->row_count, sizeof *w->rows, compare_rows);
}

/* ---- nodes in depth-first order */

static int compare_brothers(const void *a, const void *b, void *nodes) {
    const ntr_record *x = (const ntr_record *)nodes + *(const uint32_t *)a,
                     *y = (const ntr_record *)nodes + *(const uint32_t *)b;
    return ntr_record_compare(x, y, 0, NTR_NODE_KEYS); /* the first key is the parent */
}

static void put_node(const ntr_writing *w, ntr_block_writer *out, uint32_t number, uint64_t depth) {
    ntr_record r = w->nodes[number];
    r.v[NTR_NODE_DEPTH] = depth;
    if (!number) r.v[NTR_NODE_FUNCTION] = 0;
    ntr_block_fields(out, NTR_BLOCK_NODES, &r, NTR_NODE_KEYS, NTR_NODE_FIELDS);
}

/* `order`: numbers of the nodes but the root, sorted by parent and key. `begin`: where the children of a node begin in
 * it. */
static void put_tree(const ntr_writing *w, ntr_block_writer *out, const uint32_t *order, const uint32_t *begin,
                     uint32_t *path) {
    const uint32_t end = (uint32_t)w->node_count - 1;
    size_t depth = 0;
    put_node(w, out, 0, 0);
    path[0] = begin[0];
    for (uint32_t parent = 0;;) {
        const uint32_t at = path[depth];
        if (at < end && w->nodes[order[at]].v[NTR_NODE_DEPTH] == parent) {
            path[depth++]++;
            parent = order[at];
            path[depth] = begin[parent];
            put_node(w, out, parent, depth);
        } else if (depth == 0) {
            break;
        } else {
            depth--;
            parent = (uint32_t)w->nodes[parent].v[NTR_NODE_DEPTH];
        }
    }
}

/* Write the nodes depth first; the nodes of a part in the order of first use, with its log. Return false when out of
 * memory. */
static bool ntr_writing_put_nodes(const ntr_writing *w, ntr_block_writer *out) {
    uint32_t *order = ntr_alloc(w->allocator, w->node_count + 1, sizeof *order);
    uint32_t *begin = ntr_alloc(w->allocator, w->node_count + 1, sizeof *begin);
    uint32_t *path = ntr_alloc(w->allocator, NTR_CALLTREE_DEPTH_MAX + 2, sizeof *path);
    const bool can = order && begin && path;
    for (uint32_t i = 1; can && i < w->node_count; i++) {
        uint64_t *v = w->nodes[i].v;
        v[NTR_NODE_FUNCTION] = w->functions[v[NTR_NODE_FUNCTION]];
        v[NTR_NODE_SITE_IMAGE] = new_image(w, v[NTR_NODE_SITE_IMAGE]);
        order[i - 1] = i;
    }
    if (can && w->node_count > 1) qsort_r(order, w->node_count - 1, sizeof *order, compare_brothers, w->nodes);
    for (uint32_t i = 0; can && i < w->node_count; i++) begin[i] = (uint32_t)w->node_count - 1;
    for (uint32_t i = (uint32_t)w->node_count - 1; can && i-- > 0;) begin[w->nodes[order[i]].v[NTR_NODE_DEPTH]] = i;
    if (can) put_tree(w, out, order, begin, path);
    ntr_dealloc(w->allocator, order);
    ntr_dealloc(w->allocator, begin);
    ntr_dealloc(w->allocator, path);
    return can;
}

/* The nodes of a part, in the order of first use, and its log. */
static bool ntr_writing_put_part(const ntr_writing *w, ntr_block_writer *out) {
    for (size_t i = 0; i < w->node_count; i++) {
        ntr_record r = w->nodes[i];
        r.v[NTR_NODE_FUNCTION] = i ? w->functions[r.v[NTR_NODE_FUNCTION]] : 0;
        r.v[NTR_NODE_DEPTH] = i ? r.v[NTR_NODE_DEPTH] : 0;
        if (!i) r.v[NTR_NODE_CALLS] = w->log->dependent;
        r.v[NTR_NODE_SITE_IMAGE] = new_image(w, r.v[NTR_NODE_SITE_IMAGE]);
        ntr_block_fields(out, NTR_BLOCK_PART_NODES, &r, NTR_NODE_KEYS, NTR_NODE_CAPTURE);
    }
    for (size_t i = 0; i < w->log->count; i++) {
        ntr_record *r = &w->entries[i];
        r->v[NTR_ENTRY_VIEW] = w->views[r->v[NTR_ENTRY_VIEW]];
        r->v[NTR_ENTRY_IMAGE] = new_image(w, r->v[NTR_ENTRY_IMAGE]);
        r->v[NTR_ENTRY_TARGET_IMAGE] = new_image(w, r->v[NTR_ENTRY_TARGET_IMAGE]);
        r->v[NTR_ENTRY_STOP_IMAGE] = new_image(w, r->v[NTR_ENTRY_STOP_IMAGE]);
        ntr_block_fields(out, NTR_BLOCK_ENTRIES, r, NTR_ENTRY_FIELDS, NTR_ENTRY_FIELDS);
    }
    for (size_t i = 0; i < w->log->frame_count; i++) {
        w->frames[i].v[NTR_FRAME_IMAGE] = new_image(w, w->frames[i].v[NTR_FRAME_IMAGE]);
        ntr_block_fields(out, NTR_BLOCK_FRAMES, &w->frames[i], NTR_FRAME_FIELDS, NTR_FRAME_FIELDS);
    }
    return true;
}

#define NO_NUMBER UINT64_MAX

/* ---- addresses */

static uint64_t add_image(ntr_writing *w, size_t index) {
    ntr_image_info info;
    char *identity;
    ntr_status status = ntr_image_identity(w->analysis->program, index, w->allocator, &identity);
    if (status != NTR_OK || !identity || ntr_program_image(w->analysis->program, index, &info) != NTR_OK) {
        if (status && !w->status) w->status = status;
        ntr_dealloc(w->allocator, identity);
        return 0;
    }
    uint64_t number = 0;
    while (number < w->tables.image_count && strcmp(w->tables.images[number].identity, identity) != 0) number++;
    const ntr_partial_image image = {identity, info.name, info.path ? info.path : "", info.bias, info.options};
    if (number == w->tables.image_count && !ntr_tables_image(&w->tables, &image)) w->status = NTR_E_MEMORY;
    ntr_dealloc(w->allocator, identity);
    return number + 1;
}

/* Returns the number of the image at the address, plus 1; 0: none. *address becomes relative to it. */
static uint64_t image_at(ntr_writing *w, const ntr_context *context, uint64_t position, uint64_t *address) {
    size_t index;
    ntr_image_info info;
    if (w->status ||
        ntr_program_image_at(w->analysis->program, ntr_place_at(context, position, *address), &index) != NTR_OK)
        return 0;
    if (index >= w->program_images || ntr_program_image(w->analysis->program, index, &info) != NTR_OK) return 0;
    if (w->image_of[index] == NO_NUMBER) w->image_of[index] = add_image(w, index);
    if (w->image_of[index]) *address -= info.bias;
    return w->image_of[index];
}

static bool start_images(ntr_writing *w) {
    ntr_image_info info;
    while (ntr_program_image(w->analysis->program, w->program_images, &info) == NTR_OK) w->program_images++;
    w->image_of = ntr_alloc(w->allocator, w->program_images + 1, sizeof *w->image_of);
    if (w->image_of) memset(w->image_of, 0xff, (w->program_images + 1) * sizeof *w->image_of);
    return w->image_of != NULL;
}

/* ---- the tally */

static bool add_views(ntr_writing *w) {
    const ntr_tally_view_info *info;
    for (uint32_t i = 0; w->analysis->tally && (info = ntr_tally_view(w->analysis->tally, i)); i++) {
        const ntr_partial_view view = {info->src, info->context, {0, w->order + i}};
        if (!ntr_tables_view(&w->tables, &view)) return false;
    }
    return true;
}

static ntr_record record_of_row(ntr_writing *w, const ntr_tally_row *row) {
    const ntr_context *context = &w->tables.views[row->view].context;
    uint64_t address = row->address, target = row->target;
    ntr_record r = {0};
    r.v[NTR_COUNTED_VIEW] = row->view;
    r.v[NTR_COUNTED_IMAGE] = image_at(w, context, row->position, &address);
    r.v[NTR_COUNTED_ADDRESS] = address;
    r.v[NTR_COUNTED_LAST] = row->last - row->address;
    r.v[NTR_COUNTED_END] = (uint64_t)row->end | (row->target_unknown ? NTR_COUNTED_UNKNOWN : 0u);
    r.v[NTR_COUNTED_TARGET_IMAGE] = row->target_unknown ? 0 : image_at(w, context, row->position, &target);
    r.v[NTR_COUNTED_TARGET] = target;
    r.v[NTR_COUNTED_INSTRUCTIONS] = row->instructions;
    r.v[NTR_COUNTED_HALFWORDS] = row->halfwords;
    r.v[NTR_COUNTED_COUNT] = row->count;
    r.v[NTR_COUNTED_TICKS] = row->ticks;
    return r;
}

static bool add_rows(ntr_writing *w) {
    size_t count = 0;
    const ntr_tally_row *rows = w->analysis->tally ? ntr_tally_rows(w->analysis->tally, &count) : NULL;
    w->rows = ntr_alloc(w->allocator, count + 1, sizeof *w->rows);
    for (size_t i = 0; w->rows && i < count; i++) w->rows[w->row_count++] = record_of_row(w, &rows[i]);
    return w->rows != NULL;
}

/* ---- functions and the call tree */

static uint64_t view_of_place(ntr_writing *w, const ntr_context *context) {
    for (size_t i = 0; i < w->tables.view_count; i++)
        if (w->tables.views[i].src == 0 && ntr_context_equal(&w->tables.views[i].context, context)) return i;
    const ntr_partial_view view = {0, *context, NTR_FIRST_NEVER};
    if (!ntr_tables_view(&w->tables, &view)) w->status = NTR_E_MEMORY;
    return w->tables.view_count - 1;
}

static void add_function(ntr_writing *w, uint32_t number, const ntr_function *function) {
    const ntr_function_place place = ntr_functions_place(w->analysis->functions, number);
    uint64_t address = place.address;
    const uint64_t image = place.only_name ? 0 : image_at(w, &place.context, place.position, &address);
    const bool differs = function->linkage && strcmp(function->linkage, function->name) != 0;
    const ntr_partial_function f = {
        .name = (char *)function->name,
        .linkage = differs ? (char *)function->linkage : NULL,
        .file = (char *)function->file,
        .linked = function->linkage != NULL,
        .line = function->line,
        .image = image,
        .only_name = place.only_name,
        .by_entry = place.start != NTR_NO_START,
        .view = view_of_place(w, &place.context),
        .offset = address,
        .first = {0, w->order + number},
    };
    if (!w->status && !ntr_tables_function(&w->tables, &f)) w->status = NTR_E_MEMORY;
}

/* Adds all functions, also those without a node: outputs have the numbers of functions, and list them. */
static bool add_functions(ntr_writing *w) {
    while (ntr_functions_get(w->analysis->functions, (uint32_t)w->function_numbers)) w->function_numbers++;
    w->function_of = ntr_alloc(w->allocator, w->function_numbers + 1, sizeof *w->function_of);
    for (uint32_t i = 0; w->function_of && i < w->function_numbers && !w->status; i++) {
        w->function_of[i] = w->tables.function_count;
        add_function(w, i, ntr_functions_get(w->analysis->functions, i));
    }
    return w->function_of != NULL;
}

/* The site of a call is code of the caller. */
static uint64_t image_of_site(ntr_writing *w, uint32_t caller, uint64_t *site) {
    size_t count;
    const uint32_t function = ntr_calltree_nodes(w->analysis->tree, &count)[caller].function;
    if (function == UINT32_MAX) return image_at(w, NULL, NTR_POSITION_ANY, site);
    const ntr_function_place place = ntr_functions_place(w->analysis->functions, function);
    return image_at(w, &place.context, place.position, site);
}

static ntr_record record_of_node(ntr_writing *w, const ntr_call_node *node, uint64_t number) {
    uint64_t site = node->site;
    ntr_record r = {0};
    r.v[NTR_NODE_DEPTH] = node->parent; /* replaced when the nodes are in depth-first order */
    r.v[NTR_NODE_FUNCTION] = node->function == UINT32_MAX ? NO_NUMBER : w->function_of[node->function];
    r.v[NTR_NODE_KIND] = node->kind;
    if (number && node->kind != NTR_FRAME_ROOT) r.v[NTR_NODE_SITE_IMAGE] = image_of_site(w, node->parent, &site);
    r.v[NTR_NODE_SITE] = site;
    r.v[NTR_NODE_CALLS] = node->calls;
    r.v[NTR_NODE_INSTRUCTIONS] = node->instructions;
    r.v[NTR_NODE_TICKS] = node->ticks;
    r.v[NTR_NODE_ORDER] = w->order + number;
    return r;
}

static bool add_nodes(ntr_writing *w) {
    size_t count = 0;
    const ntr_call_node *nodes = w->analysis->tree ? ntr_calltree_nodes(w->analysis->tree, &count) : NULL;
    if (nodes && !add_functions(w)) return false;
    w->nodes = ntr_alloc(w->allocator, count + 1, sizeof *w->nodes);
    for (size_t i = 0; nodes && w->nodes && i < count; i++) w->nodes[w->node_count++] = record_of_node(w, &nodes[i], i);
    return w->nodes != NULL;
}

/* ---- the log of a part */

static ntr_record record_of_entry(ntr_writing *w, const ntr_open_entry *e) {
    const ntr_event *event = &e->event;
    const bool located = event->kind == NTR_EVENT_SPAN || event->kind == NTR_EVENT_SYNC;
    const bool targeted = event->kind == NTR_EVENT_SPAN && !(event->flags & NTR_EVENT_TARGET_UNKNOWN);
    uint64_t address = located ? event->address : 0, target = targeted ? event->target : 0, stop = e->stopped_at;
    ntr_record r = {0};
    r.v[NTR_ENTRY_KIND] = e->kind;
    r.v[NTR_ENTRY_NODES] = e->nodes;
    r.v[NTR_ENTRY_NODE] = e->node;
    r.v[NTR_ENTRY_STOPPED] = e->stopped;
    r.v[NTR_ENTRY_STOP_IMAGE] = e->stopped ? image_at(w, &event->context, event->offset, &stop) : 0;
    r.v[NTR_ENTRY_STOP] = stop;
    r.v[NTR_ENTRY_EVENT] = event->kind;
    r.v[NTR_ENTRY_END] = event->kind == NTR_EVENT_SPAN ? event->end : 0;
    r.v[NTR_ENTRY_FLAGS] = event->flags & NTR_EVENT_TARGET_UNKNOWN;
    r.v[NTR_ENTRY_SRC] = event->src;
    r.v[NTR_ENTRY_VIEW] = view_of_place(w, &event->context);
    r.v[NTR_ENTRY_IMAGE] = located ? image_at(w, &event->context, event->offset, &address) : 0;
    r.v[NTR_ENTRY_ADDRESS] = address;
    r.v[NTR_ENTRY_LAST] = event->kind == NTR_EVENT_SPAN ? event->last - event->address : 0;
    r.v[NTR_ENTRY_TARGET_IMAGE] = targeted ? image_at(w, &event->context, event->offset, &target) : 0;
    r.v[NTR_ENTRY_TARGET] = target;
    r.v[NTR_ENTRY_HALFWORDS] = event->kind == NTR_EVENT_SPAN ? event->halfwords : 0;
    r.v[NTR_ENTRY_OFFSET] = event->offset;
    r.v[NTR_ENTRY_UNTIL] = event->kind == NTR_EVENT_GAP ? event->gap.until : 0;
    r.v[NTR_ENTRY_FRAMES] = e->frame_count;
    return r;
}

static bool add_log(ntr_writing *w) {
    w->log = w->analysis->tree ? ntr_calltree_log(w->analysis->tree) : NULL;
    if (!w->log) return true;
    w->entries = ntr_alloc(w->allocator, w->log->count + 1, sizeof *w->entries);
    w->frames = ntr_alloc(w->allocator, w->log->frame_count + 1, sizeof *w->frames);
    for (size_t i = 0; w->entries && w->frames && i < w->log->count; i++)
        w->entries[i] = record_of_entry(w, &w->log->entries[i]);
    for (size_t i = 0; w->entries && w->frames && i < w->log->frame_count; i++) {
        uint64_t address = w->log->frames[i].return_to;
        w->frames[i].v[NTR_FRAME_NODE] = w->log->frames[i].node;
        w->frames[i].v[NTR_FRAME_IMAGE] = image_of_site(w, w->log->frames[i].node, &address);
        w->frames[i].v[NTR_FRAME_RETURN] = address;
    }
    return w->entries && w->frames;
}

/* ---- */

static bool collect(ntr_writing *w, const ntr_partial_capture *capture) {
    static const ntr_partial_view anywhere = {0, NTR_CONTEXT_UNKNOWN, {UINT64_MAX, UINT64_MAX}};
    const ntr_analysis *a = w->analysis;
    w->tables.holds = (a->tally ? NTR_PARTIAL_TALLY : 0u) | (a->tree ? NTR_PARTIAL_TREE : 0u) |
                      (a->tally && ntr_tally_keeps_time(a->tally) ? NTR_PARTIAL_TIME : 0u) |
                      (a->totals ? NTR_PARTIAL_TOTALS : 0u);
    if (a->totals) w->tables.totals = *a->totals;
    w->tables.split = a->tree ? ntr_calltree_divided(a->tree) : 0;
    w->order = (uint64_t)capture->shard << NTR_FIRST_PART;
    static const char tool[] = "ntrace " NTR_VERSION_TEXT;
    w->tables.tool = ntr_alloc(w->allocator, sizeof tool, 1);
    if (!w->tables.tool) return false;
    memcpy(w->tables.tool, tool, sizeof tool);
    if (!ntr_tables_capture(&w->tables, capture) || !start_images(w) || !add_views(w) || !add_rows(w)) return false;
    if (a->tree && !w->tables.view_count && !ntr_tables_view(&w->tables, &anywhere)) return false;
    return add_nodes(w) && add_log(w) && !w->status && ntr_writing_sort_tables(w);
}

static void release(ntr_writing *w) {
    void *const blocks[] = {w->image_of, w->views, w->images,  w->functions, w->function_of,
                            w->rows,     w->nodes, w->entries, w->frames};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ntr_dealloc(w->allocator, blocks[i]);
    ntr_tables_release(&w->tables);
}

ntr_status ntr_partial_write(const ntr_analysis *analysis, const ntr_partial_capture *capture, const ntr_output *output,
                             const ntr_allocator *allocator) {
    ntr_writing w = {.analysis = analysis, .allocator = allocator, .tables.allocator = allocator};
    ntr_block_writer out;
    if (!collect(&w, capture)) {
        release(&w);
        return w.status ? w.status : NTR_E_MEMORY;
    }
    ntr_block_writer_start(&out, output, allocator);
    ntr_tables_put(&w.tables, &out);
    ntr_writing_sort_rows(&w);
    for (size_t i = 0; i < w.row_count; i++)
        ntr_block_fields(&out, NTR_BLOCK_ROWS, &w.rows[i], NTR_COUNTED_KEYS, NTR_COUNTED_FIELDS);
    const bool put = !analysis->tree || (w.log ? ntr_writing_put_part : ntr_writing_put_nodes)(&w, &out);
    if (!put && !out.status) out.status = NTR_E_MEMORY;
    ntr_status status = ntr_block_writer_finish(&out);
    release(&w);
    return status;
}
