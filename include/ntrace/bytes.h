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
 * does not begin one. If the text ends in a 0 byte, `size` may be any number of at least 4; nothing after the 0 is
 * read. */
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

/* Returns the number of bytes of the character at text[0]; of a byte that is not UTF-8, and of the end, 1. Names are
 * gone through by characters: the bytes within one are no controls. */
static inline size_t ntr_text_step(const char *text) {
    const size_t length = ntr_utf8_length(text, 4);
    return length ? length : 1;
}

/* Returns the number of bytes of the character at text[0] if it would break a line, control a terminal, or show other
 * characters in another order: control characters (C0, DEL, C1, also as a single byte), line and paragraph separators,
 * and controls of text direction (Unicode: Bidi_Control). 0: it is harmless, or the text ends. `text` ends in a 0. */
static inline size_t ntr_text_hazard(const char *text) {
    const unsigned char a = (unsigned char)text[0];
    if (a < 0x80) return a == 0x7f || (a && a < 0x20);
    const size_t length = ntr_utf8_length(text, 4);
    if (!length) return a < 0xa0;
    const unsigned char b = (unsigned char)text[1], c = length > 2 ? (unsigned char)text[2] : 0;
    if (length == 2) return (a == 0xc2 && b < 0xa0) || (a == 0xd8 && b == 0x9c) ? 2 : 0; /* C1; U+061C */
    if (length != 3 || a != 0xe2) return 0;
    if (b == 0x80) return (c >= 0x8e && c <= 0x8f) || (c >= 0xa8 && c <= 0xae) ? 3 : 0; /* U+200E, U+2028 to U+202E */
    return b == 0x81 && c >= 0xa6 && c <= 0xa9 ? 3 : 0;                                 /* U+2066 to U+2069 */
}

#endif
