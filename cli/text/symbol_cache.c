#include "text/symbol_cache.h"
#include "io/output.h"
#include "text/symbol_text.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(CLI_PLACE_MAX >= 18 + CLI_SYMBOL_MAX, "an address and a symbol");

enum { BITS = 10, TEXT = 40, CONTEXTS = 64 };

/* One cache line; longer texts are made anew each time. */
struct place {
    uint64_t address;
    uint64_t view; /* 0: empty */
    uint64_t size;
    char text[TEXT];
};

_Static_assert(sizeof(struct place) == 64, "a place is a cache line");

/* A context is known by a number, its view, so that a place need not hold all of it. Contexts fall out of the table; one
 * that comes back gets a new number, and the places of the old one are never found again. */
struct context_view {
    ntr_context context;
    uint64_t number; /* 0: empty */
};

struct cli_symbol_cache {
    const ntr_program *program;
    bool by_context; /* images are bound to contexts; otherwise all contexts are view 1 */
    uint64_t views;  /* numbers given so far */
    struct context_view contexts[CONTEXTS];
    struct place table[1 << BITS];
};

static bool has_bound_images(const ntr_program *program) {
    ntr_image_info info;

    for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++)
        if (info.options.has_scontext || info.options.has_hcontext || info.options.has_prv) return true;
    return false;
}

struct cli_symbol_cache *cli_symbol_cache_new(const ntr_program *program) {
    struct cli_symbol_cache *places = calloc(1, sizeof *places);

    if (!places) return NULL;
    places->program = program;
    places->by_context = has_bound_images(program);
    places->views = 1;
    return places;
}

void cli_symbol_cache_free(struct cli_symbol_cache *places) {
    free(places);
}

static uint64_t mix(uint64_t value) {
    return value * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t view_of(struct cli_symbol_cache *places, const ntr_context *context) {
    if (!places->by_context) return 1;
    uint64_t parts = context->scontext * 31 + context->hcontext * 7 + context->prv * 2u + context->v;
    struct context_view *view = &places->contexts[(mix(parts) >> 32) % CONTEXTS];
    if (!view->number || !ntr_context_equal(&view->context, context))
        *view = (struct context_view){.context = *context, .number = ++places->views};
    return view->number;
}

static char *make(char *at, const ntr_program *program, const ntr_context *context, uint64_t address) {
    return cli_put_symbol(cli_put_hex(cli_put_text(at, "0x"), address), " <", ">", program, context, address);
}

char *cli_put_place(char *at, struct cli_symbol_cache *places, const ntr_context *context, uint64_t address) {
    uint64_t view = view_of(places, context);
    struct place *place = &places->table[mix(address ^ view) >> (64 - BITS)];

    if (place->view == view && place->address == address) {
        memcpy(at, place->text, sizeof place->text); /* all of it: that is quicker than to ask how much */
        return at + place->size;
    }
    char *end = make(at, places->program, context, address);
    size_t size = (size_t)(end - at);
    if (size > sizeof place->text) return end;
    *place = (struct place){.address = address, .view = view, .size = size};
    memcpy(place->text, at, size);
    return end;
}
