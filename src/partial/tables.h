/* The tables of a partial: captures, images, views (a source in a context) and functions. Private.
 *
 * The numbers in rows and nodes refer to elements of these tables. Each table is sorted by what identifies its
 * elements, so that the rows of two partials are in the same order after their numbers were changed to those of the
 * sum. What depends on the order of execution is in the member `first`: the place in the capture at which the element
 * was used first. */
#ifndef NTR_PARTIAL_TABLES_H
#define NTR_PARTIAL_TABLES_H

#include "partial/blocks.h"

/* The first use: number of the capture in its table, then the order in this capture. The order in part N of a capture
 * has N in the bits from NTR_FIRST_PART on. */
typedef struct ntr_first {
    uint64_t capture, order;
} ntr_first;

#define NTR_FIRST_PART  40
#define NTR_FIRST_NEVER ((ntr_first){UINT64_MAX, UINT64_MAX})

static inline bool ntr_first_before(ntr_first a, ntr_first b) {
    return a.capture != b.capture ? a.capture < b.capture : a.order < b.order;
}

/* The code as one source executes it in one context. */
typedef struct ntr_partial_view {
    uint16_t src;
    ntr_context context;
    ntr_first first; /* use in the tally; NTR_FIRST_NEVER: only for functions */
} ntr_partial_view;

/* A function and one address of it, at which it is found again. */
typedef struct ntr_partial_function {
    char *name, *linkage, *file; /* "": none; `linkage` differs from `name` */
    bool linked;      /* it has a linkage name: `linkage`, or `name` when that is "" */
    uint32_t line;
    uint64_t image;   /* number in the table + 1; 0: none */
    bool only_name;   /* ntr_functions_named: it has no address */
    bool by_entry;    /* `offset` is its entry, which distinguishes it from functions of the same name */
    uint64_t view, offset; /* context and address of the first use; the address is relative to the image */
    ntr_first first;
} ntr_partial_function;

typedef struct ntr_partial_tables {
    const ntr_allocator *allocator;
    unsigned holds;
    uint64_t split; /* ntr_calltree_split */
    char *tool;     /* what wrote the partial */
    ntr_counts totals; /* with NTR_PARTIAL_TOTALS */
    ntr_partial_capture *captures;
    size_t capture_count, capture_capacity;
    ntr_partial_image *images;
    size_t image_count, image_capacity;
    ntr_partial_view *views;
    size_t view_count, view_capacity;
    ntr_partial_function *functions;
    size_t function_count, function_capacity;
} ntr_partial_tables;

void ntr_tables_release(ntr_partial_tables *tables);

/* Append a copy of an element, with strings of its own; NULL when out of memory. */
ntr_partial_capture *ntr_tables_capture(ntr_partial_tables *tables, const ntr_partial_capture *capture);
ntr_partial_image *ntr_tables_image(ntr_partial_tables *tables, const ntr_partial_image *image);
ntr_partial_view *ntr_tables_view(ntr_partial_tables *tables, const ntr_partial_view *view);
ntr_partial_function *ntr_tables_function(ntr_partial_tables *tables, const ntr_partial_function *function);

/* Removes the last image. */
void ntr_tables_drop_image(ntr_partial_tables *tables);

/* Orders of the tables: by identity. */
int ntr_capture_compare(const ntr_partial_capture *a, const ntr_partial_capture *b);
int ntr_image_compare(const ntr_partial_image *a, const ntr_partial_image *b);
int ntr_view_compare(const ntr_partial_view *a, const ntr_partial_view *b);
int ntr_function_compare(const ntr_partial_function *a, const ntr_partial_function *b);

/* Adds totals to others. */
void ntr_totals_add(ntr_counts *to, const ntr_counts *counts);

void ntr_tables_put(const ntr_partial_tables *tables, ntr_block_writer *writer);

/* Errors: sticky in the reader. Checks that the tables are sorted and that numbers are inside of them. */
void ntr_tables_get(ntr_partial_tables *tables, ntr_block_reader *reader);

/* ---- records of numbers */

/* Fields of a row: the first NTR_COUNTED_KEYS identify it. Images are numbers + 1, 0: none; addresses are relative. */
enum {
    NTR_COUNTED_VIEW,
    NTR_COUNTED_IMAGE,
    NTR_COUNTED_ADDRESS,
    NTR_COUNTED_LAST,
    NTR_COUNTED_END,
    NTR_COUNTED_TARGET_IMAGE,
    NTR_COUNTED_TARGET,
    NTR_COUNTED_INSTRUCTIONS,
    NTR_COUNTED_HALFWORDS,
    NTR_COUNTED_KEYS,
    NTR_COUNTED_COUNT = NTR_COUNTED_KEYS,
    NTR_COUNTED_TICKS,
    NTR_COUNTED_FIELDS
};

#define NTR_COUNTED_UNKNOWN 0x80u /* in NTR_COUNTED_END: the target is not known */

/* Fields of a node. Nodes are in depth-first order; brothers are sorted by the fields from NTR_NODE_FUNCTION on. */
enum {
    NTR_NODE_DEPTH,
    NTR_NODE_FUNCTION,
    NTR_NODE_KIND,
    NTR_NODE_SITE_IMAGE,
    NTR_NODE_SITE,
    NTR_NODE_KEYS,
    NTR_NODE_CALLS = NTR_NODE_KEYS,
    NTR_NODE_INSTRUCTIONS,
    NTR_NODE_TICKS,
    NTR_NODE_CAPTURE,
    NTR_NODE_ORDER,
    NTR_NODE_FIELDS
};

/* The tree of a part: NTR_NODE_DEPTH of its nodes is the number of the parent, and they are in the order of first use.
 * Fields of an entry of its log (analysis/open_log.h), and of a frame of an entry. */
enum {
    NTR_ENTRY_KIND,
    NTR_ENTRY_NODES,
    NTR_ENTRY_NODE,
    NTR_ENTRY_STOPPED,
    NTR_ENTRY_STOP_IMAGE,
    NTR_ENTRY_STOP,
    NTR_ENTRY_EVENT,
    NTR_ENTRY_END,
    NTR_ENTRY_FLAGS,
    NTR_ENTRY_SRC,
    NTR_ENTRY_VIEW,
    NTR_ENTRY_IMAGE,
    NTR_ENTRY_ADDRESS,
    NTR_ENTRY_LAST,
    NTR_ENTRY_TARGET_IMAGE,
    NTR_ENTRY_TARGET,
    NTR_ENTRY_HALFWORDS,
    NTR_ENTRY_OFFSET,
    NTR_ENTRY_UNTIL,
    NTR_ENTRY_FRAMES,
    NTR_ENTRY_FIELDS
};
enum { NTR_FRAME_NODE, NTR_FRAME_IMAGE, NTR_FRAME_RETURN, NTR_FRAME_FIELDS };

/* Compares the fields [from, to). */
int ntr_record_compare(const ntr_record *a, const ntr_record *b, unsigned from, unsigned to);

#endif
