/* What is collected of an analysis, shared by write.c (collecting) and write_order.c (sorting and writing). */
#ifndef NTR_PARTIAL_WRITE_H
#define NTR_PARTIAL_WRITE_H

#include "analysis/open_log.h"
#include "partial/tables.h"

typedef struct ntr_writing {
    const ntr_analysis *analysis;
    const ntr_allocator *allocator;
    ntr_partial_tables tables;
    uint64_t *image_of;     /* number in the table by the number in the program; NO_NUMBER: not in it yet */
    size_t program_images;
    uint64_t *views, *images, *functions; /* number in the sorted table, by the number before */
    uint64_t *function_of;  /* number in the table by that in the analysis */
    size_t function_numbers;
    uint64_t order;         /* first part of the order of first uses: the part of the capture */
    ntr_record *rows, *nodes;
    size_t row_count, node_count;
    const ntr_open_log *log; /* of a part; NULL: of a whole capture */
    ntr_record *entries, *frames;
    ntr_status status;
} ntr_writing;

/* Sorts the tables, and gives records and functions their new numbers. Returns false when out of memory. */
bool ntr_writing_sort_tables(ntr_writing *writing);

/* Sorts the rows by the new numbers. */
void ntr_writing_sort_rows(ntr_writing *writing);

/* Write the nodes depth first; the nodes of a part in the order of first use, with its log. Return false when out of
 * memory. */
bool ntr_writing_put_nodes(const ntr_writing *writing, ntr_block_writer *out);
bool ntr_writing_put_part(const ntr_writing *writing, ntr_block_writer *out);

#endif
