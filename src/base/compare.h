/* For comparison functions of qsort and the like. */
#ifndef NTR_BASE_COMPARE_H
#define NTR_BASE_COMPARE_H

/* -1, 0 or 1: a is less than, equal to or greater than b. */
#define NTR_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* In a function that compares the structs x and y: returns, unless this member is equal in both. */
#define NTR_COMPARE_BY(member)                                                                                         \
    if (x->member != y->member) return x->member < y->member ? -1 : 1

#endif
