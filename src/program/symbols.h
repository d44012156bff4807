/* The names of one image, by address. */
#ifndef NTR_PROGRAM_SYMBOLS_H
#define NTR_PROGRAM_SYMBOLS_H

#include "program/spans.h"

#include <ntrace/allocator.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How well a symbol stands for an address, low to high. */
typedef enum ntr_binding { NTR_BINDING_LOCAL, NTR_BINDING_WEAK, NTR_BINDING_GLOBAL } ntr_binding;

typedef struct ntr_name {
    const char *name;  /* owned by the image's file, or by the symbols */
    uint64_t address;  /* bias included */
    uint64_t size;     /* 0: not told */
    uint64_t limit;    /* last address of its section */
    uint8_t binding;   /* ntr_binding */
    bool function;
    bool code;         /* false: findable by name only (absolute, undefined section) */
} ntr_name;

/* Three maps from address to name, asked one after the other. */
enum { NTR_NAMES_FUNCTION, NTR_NAMES_SIZED, NTR_NAMES_BELOW, NTR_NAMES_MAPS };

typedef struct ntr_symbols {
    ntr_name *names;
    size_t count, capacity;
    char **cleaned; /* names that could not stay as they were */
    size_t cleaned_count, cleaned_room, cleaned_bytes;
    ntr_spans maps[NTR_NAMES_MAPS];
} ntr_symbols;

/* Control characters of a name would end lines of an answer, or speak to a terminal: each becomes '?'. Such a name, and
 * one that is too long, is cut (base/name.h); when there are too many, they are all "?". */
enum { NTR_NAMES_CLEANED_BYTES = 16 << 20 };

/* Collect; then settle once, in one of two ways. 0, or -1 when out of memory. */
int ntr_symbols_add(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name);

/* As a linker made them: the innermost wins, and what has no size reaches to the next one. */
int ntr_symbols_sort(ntr_symbols *symbols, const ntr_allocator *allocator);

/* As they came into being, one after the other (JIT code): the later one wins. */
int ntr_symbols_sort_in_order(ntr_symbols *symbols, const ntr_allocator *allocator);

/* The name for an address, or NULL. */
const ntr_name *ntr_symbols_at(const ntr_symbols *symbols, uint64_t address);

/* The best symbol of this name, or NULL. */
const ntr_name *ntr_symbols_named(const ntr_symbols *symbols, const char *name);

void ntr_symbols_release(ntr_symbols *symbols, const ntr_allocator *allocator);

#endif
