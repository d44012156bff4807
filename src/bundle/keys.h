/* JSON objects by table: one row ties a key to a member of a struct; reading and writing share the table. */
#ifndef NTR_BUNDLE_KEYS_H
#define NTR_BUNDLE_KEYS_H

#include <ntrace/status.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ntr_key_kind {
    NTR_KEY_NUMBER,  /* 0 .. most, a member of `width` bytes; with `words`: 0 or one of the numbers in this list */
    NTR_KEY_ADDRESS, /* uint64_t, "0x..." (JSON numbers hold 53 bits) */
    NTR_KEY_FLAG,    /* bool */
    NTR_KEY_CHOICE,  /* uint8_t := index of the word in `words` */
    NTR_KEY_SET, /* unsigned, a set: "rv32+zcmp". First of `words`: bit 0 is off; the others: bits 0, 1, 2... on */
    NTR_KEY_TEXT, /* const char * */
    NTR_KEY_HEX, /* const char *, an even number of hexadecimal digits */
    NTR_KEY_DIALECT, /* const ntr_dialect * by name */
};

#define NTR_KEY_ALWAYS SIZE_MAX /* `has`: no such member */

struct ntr_key {
    const char *name; /* NULL ends a table */
    uint8_t kind; /* enum ntr_key_kind */
    uint8_t width; /* NUMBER: bytes of the member */
    bool required;
    uint64_t most; /* NUMBER; TEXT: bytes, 0: any number */
    size_t member; /* its offset */
    size_t has; /* offset of the bool that is true when the key is present, or NTR_KEY_ALWAYS */
    const char *words; /* CHOICE, SET: "off|on"; NUMBER: NULL, or "32|64" */
};

/* The error as a sentence: "images[2].address: expected ...". */
struct ntr_key_error {
    char text[256];
};

/* Fill `out` from `object`. The member of a missing key keeps its value. A key that is neither in the table nor in
 * `others`
 * ("images|sources": objects and arrays that the caller reads) is an error. Strings belong to `object`.
 * Errors: NTR_E_FORMAT. */
ntr_status ntr_keys_read(const struct ntr_key *keys, const char *others, const json_t *object, const char *where,
                         void *out, struct ntr_key_error *error);

/* Set the keys of `object` from `in`; members that are zero or absent are left out unless required.
 * Errors: NTR_E_INVALID (a value that ntr_keys_read would refuse), NTR_E_MEMORY. */
ntr_status ntr_keys_write(const struct ntr_key *keys, const void *in, const char *where, json_t *object,
                          struct ntr_key_error *error);

#endif
