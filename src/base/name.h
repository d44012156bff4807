/* Names read from files, for output: control characters would break lines or control a terminal. */
#ifndef NTR_BASE_NAME_H
#define NTR_BASE_NAME_H

#include <stdbool.h>

/* Names that are cleaned are truncated to NTR_NAME_CLEANED_MAX; names longer than NTR_NAME_MAX are cleaned. */
enum { NTR_NAME_MAX = 4096, NTR_NAME_CLEANED_MAX = 1023 };

/* Returns whether the name can be used unchanged. */
bool ntr_name_is_clean(const char *name);

/* Copies the first characters of the name, with '?' for each control character, and a terminating NUL. Returns the
 * length. */
unsigned ntr_name_clean(const char *name, char cleaned[NTR_NAME_CLEANED_MAX + 1]);

#endif
