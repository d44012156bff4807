/* MSB extension of addresses. N-Trace 1.0 section 7.1. */
#ifndef NTR_MESSAGE_ADDRESS_H
#define NTR_MESSAGE_ADDRESS_H

#include <ntrace/message.h>

/* The smallest number of bits, a multiple of 6, from which MSB extension restores this F-ADDR or U-ADDR. */
unsigned ntr_address_bits(const ntr_params *params, uint64_t value);

#endif
