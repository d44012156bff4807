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

/* Two kinds of address ranges without names: functions of the unwind table, and sections with code. */
enum { NTR_RANGES_FUNCTION, NTR_RANGES_SECTION, NTR_RANGES_KINDS };

typedef struct ntr_nameless {
    ntr_span *laid; /* as added */
    size_t count, capacity;
    ntr_spans map;
} ntr_nameless;

typedef struct ntr_symbols {
    ntr_name *names;
    size_t count, capacity;
    char **owned; /* names that are not in the file of the image */
    size_t owned_count, owned_room, owned_bytes;
    ntr_spans maps[NTR_NAMES_MAPS];
    ntr_nameless ranges[NTR_RANGES_KINDS];
} ntr_symbols;

/* Control characters in a name would break output lines or control a terminal; each is replaced by '?'. Such a name, or
 * one that is too long, is truncated (base/name.h). When there are more than NTR_NAMES_OWNED_BYTES bytes of names that
 * are not in the file of the image, the name is "?". */
enum { NTR_NAMES_OWNED_BYTES = 64 << 20 };

/* Adds a symbol. After the last one, call one of the sort functions. Returns 0, or -1 when out of memory. */
int ntr_symbols_add(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name);

/* Adds a symbol with a copy of its name and of `suffix`. */
int ntr_symbols_add_copy(ntr_symbols *symbols, const ntr_allocator *allocator, const ntr_name *name,
                         const char *suffix);

/* Adds the range [first, last] without a name. `kind` is a value of NTR_RANGES_*. */
int ntr_symbols_add_range(ntr_symbols *symbols, const ntr_allocator *allocator, unsigned kind, uint64_t first,
                          uint64_t last);

/* For symbols of a linker: the innermost is used. A symbol without size extends to the next symbol, to the boundary of
 * a function of the unwind table, or to the end of its section. May be called again after more symbols were added. */
int ntr_symbols_sort(ntr_symbols *symbols, const ntr_allocator *allocator);

/* For symbols created one after the other (JIT code): the later one is used. */
int ntr_symbols_sort_in_order(ntr_symbols *symbols, const ntr_allocator *allocator);

/* Returns the symbol for an address, or NULL. */
const ntr_name *ntr_symbols_at(const ntr_symbols *symbols, uint64_t address);

/* Limits [*first, *last] to the addresses around `address` for which ntr_symbols_at has the same result. */
void ntr_symbols_limit(const ntr_symbols *symbols, uint64_t address, uint64_t *first, uint64_t *last);

/* Stores the range around `address`, for which there is no symbol: a function of the unwind table (`*function`), or
 * else the code between two functions, inside its section. *first and *last are the limits on input, for example those
 * of the segment. */
void ntr_symbols_range(const ntr_symbols *symbols, uint64_t address, uint64_t *first, uint64_t *last, bool *function);

/* Returns the preferred symbol with this name, or NULL. */
const ntr_name *ntr_symbols_named(const ntr_symbols *symbols, const char *name);

void ntr_symbols_release(ntr_symbols *symbols, const ntr_allocator *allocator);

#endif
