/* Justifications: reasons for code that is not covered, as a text (docs/coverage.md, "Justifications"). */
#ifndef NTRACE_JUSTIFICATION_H
#define NTRACE_JUSTIFICATION_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_justification_state {
    NTR_JUSTIFICATION_STALE, /* there is no such text */
    NTR_JUSTIFICATION_COVERED, /* what it justifies is covered */
    NTR_JUSTIFICATION_USED,
} ntr_justification_state;

typedef struct ntr_justification {
    const char *function, *text, *reason; /* in the text that was read */
    unsigned line; /* of the entry in the text */
    ntr_justification_state state;
} ntr_justification;

typedef struct ntr_justifications ntr_justifications;

/* Makes a table without entries. Errors: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_justifications_new(const ntr_allocator *allocator, ntr_justifications **out);
NTR_LAB_API void ntr_justifications_free(ntr_justifications *justifications);

/* Reads the entries of a text that ends with NUL, which is changed and must outlive the table. Errors: NTR_E_SYNTAX
 * (ntr_justifications_error says where and why), NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_justifications_read(ntr_justifications *justifications, char *content);

/* Returns "LINE: why the text was refused", or "". */
NTR_LAB_API const char *ntr_justifications_error(const ntr_justifications *justifications);

/* Returns all entries in the order of the text, and their number. */
NTR_LAB_API const ntr_justification *ntr_justifications_all(const ntr_justifications *justifications, size_t *count);

/* Looks for an entry of the function and text (blanks at both ends and several blanks do not matter) and notes whether
 * it is needed. Returns the reason if there is one, else NULL. */
NTR_LAB_API const char *ntr_justifications_find(ntr_justifications *justifications, const char *function,
                                                const char *text, bool covered);

#ifdef __cplusplus
}
#endif
#endif
