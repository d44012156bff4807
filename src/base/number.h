/* Numbers in text. */
#ifndef NTR_BASE_NUMBER_H
#define NTR_BASE_NUMBER_H

#include <stdint.h>

/* Read decimal digits, or hexadecimal ones after 0x, from [at, end). Returns where they end, or NULL when there
 * are none or the value needs more than 64 bits. */
const char *ntr_read_number(const char *at, const char *end, uint64_t *value);

/* As above for hexadecimal digits without 0x. */
const char *ntr_read_hex(const char *at, const char *end, uint64_t *value);

#endif
