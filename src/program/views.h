/* Views: contexts to which the same images are visible share a view, identified by a small number. */
#ifndef NTR_PROGRAM_VIEWS_H
#define NTR_PROGRAM_VIEWS_H

#include "program/program.h"

#define NTR_VIEWS_MAX 1024

/* Cache of recently used contexts, by a hash of their members. Traps alternate between a few contexts. */
#define NTR_VIEWS_RECENT 64

typedef struct ntr_views {
    ntr_context contexts[NTR_VIEWS_MAX]; /* one context of each view */
    uint32_t owners[NTR_VIEWS_MAX];      /* the source that has the view exclusively, or NTR_VIEW_SHARED */
    uint32_t count;
    struct {
        ntr_context context;
        uint32_t owner;
        uint32_t view; /* index + 1; 0: empty */
    } recent[NTR_VIEWS_RECENT];
    uint32_t *bindings; /* indices of images, one for each distinct set of context options */
    size_t binding_count, binding_capacity;
    size_t images_seen;
} ntr_views;

/* Updates the views for new images. Returns 1 when contexts of one view may now differ (all views are invalid then),
 * 0 when not, -1 when out of memory. */
int ntr_views_update(ntr_views *views, const ntr_program *program, const ntr_allocator *allocator);

#define NTR_VIEW_SHARED UINT32_MAX

/* Returns the view of a context, or NTR_VIEWS_MAX when there are too many. With an `owner`, the view is used by no
 * other source. */
uint32_t ntr_views_get(ntr_views *views, const ntr_program *program, uint32_t owner, const ntr_context *context);

void ntr_views_clear(ntr_views *views);
void ntr_views_release(ntr_views *views, const ntr_allocator *allocator);

#endif
