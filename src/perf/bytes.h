/* Reading of little-endian numbers and texts from a range of bytes. A read behind the end gives 0 and sets `broken`. */
#ifndef NTR_PERF_BYTES_H
#define NTR_PERF_BYTES_H

#include "base/bytes.h"
#include <ntrace/bytes.h>
#include <stdbool.h>
#include <string.h>

struct ntr_perf_cursor {
    const uint8_t *at, *end;
    bool broken;
};

static inline struct ntr_perf_cursor ntr_perf_cursor_at(const uint8_t *bytes, size_t size) {
    static const uint8_t nothing[1];

    if (!bytes) return (struct ntr_perf_cursor){nothing, nothing, false};
    return (struct ntr_perf_cursor){bytes, bytes + size, false};
}

static inline size_t ntr_perf_left(const struct ntr_perf_cursor *c) {
    return (size_t)(c->end - c->at);
}

static inline const uint8_t *ntr_perf_take(struct ntr_perf_cursor *c, size_t size) {
    if (c->broken || size > ntr_perf_left(c)) {
        c->broken = true;
        return NULL;
    }
    c->at += size;
    return c->at - size;
}

static inline uint64_t ntr_perf_number(struct ntr_perf_cursor *c, unsigned size) {
    const uint8_t *bytes = ntr_perf_take(c, size);

    return bytes ? ntr_little(bytes, size) : 0;
}

static inline uint16_t ntr_perf_u16(struct ntr_perf_cursor *c) {
    return (uint16_t)ntr_perf_number(c, 2);
}

static inline uint32_t ntr_perf_u32(struct ntr_perf_cursor *c) {
    return (uint32_t)ntr_perf_number(c, 4);
}

static inline uint64_t ntr_perf_u64(struct ntr_perf_cursor *c) {
    return ntr_perf_number(c, 8);
}

/* A text that ends in NUL. NULL: it does not end. */
static inline const char *ntr_perf_text(struct ntr_perf_cursor *c) {
    const uint8_t *end = c->broken ? NULL : memchr(c->at, 0, ntr_perf_left(c));

    if (!end) c->broken = true;
    return end ? (const char *)ntr_perf_take(c, (size_t)(end - c->at) + 1) : NULL;
}

#endif
