/* Sets of executed blocks: which code was executed in each part of a trace.
 *
 * A block is a span of code, with its address and halfwords. All blocks of the trace are numbered in a table; the set
 * of one part is the sorted list of its numbers, stored as differences in a variable number of bytes. */
#ifndef NTR_REPLAY_SPAN_SET_H
#define NTR_REPLAY_SPAN_SET_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ntr_code_span {
    uint64_t address;
    uint32_t halfwords;
    uint32_t part; /* the last part in which it was executed */
} ntr_code_span;

typedef struct ntr_span_table {
    const ntr_allocator *allocator;
    ntr_code_span *items;
    size_t count, capacity;
    uint32_t *slots; /* hash table of item numbers + 1; 0: empty */
    size_t slot_count;
    uint32_t *list;  /* numbers of the current part */
    size_t list_count, list_capacity;
    uint32_t part;   /* number of the current part, from 1 */
} ntr_span_table;

typedef struct ntr_span_set {
    uint8_t *bytes;
    size_t size;
} ntr_span_set;

/* Begins a new part. */
void ntr_span_table_begin(ntr_span_table *table);

/* The span was executed in the current part. Errors: NTR_E_MEMORY. */
ntr_status ntr_span_table_add(ntr_span_table *table, uint64_t address, uint32_t halfwords);

/* Stores the set of the current part. Errors: NTR_E_MEMORY. */
ntr_status ntr_span_table_take(ntr_span_table *table, ntr_span_set *set);

void ntr_span_table_release(ntr_span_table *table);

/* The blocks that contain one of some addresses. */
typedef struct ntr_span_filter {
    const ntr_allocator *allocator;
    uint64_t *addresses; /* sorted */
    size_t count, capacity;
    uint8_t *bits;      /* by number of the block */
    size_t done, bits_capacity; /* blocks that were compared */
} ntr_span_filter;

/* Sets the addresses. Errors: NTR_E_MEMORY. */
ntr_status ntr_span_filter_set(ntr_span_filter *filter, const uint64_t *addresses, size_t count);

/* Compares the blocks that are new in the table. Errors: NTR_E_MEMORY. */
ntr_status ntr_span_filter_update(ntr_span_filter *filter, const ntr_span_table *table);

/* Returns whether the set has such a block. */
bool ntr_span_filter_matches(const ntr_span_filter *filter, const ntr_span_set *set);

void ntr_span_filter_release(ntr_span_filter *filter);

/* Returns the index of the first of `count` sorted addresses that is not less than `address`. */
size_t ntr_first_address(const uint64_t *addresses, size_t count, uint64_t address);

#endif
