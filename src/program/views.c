#include "program/views.h"

#include "base/allocator.h"

#include <string.h>

static bool same_binding(const ntr_image_options *a, const ntr_image_options *b) {
    return a->has_scontext == b->has_scontext && a->has_hcontext == b->has_hcontext && a->has_prv == b->has_prv &&
           (!a->has_scontext || a->scontext == b->scontext) && (!a->has_hcontext || a->hcontext == b->hcontext) &&
           (!a->has_prv || (a->prv == b->prv && a->v == b->v));
}

static bool is_new_binding(const ntr_views *views, const ntr_program *program, const ntr_image_options *options) {
    if (!options->has_scontext && !options->has_hcontext && !options->has_prv) return false;
    for (size_t i = 0; i < views->binding_count; i++)
        if (same_binding(&program->images[views->bindings[i]].options, options)) return false;
    return true;
}

int ntr_views_update(ntr_views *views, const ntr_program *program, const ntr_allocator *allocator) {
    size_t before = views->binding_count;
    for (; views->images_seen < program->image_count; views->images_seen++) {
        if (!is_new_binding(views, program, &program->images[views->images_seen].options)) continue;
        if (ntr_reserve(allocator, (void **)&views->bindings, &views->binding_capacity, views->binding_count + 1,
                        sizeof *views->bindings))
            return -1;
        views->bindings[views->binding_count++] = (uint32_t)views->images_seen;
    }
    if (views->binding_count == before) return 0;
    ntr_views_clear(views);
    return 1;
}

void ntr_views_clear(ntr_views *views) {
    views->count = 0;
    memset(views->recent, 0, sizeof views->recent);
}

/* Returns whether two contexts have the same view. A reader of target memory may distinguish any two contexts. */
static bool have_same_view(const ntr_views *views, const ntr_program *program, const ntr_context *a,
                           const ntr_context *b) {
    if (program->read && !ntr_context_equal(a, b)) return false;
    for (size_t i = 0; i < views->binding_count; i++) {
        const ntr_image *image = &program->images[views->bindings[i]];
        if (ntr_image_matches(image, a) != ntr_image_matches(image, b)) return false;
    }
    return true;
}

static bool fits(const ntr_views *views, const ntr_program *program, uint32_t view, uint32_t owner,
                 const ntr_context *context) {
    if (views->owners[view] != owner) return false;
    if (owner != NTR_VIEW_SHARED) return ntr_context_equal(&views->contexts[view], context);
    return have_same_view(views, program, &views->contexts[view], context);
}

static uint32_t find(ntr_views *views, const ntr_program *program, uint32_t owner, const ntr_context *context) {
    uint32_t view = 0;
    while (view < views->count && !fits(views, program, view, owner, context)) view++;
    if (view == views->count && view < NTR_VIEWS_MAX) {
        views->contexts[view] = *context;
        views->owners[view] = owner;
        views->count++;
    }
    return view;
}

static unsigned recent_slot(uint32_t owner, const ntr_context *context) {
    uint64_t mix = owner * 127u + (context->has_scontext ? context->scontext : 0) * 31 +
                   (context->has_hcontext ? context->hcontext : 0) * 7 + context->prv * 2u + context->v;
    return (unsigned)(mix * UINT64_C(0x9e3779b97f4a7c15) >> 32) % NTR_VIEWS_RECENT;
}

uint32_t ntr_views_get(ntr_views *views, const ntr_program *program, uint32_t owner, const ntr_context *context) {
    static const ntr_context unknown = NTR_CONTEXT_UNKNOWN;
    if (!context) context = &unknown;
    unsigned slot = recent_slot(owner, context);
    if (views->recent[slot].view && views->recent[slot].owner == owner &&
        ntr_context_equal(&views->recent[slot].context, context))
        return views->recent[slot].view - 1;
    uint32_t view = find(views, program, owner, context);
    if (view == NTR_VIEWS_MAX) return view;
    views->recent[slot].context = *context;
    views->recent[slot].owner = owner;
    views->recent[slot].view = view + 1;
    return view;
}

void ntr_views_release(ntr_views *views, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, views->bindings);
    *views = (ntr_views){0};
}
