/* Addresses on standard output, one on each line: printf takes longer than a decoder does. */
#ifndef TESTS_STREAMS_PUT_ADDRESS_H
#define TESTS_STREAMS_PUT_ADDRESS_H

#include <stdint.h>
#include <stdio.h>

/* The same as printf("0x%llx\n", address), with zeros up to `digits` digits (at most 16). */
static inline void put_address(uint64_t address, unsigned digits) {
    char text[sizeof "0x0123456789abcdef"]; /* a line feed at its end, no zero */
    char *end = text + sizeof text - 1, *at = end;
    *end = '\n';
    do {
        *--at = "0123456789abcdef"[address & 15];
        address >>= 4;
    } while (address || end - at < (int)digits);
    *--at = 'x';
    *--at = '0';
    fwrite_unlocked(at, 1, (size_t)(end + 1 - at), stdout);
}

#endif
