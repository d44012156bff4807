/* Demangling of Rust's legacy names: "_ZN", parts with their lengths, "E". They have the form of Itanium names, but the
 * last part is a hash, 'h' and 16 hexadecimal digits, and other characters than letters are escaped in the parts:
 * "$LT$" is
 * '<', "$u7b$" is '{', ".." is "::". A part does not begin with '$': '_' precedes it.
 *
 * Example: _ZN50_$LT$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE is <T as core::fmt::Debug>::fmt. */
#include "analysis/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_SIZE = 17 };

/* The escapes that have a name. */
static const struct {
    const char *text;
    char character;
} escapes[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'}, {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}};

/* Reads the length of a part. Returns NULL if the part is not complete. */
static const char *take_length(const char *at, size_t *length) {
    size_t rest = 0;
    if (!isdigit((unsigned char)*at)) return NULL;
    for (*length = 0; isdigit((unsigned char)*at) && *length < 1 << 20; at++)
        *length = *length * 10 + (size_t)(*at - '0');
    while (rest < *length && at[rest] && at[rest] != '\n') rest++;
    return rest == *length ? at : NULL;
}

static bool is_hash(const char *part, size_t length) {
    if (length != HASH_SIZE || part[0] != 'h') return false;
    for (size_t i = 1; i < length; i++)
        if (!isxdigit((unsigned char)part[i])) return false;
    return true;
}

/* Returns the character of "u7b" in the printable part of ASCII, or 0. */
static char unicode_character(const char *text, size_t size) {
    unsigned value = 0;
    if (size < 2 || size > 3 || text[0] != 'u') return 0;
    for (size_t i = 1; i < size; i++) {
        if (!isxdigit((unsigned char)text[i])) return 0;
        value = value * 16 + (unsigned)(isdigit((unsigned char)text[i]) ? text[i] - '0' : (text[i] | 0x20) - 'a' + 10);
    }
    return value >= ' ' && value < 0x7f ? (char)value : 0;
}

static char escaped_character(const char *text, size_t size) {
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
        if (strlen(escapes[i].text) == size && memcmp(escapes[i].text, text, size) == 0) return escapes[i].character;
    return unicode_character(text, size);
}

/* Writes a part without its escapes. The result is not longer. An unknown escape ends the replacement. */
static char *put_part(char *out, const char *part, size_t length) {
    const char *end = part + length;
    if (length > 1 && part[0] == '_' && part[1] == '$') part++;
    while (part < end) {
        const char *close = *part == '$' ? memchr(part + 1, '$', (size_t)(end - part) - 1) : NULL;
        const char character = close ? escaped_character(part + 1, (size_t)(close - part) - 1) : 0;
        if (*part == '$' && !character) break;
        if (character) {
            *out++ = character;
            part = close + 1;
        } else if (end - part >= 2 && part[0] == '.' && part[1] == '.') {
            *out++ = ':';
            *out++ = ':';
            part += 2;
        } else {
            *out++ = *part++;
        }
    }
    memcpy(out, part, (size_t)(end - part));
    return out + (end - part);
}

/* Finds the end of the parts. Returns NULL if `name` is not a legacy name of Rust. */
static const char *check(const char *name) {
    const char *at = name + 3, *last = NULL;
    size_t length = 0, parts = 0;
    if (strncmp(name, "_ZN", 3) != 0) return NULL;
    for (; *at != 'E'; at += length, parts++) {
        at = take_length(at, &length);
        if (!at || !length) return NULL;
        last = at;
    }
    return parts >= 2 && is_hash(last, length) ? at : NULL;
}

char *ntr_demangle_rust_legacy(const char *name) {
    const char *end = check(name);
    if (!end) return NULL;
    char *text = malloc(2 * strlen(name) + 1),
         *out = text; /* a separator needs no more than the length before a part */
    if (!text) return NULL;
    for (const char *at = name + 3; at < end;) {
        size_t length;
        at = take_length(at, &length);
        if (at + length == end) break; /* the hash */
        if (out > text) {
            *out++ = ':';
            *out++ = ':';
        }
        out = put_part(out, at, length);
        at += length;
    }
    const char *suffix = end + 1;
    if (strncmp(suffix, ".llvm.", 6) == 0) suffix = "";
    memcpy(out, suffix, strlen(suffix) + 1);
    return text;
}
