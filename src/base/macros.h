/* What all folders use: the size of an array, comparisons, and calls that end a function. */
#ifndef NTR_BASE_MACROS_H
#define NTR_BASE_MACROS_H

#include <ntrace/status.h>

/* Number of elements of an array (not of a pointer). */
#define NTR_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- For comparison functions of qsort and the like. */

/* -1, 0 or 1: a is less than, equal to or greater than b. */
#define NTR_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* In a function that compares the structs x and y: returns, unless this member is equal in both. */
#define NTR_COMPARE_BY(member)                                                                                         \
    if (x->member != y->member) return x->member < y->member ? -1 : 1

/* Returns the status of the call from the calling function, unless it is NTR_OK. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        ntr_status try_status_ = (call);                                                                               \
        if (try_status_ != NTR_OK) return try_status_;                                                                 \
    } while (0)

#endif
