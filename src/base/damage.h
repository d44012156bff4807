/* What could not be read of an input that is used all the same. Each line is "SUBJECT: expected A, found B". */
#ifndef NTR_BASE_DAMAGE_H
#define NTR_BASE_DAMAGE_H

#include <stddef.h>

enum { NTR_DAMAGE_LINES = 16, NTR_DAMAGE_LINE_MAX = 400 };

typedef struct ntr_damage {
    char lines[NTR_DAMAGE_LINES][NTR_DAMAGE_LINE_MAX]; /* the last one tells that there are more */
    size_t count;
} ntr_damage;

/* Adds a line, unless it is there. A line that is too long is cut. */
void ntr_damage_add(ntr_damage *damage, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns line `index`, or NULL after the last one. */
const char *ntr_damage_line(const ntr_damage *damage, size_t index);

#endif
