#include "base/number.h"

#include <stddef.h>

static unsigned digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return UINT8_MAX;
}

static const char *read_digits(const char *at, const char *end, unsigned base, uint64_t *value) {
    const char *start = at;
    uint64_t sum = 0;
    for (; at < end && digit(*at) < base; at++)
        if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) || __builtin_add_overflow(sum, digit(*at), &sum))
            return NULL;
    if (at == start) return NULL;
    *value = sum;
    return at;
}

const char *ntr_read_number(const char *at, const char *end, uint64_t *value) {
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) return read_digits(at + 2, end, 16, value);
    return read_digits(at, end, 10, value);
}
