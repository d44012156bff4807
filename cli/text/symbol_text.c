#include "text/symbol_text.h"
#include "io/output.h"
#include "text/text_cache.h"

#include <ntrace/program_files.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_SHOWN 256

/* Code without a symbol is named by file and address in the file, as addr2line expects it. */
static char *put_file_address(char *at, const char *before, const char *after, const ntr_program *program,
                              ntr_place place) {
    ntr_code_range range;

    if (ntr_program_code_range(program, place, &range) != NTR_OK) return at;
    at = cli_put_text(at, before);
    at = cli_put_bytes(at, range.file_name, strnlen(range.file_name, NAME_MAX_SHOWN));
    at = cli_put_hex(cli_put_text(at, "+0x"), place.address - range.bias);
    return cli_put_text(at, after);
}

char *cli_put_symbol(char *at, const char *before, const char *after, const ntr_program *program, ntr_place place) {
    ntr_symbol symbol;

    if (ntr_program_symbol(program, place, &symbol) != NTR_OK)
        return put_file_address(at, before, after, program, place);
    at = cli_put_text(at, before);
    at = cli_put_bytes(at, symbol.name, strnlen(symbol.name, NAME_MAX_SHOWN));
    if (place.address != symbol.address) at = cli_put_hex(cli_put_text(at, "+0x"), place.address - symbol.address);
    return cli_put_text(at, after);
}

_Static_assert(CLI_PLACE_MAX >= 18 + CLI_SYMBOL_MAX, "an address and a symbol");

enum { PLACE_SLOT_BITS = 12, CONTEXTS = 256 };

/* A context, at the positions at which an address has the same name, has a number, its view, which is part of the cache
 * key. The table of contexts is a cache itself: a context that was replaced gets a new number later, so that entries of
 * the old number are not found again. */
struct context_view {
    ntr_context context;
    uint64_t from; /* ntr_validity */
    uint64_t number; /* 0: empty */
};

struct cli_symbol_cache {
    const ntr_program *program;
    bool by_place; /* images are bound to contexts or positions; otherwise all places are view 1 */
    uint64_t views; /* last number assigned */
    struct context_view contexts[CONTEXTS];
    struct cli_text_cache places;
};

static bool has_bound_images(const ntr_program *program) {
    ntr_image_info info;

    if (!ntr_program_is_constant(program)) return true;
    for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++)
        if (info.options.has_scontext || info.options.has_hcontext || info.options.has_prv) return true;
    return false;
}

struct cli_symbol_cache *cli_symbol_cache_new(const ntr_program *program) {
    struct cli_symbol_cache *cache = calloc(1, sizeof *cache);

    if (!cache) return NULL;
    if (!cli_text_cache_open(&cache->places, PLACE_SLOT_BITS)) {
        free(cache);
        return NULL;
    }
    cache->program = program;
    cache->by_place = has_bound_images(program);
    cache->views = 1;
    return cache;
}

void cli_symbol_cache_free(struct cli_symbol_cache *cache) {
    if (cache) cli_text_cache_close(&cache->places);
    free(cache);
}

static uint64_t mix(uint64_t value) {
    return value * UINT64_C(0x9e3779b97f4a7c15);
}

bool cli_symbol_one_view(const struct cli_symbol_cache *cache) {
    return !cache->by_place;
}

uint64_t cli_symbol_view(struct cli_symbol_cache *cache, ntr_place place) {
    const ntr_context *context = place.context;

    if (!cache->by_place) return 1;
    uint64_t parts = context->scontext * 31 + context->hcontext * 7 + context->prv * 2u + context->v;
    const uint64_t from = ntr_program_validity(cache->program, place, place.address).from;
    struct context_view *view = &cache->contexts[(mix(parts ^ mix(from)) >> 32) % CONTEXTS];
    if (!view->number || view->from != from || !ntr_context_equal(&view->context, context))
        *view = (struct context_view){*context, from, ++cache->views};
    return view->number;
}

static char *put_address_symbol(char *at, const ntr_program *program, ntr_place place) {
    return cli_put_symbol(cli_put_hex(cli_put_text(at, "0x"), place.address), " <", ">", program, place);
}

char *cli_put_place(char *at, struct cli_symbol_cache *cache, ntr_place place) {
    const struct cli_text_key key = {.a = place.address, .b = cli_symbol_view(cache, place)};
    struct cli_text_slot *slot = cli_text_cache_slot(&cache->places, key);
    size_t size;
    const char *text = cli_text_cache_find(&cache->places, slot, &key, &size);

    if (text) return cli_put_bytes(at, text, size);
    char *end = put_address_symbol(at, cache->program, place);
    cli_text_cache_store(&cache->places, slot, &key, at, (size_t)(end - at));
    return end;
}
