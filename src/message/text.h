/* Functions that write text at `at` and return the position behind it. The caller provides enough room. */
#ifndef NTR_MESSAGE_TEXT_H
#define NTR_MESSAGE_TEXT_H

#include "base/digits.h"
#include "message/table.h"

#include <string.h>

static inline char *ntr_text_bytes(char *at, const char *text, size_t size) {
    memcpy(at, text, size);
    return at + size;
}

static inline char *ntr_text(char *at, const char *text) {
    return ntr_text_bytes(at, text, strlen(text));
}

/* In the field's own base, with 0x. */
static inline char *ntr_text_number(char *at, ntr_field field, uint64_t value) {
    if (!(NTR_HEX_FIELDS >> field & 1)) return ntr_text_dec(at, value);
    *at++ = '0';
    *at++ = 'x';
    return ntr_text_hex(at, value);
}

char *ntr_text_hex_bytes(char *at, ntr_bytes bytes); /* "70d01f" */

/* The payload of a vendor defined or reserved message, "0x1f:12,0x0:6"; nothing when there is none. */
char *ntr_text_payload(char *at, const ntr_params *params, const ntr_message *message);

/* Whether ntr_text_payload would write anything. */
bool ntr_has_payload(const ntr_params *params, const ntr_message *message);

/* Writes a message as one line at `at`, without NUL; there is room for NTR_MESSAGE_TEXT_MAX bytes. */
typedef char *(*ntr_text_form)(const ntr_params *params, const ntr_message *message, char *at);

/* Where it may not fit. */
int ntr_text_fit(ntr_text_form form, const ntr_params *params, const ntr_message *message, char *out, size_t capacity);

/* Run a form into a buffer of any size, with NUL; returns the length or NTR_E_SPACE. */
static inline int ntr_text_make(ntr_text_form form, const ntr_params *params, const ntr_message *message, char *out,
                                size_t capacity) {
    if (capacity <= NTR_MESSAGE_TEXT_MAX) return ntr_text_fit(form, params, message, out, capacity);
    char *end = form(params, message, out);
    *end = '\0';
    return (int)(end - out);
}

#endif
