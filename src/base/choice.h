/* Lists of words in one string, "off|on": how tables write the values of an option. */
#ifndef NTR_BASE_CHOICE_H
#define NTR_BASE_CHOICE_H

#include <stddef.h>

/* The place of `text` (of this length) in the list, or -1. */
int ntr_choice_find(const char *words, const char *text, size_t length);

/* The word at this place and its length; NULL past the last. */
const char *ntr_choice_at(const char *words, unsigned place, size_t *length);

#endif
