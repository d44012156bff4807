/* Sizes of Rust v0 names (RFC 2603): the name is walked as a demangler prints it, back references included, until too
 * many parts have been seen. */
#include "analysis/mangled_size.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RUST_DEPTH_MAX = 500 }; /* LLVM's demangler has the same limit */

typedef struct walker {
    const char *text; /* after _R */
    size_t size, at;
    uint32_t parts; /* and characters */
    uint32_t most;
    unsigned depth;
    bool failed, large;
} walker;

static void path(walker *w);
static void type(walker *w);
static void constant(walker *w);

static void fail(walker *w) {
    w->failed = true;
    w->at = w->size; /* all loops end */
}

static void too_large(walker *w) {
    w->large |= !w->failed;
    fail(w);
}

static void count(walker *w, uint64_t parts) {
    if (parts <= w->most - w->parts) {
        w->parts += (uint32_t)parts;
    } else {
        too_large(w);
    }
}

static char next(const walker *w) {
    return w->at < w->size ? w->text[w->at] : 0;
}

static char advance(walker *w) {
    const char c = next(w);
    if (c)
        w->at++;
    else
        fail(w);
    return c;
}

static bool take(walker *w, char c) {
    if (next(w) != c || w->failed) return false;
    w->at++;
    return true;
}

static bool more(walker *w) {
    if (w->failed || take(w, 'E')) return false;
    if (next(w)) return true;
    fail(w);
    return false;
}

/* "_" or digits to base 62 and "_". */
static uint64_t base_62(walker *w) {
    uint64_t value = 0;
    if (take(w, '_')) return 0;
    for (char c; (c = advance(w)) != '_' && !w->failed;) {
        const uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                               : c >= 'a' && c <= 'z' ? (uint64_t)(c - 'a') + 10
                               : c >= 'A' && c <= 'Z' ? (uint64_t)(c - 'A') + 36
                                                      : 62;
        if (digit == 62)
            fail(w);
        else
            value = value * 62 + digit; /* modulo 2^64: some are hashes */
    }
    return value < UINT64_MAX ? value + 1 : value;
}

/* Calls `rule` at the place of a back reference, which is before it. */
static void follow(walker *w, void (*rule)(walker *w)) {
    const size_t from = w->at - 1;
    const uint64_t to = base_62(w);
    if (w->failed || to >= from) {
        fail(w);
        return;
    }
    const size_t after = w->at;
    w->at = (size_t)to;
    rule(w);
    if (!w->failed) w->at = after;
}

static void identifier(walker *w) {
    size_t length = 0;
    if (take(w, 's')) (void)base_62(w);
    const bool puny = take(w, 'u');
    while (next(w) >= '0' && next(w) <= '9' && length < 1 << 20) length = length * 10 + (size_t)(advance(w) - '0');
    (void)take(w, '_');
    if (length > w->size - w->at) {
        fail(w);
        return;
    }
    w->at += length;
    count(w, puny ? 4 * (uint64_t)length + 4 : length + 4);
}

static void binder(walker *w) {
    if (!take(w, 'G')) return;
    const uint64_t lifetimes = base_62(w);
    count(w, lifetimes < w->most ? lifetimes * 8 : lifetimes);
}

static void implementation(walker *w) {
    if (take(w, 's')) (void)base_62(w);
    path(w);
}

static void argument(walker *w) {
    if (take(w, 'L')) {
        (void)base_62(w);
        count(w, 4);
    } else if (take(w, 'K')) {
        constant(w);
    } else {
        type(w);
    }
}

static void path_of(walker *w, char kind) {
    switch (kind) {
    case 'C': identifier(w); break;
    case 'M':
        implementation(w);
        type(w);
        break;
    case 'X':
        implementation(w);
        type(w);
        path(w);
        break;
    case 'Y':
        type(w);
        path(w);
        break;
    case 'N':
        (void)advance(w);
        path(w);
        identifier(w);
        break;
    case 'I':
        path(w);
        while (more(w)) argument(w);
        break;
    case 'B': follow(w, path); break;
    default: fail(w);
    }
}

static void path(walker *w) {
    if (++w->depth > RUST_DEPTH_MAX) too_large(w);
    count(w, 4);
    if (!w->failed) path_of(w, advance(w));
    w->depth--;
}

static void function(walker *w) {
    binder(w);
    (void)take(w, 'U');
    if (take(w, 'K') && !take(w, 'C')) identifier(w);
    while (more(w)) type(w);
    type(w);
}

static void object(walker *w) {
    binder(w);
    while (more(w)) {
        path(w);
        while (take(w, 'p')) {
            identifier(w);
            type(w);
        }
    }
    if (!take(w, 'L')) fail(w);
    (void)base_62(w);
}

static void type_of(walker *w, char kind) {
    if (kind >= 'a' && kind <= 'z') return;
    switch (kind) {
    case 'A':
        type(w);
        constant(w);
        break;
    case 'R':
    case 'Q':
        if (take(w, 'L')) (void)base_62(w);
        type(w);
        break;
    case 'S':
    case 'P':
    case 'O': type(w); break;
    case 'T':
        while (more(w)) type(w);
        break;
    case 'F': function(w); break;
    case 'D': object(w); break;
    case 'B': follow(w, type); break;
    default: path_of(w, kind);
    }
}

static void type(walker *w) {
    if (++w->depth > RUST_DEPTH_MAX) too_large(w);
    count(w, 8);
    if (!w->failed) type_of(w, advance(w));
    w->depth--;
}

static void constant(walker *w) {
    if (++w->depth > RUST_DEPTH_MAX) too_large(w);
    count(w, 4);
    if (take(w, 'B')) {
        follow(w, constant);
    } else if (!take(w, 'p')) {
        type(w);
        while (!w->failed && next(w) && next(w) != '_') {
            w->at++;
            count(w, 3);
        }
        if (!take(w, '_')) fail(w);
    }
    w->depth--;
}

ntr_mangled_size ntr_mangled_rust_size(const char *name, uint32_t most) {
    walker w = {.text = name + 2, .size = strcspn(name + 2, ".$"), .most = most};
    if (w.size > most) return NTR_MANGLED_LARGE;
    path(&w);
    if (!w.failed && w.at < w.size) path(&w); /* the crate that instantiates it */
    return w.large ? NTR_MANGLED_LARGE : w.failed ? NTR_MANGLED_ODD : NTR_MANGLED_SMALL;
}
