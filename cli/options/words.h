/* Numbers, and lists of words such as "text|jsonl|csv". */
#ifndef CLI_OPTIONS_WORDS_H
#define CLI_OPTIONS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Converts the whole text, decimal or hexadecimal with 0x, to a number. Returns false if it is not a number or exceeds
 * 64 bits. */
bool cli_parse_number(const char *text, uint64_t *value);

/* Returns whether `word` differs from `meant` by at most two typing errors (one, if `meant` has at most 4
 * characters). */
bool cli_looks_like(const char *word, const char *meant);

/* Returns the index of `text`, which has `length` characters, in "a|b|c", or -1. */
int cli_choice_find(const char *choices, const char *text, size_t length);

/* Returns the word of "a|b|c" that `text` looks like, up to the next '|' or the end, or NULL. */
const char *cli_choice_near(const char *choices, const char *text);

#endif
