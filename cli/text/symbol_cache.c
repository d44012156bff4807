#include "text/symbol_cache.h"
#include "io/output.h"
#include "text/symbol_text.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(CLI_PLACE_MAX >= 18 + CLI_SYMBOL_MAX, "an address and a symbol");

enum { BITS = 10, TEXT = 40 };

/* One cache line; longer texts are made anew each time. */
struct place {
    uint64_t address;
    uint64_t age; /* as old as the contexts it is for */
    uint16_t source;
    uint16_t size;
    char text[TEXT];
};

_Static_assert(sizeof(struct place) == 64, "a place is a cache line");

struct cli_symbol_cache {
    const ntr_program *program;
    uint64_t age; /* since contexts changed last; 0 is no place's */
    struct place table[1 << BITS];
};

struct cli_symbol_cache *cli_symbol_cache_new(const ntr_program *program) {
    struct cli_symbol_cache *places = calloc(1, sizeof *places);

    if (!places) return NULL;
    places->program = program;
    places->age = 1;
    return places;
}

void cli_symbol_cache_free(struct cli_symbol_cache *places) {
    free(places);
}

void cli_symbol_cache_forget(struct cli_symbol_cache *places) {
    places->age++;
}

static struct place *place_of(struct cli_symbol_cache *places, uint16_t source, uint64_t address) {
    return &places->table[(address ^ source) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS)];
}

static char *make(char *at, const ntr_program *program, const ntr_context *context, uint64_t address) {
    return cli_put_symbol(cli_put_hex(cli_put_text(at, "0x"), address), " <", ">", program, context, address);
}

char *cli_put_place(char *at, struct cli_symbol_cache *places, uint16_t source, const ntr_context *context,
                    uint64_t address) {
    struct place *place = place_of(places, source, address);

    if (place->age == places->age && place->address == address && place->source == source) {
        memcpy(at, place->text, sizeof place->text); /* all of it: that is quicker than to ask how much */
        return at + place->size;
    }
    char *end = make(at, places->program, context, address);
    size_t size = (size_t)(end - at);
    if (size > sizeof place->text) return end;
    *place = (struct place){.address = address, .age = places->age, .source = source, .size = (uint16_t)size};
    memcpy(place->text, at, size);
    return end;
}
