/* Symbols of one image, by address. */
#ifndef NTR_PROGRAM_SYMBOLS_H
#define NTR_PROGRAM_SYMBOLS_H

#include "program/spans.h"

#include <ntrace/allocator.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Binding of a symbol, in ascending order of preference. */
typedef enum ntr_binding { NTR_BINDING_LOCAL, NTR_BINDING_WEAK, NTR_BINDING_GLOBAL } ntr_binding;

typedef struct ntr_name {
    const char *name;  /* owned by the file of the image, or by the symbols */
    uint64_t address;  /* bias included */
    uint64_t size;     /* 0: not known */
    uint64_t limit;    /* last address of its section */
    uint8_t binding;   /* ntr_binding */
    bool function;
    bool code;         /* false: findable by name only (absolute, undefined section) */
} ntr_name;

/* Three maps from address to name, searched in this order. */
enum { NTR_NAMES_FUNCTION, NTR_NAMES_SIZED, NTR_NAMES_BELOW, NTR_NAMES_MAPS };

typedef struct ntr_symbols {
    ntr_name *names;
    size_t count, capacity;
    char **cleaned; /* names in which control characters were replaced */
    size_t cleaned_count, cleaned_room, cleaned_bytes;
    ntr_spans maps[NTR_NAMES_MAPS];
} ntr_symbols;

/* Control characters in a name would break output lines or control a terminal; each is replaced by '?'. Such a name, or
 * one that is too long, is truncated (base/name.h). When there are more than NTR_NAMES_CLEANED_BYTES bytes of them, the
 * name is "?". */
enum { NTR_NAMES_CLEANED_BYTES = 16 << 20 };

/* Adds a symbol. After the last one, call one of the sort functions once. Returns 0, or -1 when out of memory. */
int ntr_symbols_add(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name);

/* For symbols of a linker: the innermost is used, and a symbol without size extends to the next one. */
int ntr_symbols_sort(ntr_symbols *symbols, const ntr_allocator *allocator);

/* For symbols created one after the other (JIT code): the later one is used. */
int ntr_symbols_sort_in_order(ntr_symbols *symbols, const ntr_allocator *allocator);

/* Returns the symbol for an address, or NULL. */
const ntr_name *ntr_symbols_at(const ntr_symbols *symbols, uint64_t address);

/* Returns the preferred symbol with this name, or NULL. */
const ntr_name *ntr_symbols_named(const ntr_symbols *symbols, const char *name);

void ntr_symbols_release(ntr_symbols *symbols, const ntr_allocator *allocator);

#endif
