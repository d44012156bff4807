#include "decision/witness.h"

#include "base/allocator.h"
#include "base/bytes.h"
#include "base/macros.h"
#include "decision/accesses.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_SLOTS = 1 << 14 };

/* An instruction that was decoded; size 0: an empty slot. */
typedef struct known_insn {
    ntr_access_insn insn;
    bool is_root;
} known_insn;

/* Where the operand of a branch of the map is in a register. */
typedef struct witness_root {
    uint64_t address;
    uint32_t branch;
} witness_root;

struct ntr_witness {
    const ntr_allocator *allocator;
    const ntr_code_map *map;
    ntr_accesses accesses;
    known_insn *code;      /* a cache, by address */
    uint64_t *operands;    /* by branch of the map */
    witness_root *roots;   /* sorted by address */
    size_t root_count;
    uint32_t *loads;       /* loads of stored results that the last event executed */
    size_t load_count, load_capacity;
    bool *known;
    uint64_t expected;     /* where the next instruction is; 0: not known */
    uint16_t src;
    bool active;           /* an access was seen */
};

/* ---- instructions ------------------------------------------------------------------------------ */

/* Returns the index of the first of `roots` at an address or behind it. */
static size_t root_at(const ntr_witness *w, uint64_t address) {
    size_t low = 0;
    for (size_t high = w->root_count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (w->roots[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_root(const ntr_witness *w, uint64_t address) {
    const size_t at = root_at(w, address);
    return at < w->root_count && w->roots[at].address == address;
}

/* Returns the instruction at an address; NULL: there is no code. */
static const known_insn *insn_at(ntr_witness *w, uint64_t address) {
    known_insn *k = &w->code[(address >> 1) & (CODE_SLOTS - 1)];
    ntr_insn insn;
    uint8_t bytes[4] = {0};
    if (k->insn.size && k->insn.address == address) return k;
    if (ntr_program_insn(w->map->program, ntr_code_map_place(w->map, address), &insn) != NTR_OK) return NULL;
    *k = (known_insn){.insn = {.address = address, .size = insn.size}, .is_root = is_root(w, address)};
    ntr_program_read(w->map->program, ntr_code_map_place(w->map, address), bytes, insn.size < 4 ? insn.size : 4);
    ntr_access_insn_decode(&k->insn, ntr_little_32(bytes), w->accesses.values.xlen);
    return k;
}

/* ---- execution --------------------------------------------------------------------------------- */

static ntr_status store_operands(ntr_witness *w, uint64_t address) {
    for (size_t i = root_at(w, address); i < w->root_count && w->roots[i].address == address; i++) {
        const uint32_t index = w->roots[i].branch;
        const ntr_decision_branch *b = &w->map->branches[index];
        w->known[index] = ntr_values_is_known(&w->accesses.values, b->root_reg);
        w->operands[index] = ntr_values_get(&w->accesses.values, b->root_reg);
        if (!b->load) continue;
        TRY(ntr_reserve(w->allocator, (void **)&w->loads, &w->load_capacity, w->load_count + 1, sizeof *w->loads));
        w->loads[w->load_count++] = index;
    }
    return NTR_OK;
}

static ntr_status take_span(ntr_witness *w, const ntr_event *e) {
    uint64_t at = e->address;
    w->accesses.refused |= e->src != w->src; /* another thread may write between an access and its record */
    if (at != w->expected || e->repeats) ntr_accesses_forget(&w->accesses); /* the passes of a loop have other values */
    for (uint32_t i = 0; i < e->instructions && !w->accesses.refused; i++) {
        const known_insn *k = insn_at(w, at);
        if (!k) {
            w->accesses.refused = true;
            break;
        }
        if (k->is_root) TRY(store_operands(w, at));
        ntr_accesses_execute(&w->accesses, &k->insn);
        at += k->insn.size;
    }
    if (e->end == NTR_SPAN_EXCEPTION || e->end == NTR_SPAN_INTERRUPT || e->end == NTR_SPAN_TRAP)
        ntr_accesses_forget(&w->accesses);
    w->expected = e->flags & NTR_EVENT_TARGET_UNKNOWN ? 0 : e->target;
    return NTR_OK;
}

ntr_status ntr_witness_feed(ntr_witness *w, const ntr_event *e) {
    w->load_count = 0;
    if (w->accesses.refused) return NTR_OK;
    switch (e->kind) {
    case NTR_EVENT_ACCESS:
        if (!w->active) w->src = e->src;
        w->active = true;
        return ntr_accesses_add(&w->accesses, e);
    case NTR_EVENT_SPAN: return w->active ? take_span(w, e) : NTR_OK;
    case NTR_EVENT_GAP:
    case NTR_EVENT_NO_CODE:
    case NTR_EVENT_OVERFLOW: w->accesses.refused |= w->active; return NTR_OK;
    default: return NTR_OK;
    }
}

bool ntr_witness_operand(const ntr_witness *w, const ntr_decision_branch *branch, uint64_t *value) {
    const size_t index = (size_t)(branch - w->map->branches);
    *value = w->operands[index];
    return w->active && !w->accesses.refused && branch->root_reg && w->known[index];
}

bool ntr_witness_active(const ntr_witness *w) {
    return w->active && !w->accesses.refused;
}

const uint32_t *ntr_witness_loads(const ntr_witness *w, size_t *count) {
    *count = w->load_count;
    return w->loads;
}

bool ntr_witness_refused(const ntr_witness *w) {
    return w->accesses.refused || w->accesses.first != w->accesses.count;
}

static int compare_roots(const void *a, const void *b) {
    const witness_root *x = a, *y = b;
    NTR_COMPARE_BY(address);
    NTR_COMPARE_BY(branch);
    return 0;
}

static void list_roots(ntr_witness *w) {
    for (size_t i = 0; i < w->map->branch_count; i++)
        if (w->map->branches[i].root_reg)
            w->roots[w->root_count++] = (witness_root){w->map->branches[i].root, (uint32_t)i};
    if (w->root_count) qsort(w->roots, w->root_count, sizeof *w->roots, compare_roots);
}

ntr_witness *ntr_witness_new(const ntr_code_map *map, const ntr_allocator *allocator) {
    ntr_witness *w = ntr_alloc(allocator, 1, sizeof *w);
    if (!w) return NULL;
    w->allocator = w->accesses.allocator = allocator;
    w->map = map;
    w->accesses.values.xlen = ntr_program_xlen(map->program) == 32 ? 32 : 64;
    w->code = ntr_alloc(allocator, CODE_SLOTS, sizeof *w->code);
    w->operands = ntr_alloc(allocator, map->branch_count + 1, sizeof *w->operands);
    w->known = ntr_alloc(allocator, map->branch_count + 1, sizeof *w->known);
    w->roots = ntr_alloc(allocator, map->branch_count + 1, sizeof *w->roots);
    if (w->code && w->operands && w->known && w->roots) {
        list_roots(w);
        return w;
    }
    ntr_witness_free(w);
    return NULL;
}

void ntr_witness_free(ntr_witness *w) {
    if (!w) return;
    ntr_dealloc(w->allocator, w->code);
    ntr_dealloc(w->allocator, w->accesses.queue);
    ntr_dealloc(w->allocator, w->operands);
    ntr_dealloc(w->allocator, w->known);
    ntr_dealloc(w->allocator, w->roots);
    ntr_dealloc(w->allocator, w->loads);
    ntr_dealloc(w->allocator, w);
}
