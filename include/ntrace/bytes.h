/* A read-only range of bytes. It does not own the bytes. */
#ifndef NTRACE_BYTES_H
#define NTRACE_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct ntr_bytes {
    const uint8_t *data;
    size_t size;
} ntr_bytes;

#endif
