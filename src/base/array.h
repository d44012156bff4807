#ifndef NTR_BASE_ARRAY_H
#define NTR_BASE_ARRAY_H

/* Number of elements of an array (not of a pointer). */
#define NTR_COUNT(array) (sizeof(array) / sizeof(array)[0])

#endif
