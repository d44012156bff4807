/* Names out of files, for answers: control characters would end lines and speak to terminals. */
#ifndef NTR_BASE_NAME_H
#define NTR_BASE_NAME_H

#include <stdbool.h>

/* Names that are cleaned are cut; those that are longer than any real one are cleaned. */
enum { NTR_NAME_MAX = 4096, NTR_NAME_CLEANED_MAX = 1023 };

/* Whether the name can be shown as it is. */
bool ntr_name_is_clean(const char *name);

/* Its first characters, '?' for each control character; with NUL. Returns how many there are without it. */
unsigned ntr_name_clean(const char *name, char cleaned[NTR_NAME_CLEANED_MAX + 1]);

#endif
