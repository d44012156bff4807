/* Views: contexts that see the same images are one, with a small number. */
#ifndef NTR_PROGRAM_VIEWS_H
#define NTR_PROGRAM_VIEWS_H

#include "program/program.h"

#define NTR_VIEWS_MAX 1024

/* Contexts asked for lately, by a hash of what is in them: traps come and go between a few. */
#define NTR_VIEWS_RECENT 64

typedef struct ntr_views {
    ntr_context contexts[NTR_VIEWS_MAX]; /* one that stands for each view */
    uint32_t owners[NTR_VIEWS_MAX];      /* the source that has the view for itself, or NTR_VIEW_SHARED */
    uint32_t count;
    struct {
        ntr_context context;
        uint32_t owner;
        uint32_t view; /* index + 1; 0: empty */
    } recent[NTR_VIEWS_RECENT];
    uint32_t *bindings; /* one image for each different thing that images are bound to */
    size_t binding_count, binding_capacity;
    size_t images_seen;
} ntr_views;

/* Learn of images added since. 1 when views may now be finer than before (all are void then), 0 when not, -1
 * when out of memory. */
int ntr_views_update(ntr_views *views, const ntr_program *program, const ntr_allocator *allocator);

#define NTR_VIEW_SHARED UINT32_MAX

/* The view of this context, or NTR_VIEWS_MAX when there are too many. With an `owner`, of this context and nobody
 * else. */
uint32_t ntr_views_get(ntr_views *views, const ntr_program *program, uint32_t owner, const ntr_context *context);

void ntr_views_clear(ntr_views *views);
void ntr_views_release(ntr_views *views, const ntr_allocator *allocator);

#endif
