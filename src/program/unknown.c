/* A hash table without locks: an entry is taken by exchanging its key, and is never given back. The lowest position of
 * an address does not depend on the order in which threads come. */
#include "program/unknown.h"

#include <ntrace/program.h>
#include <ntrace/program_files.h>
#include <stdatomic.h>
#include <stddef.h>

enum { UNKNOWN_SLOTS = 2 * NTR_UNKNOWN_MAX };

typedef struct unknown_slot {
    _Atomic uint64_t key; /* address + 1; 0: free. No instruction is at the last address */
    _Atomic uint64_t since; /* UINT64_MAX - the lowest position, so that 0 is later than all */
} unknown_slot;

struct ntr_unknown {
    _Atomic uint32_t count;
    unknown_slot slots[UNKNOWN_SLOTS];
};

ntr_unknown *ntr_unknown_new(const ntr_allocator *allocator) {
    return ntr_alloc(allocator, 1, sizeof(ntr_unknown));
}

void ntr_unknown_forget(ntr_unknown *unknown) {
    if (!atomic_load(&unknown->count)) return;
    for (size_t i = 0; i < UNKNOWN_SLOTS; i++) {
        atomic_store(&unknown->slots[i].key, 0);
        atomic_store(&unknown->slots[i].since, 0);
    }
    atomic_store(&unknown->count, 0);
}

static void lower(unknown_slot *slot, uint64_t position) {
    const uint64_t since = UINT64_MAX - position;
    uint64_t seen = atomic_load(&slot->since);
    while (seen < since && !atomic_compare_exchange_weak(&slot->since, &seen, since)) continue;
}

void ntr_unknown_note(ntr_unknown *unknown, uint64_t address, uint64_t position) {
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % UNKNOWN_SLOTS;
    for (;; at = (at + 1) % UNKNOWN_SLOTS) {
        unknown_slot *slot = &unknown->slots[at];
        uint64_t key = atomic_load(&slot->key);
        if (key == 0) {
            if (atomic_fetch_add(&unknown->count, 1) >= NTR_UNKNOWN_MAX) {
                atomic_fetch_sub(&unknown->count, 1); /* full */
                return;
            }
            if (!atomic_compare_exchange_strong(&slot->key, &key, address + 1)) atomic_fetch_sub(&unknown->count, 1);
        }
        if (key != 0 && key != address + 1) continue;
        lower(slot, position);
        return;
    }
}

uint64_t ntr_unknown_lowest(const ntr_unknown *unknown, uint64_t *address, uint64_t *position) {
    uint64_t count = 0;
    if (!atomic_load(&unknown->count)) return 0;
    for (size_t i = 0; i < UNKNOWN_SLOTS; i++) {
        const uint64_t key = atomic_load(&unknown->slots[i].key);
        if (!key || (count++ && key - 1 > *address)) continue;
        *address = key - 1;
        *position = UINT64_MAX - atomic_load(&unknown->slots[i].since);
    }
    return count;
}
