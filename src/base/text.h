/* Text that comes from outside: numbers, names, and words of a list. */
#ifndef NTR_BASE_TEXT_H
#define NTR_BASE_TEXT_H

#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Parsing of numbers. */

/* Returns the value of a decimal or hexadecimal digit, or UINT8_MAX. */
unsigned ntr_digit(char c);

/* Parses decimal digits, or hexadecimal digits after 0x, from [at, end). Returns the end of the number, or NULL when
 * there are no digits or the value exceeds 64 bits. */
const char *ntr_read_number(const char *at, const char *end, uint64_t *value);

/* The same for a whole text of `size` characters.
 * Errors: NTR_E_SYNTAX (not a number), NTR_E_RANGE (more than 64 bits). */
ntr_status ntr_parse_number(const char *text, size_t size, uint64_t *value);

/* Addresses of RV32 are written with 32 bits, or sign-extended to 64. Cuts the address for an `xlen` of 32. Returns
 * false if it has more bits. */
static inline bool ntr_fit_address(unsigned xlen, uint64_t *address) {
    const uint64_t upper = *address >> 31;
    if (xlen != 32) return true;
    *address = (uint32_t)*address;
    return upper < 2 || upper == (UINT64_C(1) << 33) - 1;
}

/* ---- Names read from files, for output: some characters would break lines or control a terminal
 * (ntr_text_hazard). */

/* Names that are cleaned are truncated to NTR_NAME_CLEANED_MAX; names longer than NTR_NAME_MAX are cleaned. */
enum { NTR_NAME_MAX = 4096, NTR_NAME_CLEANED_MAX = 1023 };

/* Returns whether the name can be used unchanged. */
bool ntr_name_is_clean(const char *name);

/* Replaces each such byte by '?', in place. */
void ntr_text_disarm(char *text);

/* Copies the first characters of the name, with '?' for each such character, and a terminating NUL. Returns the
 * length. */
unsigned ntr_name_clean(const char *name, char cleaned[NTR_NAME_CLEANED_MAX + 1]);

/* ---- Lists of words in one string, such as "off|on": the values of an option in tables. */

/* Returns the index in the list of `text`, which has `length` characters, or -1. */
int ntr_choice_find(const char *words, const char *text, size_t length);

/* Returns the word number `place` and stores its length, or returns NULL when `place` is past the last word. */
const char *ntr_choice_at(const char *words, unsigned place, size_t *length);

#endif
