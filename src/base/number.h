/* Parsing of numbers. */
#ifndef NTR_BASE_NUMBER_H
#define NTR_BASE_NUMBER_H

#include <stdint.h>

/* Parses decimal digits, or hexadecimal digits after 0x, from [at, end). Returns the end of the number, or NULL when
 * there are no digits or the value exceeds 64 bits. */
const char *ntr_read_number(const char *at, const char *end, uint64_t *value);

#endif
