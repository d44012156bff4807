/* Conditions that compare an operand with a constant: c >= '0', mode == 2, !flags, p != NULL.
 *
 * The value of such a condition is a function of the value of its operand, in the arithmetic of C. Conditions of one
 * operand can be computed together, and the code that does so can be compared with this function (match_operand.c). */
#ifndef NTR_DECISION_COMPARED_H
#define NTR_DECISION_COMPARED_H

#include <stdbool.h>
#include <stdint.h>

/* An integer type, or that of a pointer. */
typedef struct ntr_integer_type {
    uint8_t size; /* in bytes: 1, 2, 4 or 8 */
    bool is_signed;
} ntr_integer_type;

enum ntr_relation { NTR_EQUAL, NTR_NOT_EQUAL, NTR_LESS, NTR_LESS_EQUAL, NTR_GREATER, NTR_GREATER_EQUAL };

typedef struct ntr_compared {
    uint64_t operand;        /* hash of the expression: equal for equal expressions; 0: it is no such condition */
    ntr_integer_type type;   /* of the operand */
    ntr_integer_type common; /* in which it is compared */
    uint8_t relation;        /* ntr_relation: operand RELATION constant */
    int64_t constant;        /* a value of the common type */
} ntr_compared;

/* Returns the value that has the low bits of `bits` in a type. */
int64_t ntr_integer_of(ntr_integer_type type, uint64_t bits);

/* Returns the value of the condition for a value of its operand. */
bool ntr_compared_value(const ntr_compared *compared, int64_t operand);

#endif
