/* The addition of partials, shared by add.c (inputs), add_tables.c (tables) and add_counts.c (rows and nodes). */
#ifndef NTR_PARTIAL_ADD_H
#define NTR_PARTIAL_ADD_H

#include "partial/partial.h"

typedef struct ntr_adding_input {
    ntr_partial *partial;
    uint64_t *captures, *images, *views, *functions; /* numbers in the sum */
    ntr_record next;
    bool has_next;
} ntr_adding_input;

typedef struct ntr_adding {
    const ntr_allocator *allocator;
    ntr_adding_input *inputs;
    size_t count;
    ntr_partial_tables sum;
    ntr_block_writer out;
} ntr_adding;

static inline const ntr_partial_tables *ntr_adding_tables_of(const ntr_adding *adding, size_t input) {
    return &adding->inputs[input].partial->tables;
}

/* Makes the error of the first partial, with two names (NULL: none). Returns NTR_E_INVALID. */
ntr_status ntr_adding_refuse(const ntr_adding *adding, const char *format, const char *name, const char *other);

/* Makes the tables of the sum, and the numbers in it. Errors: NTR_E_INVALID, NTR_E_MEMORY. */
ntr_status ntr_adding_tables(ntr_adding *adding);

/* Write the sums of rows and nodes. Errors: those of the readers and the writer; NTR_E_MEMORY. */
void ntr_adding_rows(ntr_adding *adding);
ntr_status ntr_adding_nodes(ntr_adding *adding);

#endif
