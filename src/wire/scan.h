/* Finding where a message ends: the inner loop of framing. */
#ifndef NTR_WIRE_SCAN_H
#define NTR_WIRE_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Index of the first byte with MSEO 11; `size` when there is none. */
size_t ntr_scan_end(const uint8_t *data, size_t size);

#endif
