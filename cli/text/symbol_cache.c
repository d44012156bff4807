#include "text/symbol_cache.h"
#include "io/output.h"
#include "text/symbol_text.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(CLI_PLACE_MAX >= 18 + CLI_SYMBOL_MAX, "an address and a symbol");

enum { BITS = 10, TEXT = 40, CONTEXTS = 64 };

/* A cached text; the size of one cache line. Longer texts are not cached. */
struct symbol_text {
    uint64_t address;
    uint64_t view; /* 0: empty */
    uint64_t size;
    char text[TEXT];
};

_Static_assert(sizeof(struct symbol_text) == 64, "an entry is a cache line");

/* Each context has a number, its view, which is part of the cache key. The table of contexts is a cache itself: a
 * context that was replaced gets a new number later, so that entries of the old number are not found again. */
struct context_view {
    ntr_context context;
    uint64_t number; /* 0: empty */
};

struct cli_symbol_cache {
    const ntr_program *program;
    bool by_context; /* images are bound to contexts; otherwise all contexts are view 1 */
    uint64_t views;  /* last number assigned */
    struct context_view contexts[CONTEXTS];
    struct symbol_text table[1 << BITS];
};

static bool has_bound_images(const ntr_program *program) {
    ntr_image_info info;

    for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++)
        if (info.options.has_scontext || info.options.has_hcontext || info.options.has_prv) return true;
    return false;
}

struct cli_symbol_cache *cli_symbol_cache_new(const ntr_program *program) {
    struct cli_symbol_cache *cache = calloc(1, sizeof *cache);

    if (!cache) return NULL;
    cache->program = program;
    cache->by_context = has_bound_images(program);
    cache->views = 1;
    return cache;
}

void cli_symbol_cache_free(struct cli_symbol_cache *cache) {
    free(cache);
}

static uint64_t mix(uint64_t value) {
    return value * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t find_view(struct cli_symbol_cache *cache, const ntr_context *context) {
    if (!cache->by_context) return 1;
    uint64_t parts = context->scontext * 31 + context->hcontext * 7 + context->prv * 2u + context->v;
    struct context_view *view = &cache->contexts[(mix(parts) >> 32) % CONTEXTS];
    if (!view->number || !ntr_context_equal(&view->context, context))
        *view = (struct context_view){.context = *context, .number = ++cache->views};
    return view->number;
}

static char *put_address_symbol(char *at, const ntr_program *program, const ntr_context *context, uint64_t address) {
    return cli_put_symbol(cli_put_hex(cli_put_text(at, "0x"), address), " <", ">", program, context, address);
}

char *cli_put_place(char *at, struct cli_symbol_cache *cache, const ntr_context *context, uint64_t address) {
    uint64_t view = find_view(cache, context);
    struct symbol_text *entry = &cache->table[mix(address ^ view) >> (64 - BITS)];

    if (entry->view == view && entry->address == address) {
        memcpy(at, entry->text, sizeof entry->text); /* a fixed size is faster than `size` */
        return at + entry->size;
    }
    char *end = put_address_symbol(at, cache->program, context, address);
    size_t size = (size_t)(end - at);
    if (size > sizeof entry->text) return end;
    *entry = (struct symbol_text){.address = address, .view = view, .size = size};
    memcpy(entry->text, at, size);
    return end;
}
