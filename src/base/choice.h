/* Lists of words in one string, such as "off|on": the values of an option in tables. */
#ifndef NTR_BASE_CHOICE_H
#define NTR_BASE_CHOICE_H

#include <stddef.h>

/* Returns the index in the list of `text`, which has `length` characters, or -1. */
int ntr_choice_find(const char *words, const char *text, size_t length);

/* Returns the word number `place` and stores its length, or returns NULL when `place` is past the last word. */
const char *ntr_choice_at(const char *words, unsigned place, size_t *length);

#endif
