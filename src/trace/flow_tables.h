/* Tables that encoder and decoder keep alike, so that messages can leave out what both can look up: a branch predictor
 * and a jump target cache (ntr_params.branch_predictor and .jump_cache). docs/dialects.md section 12.
 *
 * Predictor: 2-bit saturating counters, selected by bits 2 and up of the branch's address. 2 and 3 predict "taken".
 * Every branch of which the outcome is known updates its counter, whether a message had the outcome or not. Example:
 * counter 1 (the first value), then a taken branch: 2, the next execution is predicted to be taken.
 *
 * Cache: the last target for each index. The index is the XOR of slices of the address.
 *
 * Invariant: the tables of both sides are equal whenever `known`. After a gap the counters of the decoder are unknown
 * until both sides start anew; the cache is empty, and filled again by the messages. */
#ifndef NTR_TRACE_FLOW_TABLES_H
#define NTR_TRACE_FLOW_TABLES_H

#include <ntrace/allocator.h>
#include <ntrace/params.h>

typedef struct ntr_flow_tables {
    uint8_t *counters; /* NULL: no prediction */
    uint64_t *targets; /* with bit 0 set; 0: the entry is empty. NULL: no cache */
    uint8_t counter_bits, cache_bits; /* log2 of the number of entries */
    uint8_t address_bits;             /* of addresses that the index of the cache is made of */
    bool known;                       /* the counters are those of the other side */
} ntr_flow_tables;

/* Returns whether the parameters ask for a table. */
static inline bool ntr_flow_tables_exist(const ntr_params *params) {
    return params->branch_predictor || params->jump_cache;
}

/* Make the tables that the parameters ask for. Errors: NTR_E_MEMORY. */
ntr_status ntr_flow_tables_new(ntr_flow_tables *tables, const ntr_params *params, const ntr_allocator *allocator);
void ntr_flow_tables_free(ntr_flow_tables *tables, const ntr_allocator *allocator);

/* Copy all tables. `to` must not own memory. Errors: NTR_E_MEMORY. */
ntr_status ntr_flow_tables_copy(ntr_flow_tables *to, const ntr_flow_tables *from, const ntr_allocator *allocator);
bool ntr_flow_tables_equal(const ntr_flow_tables *a, const ntr_flow_tables *b);

/* Both sides start anew. */
void ntr_flow_tables_reset(ntr_flow_tables *tables);

/* A part of the execution is not known: so is what the other side has learned from it. */
void ntr_flow_tables_lose(ntr_flow_tables *tables);

static inline uint8_t *ntr_flow_counter(const ntr_flow_tables *tables, uint64_t branch) {
    return &tables->counters[branch >> 2 & ((1u << tables->counter_bits) - 1)];
}

/* Returns whether the branch at this address is predicted to be taken. */
static inline bool ntr_flow_predict(const ntr_flow_tables *tables, uint64_t branch) {
    return *ntr_flow_counter(tables, branch) >= 2;
}

/* The branch had this outcome. Returns whether that changed its counter. */
static inline bool ntr_flow_learn(const ntr_flow_tables *tables, uint64_t branch, bool taken) {
    uint8_t *counter = ntr_flow_counter(tables, branch), before = *counter;
    if (taken && *counter < 3) ++*counter;
    if (!taken && *counter > 0) --*counter;
    return *counter != before;
}

/* Returns the index of this target in the cache. */
unsigned ntr_flow_cache_index(const ntr_flow_tables *tables, uint64_t target);

/* Put the target of a jump into the cache. */
static inline void ntr_flow_cache_put(const ntr_flow_tables *tables, uint64_t target) {
    tables->targets[ntr_flow_cache_index(tables, target)] = target | 1;
}

/* Returns whether the entry is not empty, and its target. */
bool ntr_flow_cache_get(const ntr_flow_tables *tables, uint64_t index, uint64_t *target);

#endif
