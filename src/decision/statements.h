/* Where statements of the source begin in the code.
 *
 * The row of an instruction in the line table says from which expression it comes. Compilers that optimize move
 * instructions and join equal ones, so it does not say that the statement is executed there. A row that begins a
 * statement (is_stmt) does when gcc has written it: gcc carries these places through its passes as marks of their own,
 * which stay in the block of the statement. Several of them may have one address, without an instruction of their own.
 */
#ifndef NTR_DECISION_STATEMENTS_H
#define NTR_DECISION_STATEMENTS_H

#include "analysis/debug_units.h"
#include "decision/record.h"

typedef struct ntr_statement {
    uint64_t address;
    const char *path; /* resolved, of a file with decisions */
    uint32_t line, column;
} ntr_statement;

typedef struct ntr_statements {
    const ntr_allocator *allocator;
    ntr_statement *items; /* sorted by address after ntr_statements_sort */
    size_t count, capacity;
} ntr_statements;

/* Errors: NTR_E_MEMORY. */
ntr_status ntr_statements_add(ntr_statements *statements, const ntr_statement *statement);
void ntr_statements_sort(ntr_statements *statements);
void ntr_statements_release(ntr_statements *statements);

/* Returns whether a statement begins at `address`. */
bool ntr_statements_any(const ntr_statements *statements, uint64_t address);
/* Returns whether a statement inside of the extent begins at `address`. */
bool ntr_statements_within(const ntr_statements *statements, uint64_t address, const char *path,
                           const ntr_extent *extent);

/* Stores the address of the first statement inside of the extent that begins at *address or behind it, and before
 * `end`. Returns whether there is one. */
bool ntr_statements_find(const ntr_statements *statements, uint64_t *address, uint64_t end, const char *path,
                         const ntr_extent *extent);

#endif
