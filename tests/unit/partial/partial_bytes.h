/* A file of a partial answer in memory. */
#ifndef TEST_PARTIAL_BYTES_H
#define TEST_PARTIAL_BYTES_H

#include "../test.h"

#include <ntrace/partial.h>

#include <stdlib.h>
#include <string.h>

struct partial_bytes {
    uint8_t *data;
    size_t size, at; /* at: bytes that were read */
};

static inline ntr_status append(void *user, const void *bytes, size_t size) {
    struct partial_bytes *m = user;
    m->data = realloc(m->data, m->size + size);
    memcpy(m->data + m->size, bytes, size);
    m->size += size;
    return NTR_OK;
}

static inline ntr_output output_to(struct partial_bytes *bytes) {
    return (ntr_output){.size = sizeof(ntr_output), .write = append, .user = bytes};
}

static inline ntr_partial *opened(const struct partial_bytes *m) {
    ntr_partial *p;
    ntr_partial_new(NULL, &p);
    assert_int_equal(ntr_partial_open_bytes(p, (ntr_bytes){m->data, m->size}, 0), NTR_OK);
    return p;
}

#endif
