/* .gopclntab, the table that the runtime of Go uses for stack traces (debug/gosym of Go; versions since Go 1.18). It
 * remains in stripped files.
 *
 * Header: magic, two zeros, size of the smallest instruction, size of a word (4 + 2 + 1 + 1 bytes), then words: number
 * of functions, number of files, address of the code, offsets of the names, units, files, values and functions. The
 * table of functions has pairs (offset in the code, offset of a record) of 32 bits, in ascending order, and the end of
 * the code. Numbers of a record, of 32 bits: entry, name, two others, then the offsets of the values for the stack,
 * files and lines, one other, and the first entry of its unit in the table of units. */
#ifndef NTR_PROGRAM_GO_TABLE_H
#define NTR_PROGRAM_GO_TABLE_H

#include <ntrace/bytes.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct ntr_go_table {
    ntr_bytes bytes;
    unsigned quantum; /* of addresses, in bytes */
    uint64_t count;   /* functions */
    uint64_t code;    /* address of the first one, without load bias */
    uint64_t names, units, files, values, functions; /* offsets */
} ntr_go_table;

/* Code at [start, end), relative to ntr_go_table.code. */
typedef struct ntr_go_function {
    uint64_t start, end, record;
} ntr_go_function;

/* Numbers of a record. */
enum { NTR_GO_NAME = 1, NTR_GO_FILES = 5, NTR_GO_LINES = 6, NTR_GO_UNIT = 8 };

/* Returns false when the bytes are no such table for this XLEN. */
NTR_API bool ntr_go_table_read(ntr_go_table *table, ntr_bytes bytes, unsigned xlen);

/* Returns false when function `index` (below `count`) is damaged. */
NTR_API bool ntr_go_table_function(const ntr_go_table *table, uint64_t index, ntr_go_function *function);

/* Stores a number of 32 bits. Returns false when it is not in the table. */
NTR_API bool ntr_go_table_number(const ntr_go_table *table, uint64_t at, uint32_t *number);

/* Returns the text at an offset, or NULL. It is not empty. */
NTR_API const char *ntr_go_table_text(const ntr_go_table *table, uint64_t at);

#endif
