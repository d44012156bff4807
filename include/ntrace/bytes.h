/* A read-only range of bytes, and text in it. */
#ifndef NTRACE_BYTES_H
#define NTRACE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* It does not own the bytes. */
typedef struct ntr_bytes {
    const uint8_t *data;
    size_t size;
} ntr_bytes;

/* Returns the length of the UTF-8 character (RFC 3629) that begins at text[0], of at most `size` bytes; 0: the byte
 * does not begin one. Of a text that ends in a 0, `size` may be any number from 4 on: nothing behind the 0 is read. */
static inline size_t ntr_utf8_length(const char *text, size_t size) {
    const unsigned char first = (unsigned char)text[0];
    const size_t length = first < 0x80   ? 1
                          : first < 0xc2 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;

    for (size_t i = 1; i < length; i++) {
        if (i >= size) return 0;
        const unsigned char next = (unsigned char)text[i];
        const unsigned char least = i > 1           ? 0x80
                                    : first == 0xe0 ? 0xa0
                                    : first == 0xf0 ? 0x90
                                                    : 0x80; /* no longer than necessary */
        const unsigned char most = i > 1           ? 0xbf
                                   : first == 0xed ? 0x9f
                                   : first == 0xf4 ? 0x8f
                                                   : 0xbf;  /* no surrogates; to U+10FFFF */
        if (next < least || next > most) return 0;
    }
    return length;
}

#endif
