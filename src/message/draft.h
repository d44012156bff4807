/* Draft: what a line of text says of a message, on its way to bytes. */
#ifndef NTR_MESSAGE_DRAFT_H
#define NTR_MESSAGE_DRAFT_H

#include <ntrace/message.h>

/* Part of the line, and its column. */
typedef struct ntr_draft_text {
    const char *text; /* NULL: not in the line */
    size_t size, column;
} ntr_draft_text;

typedef struct ntr_draft {
    ntr_message message;
    ntr_draft_text payload; /* DATA */
    ntr_draft_text bytes;   /* BYTES: replaces everything else */
    size_t column[NTR_FIELD_COUNT]; /* of each present field's value */
    size_t end;                     /* column where the name ends, reported for a missing field */
} ntr_draft;

/* The TCODE of this name in any case, NTR_TCODE_NONE for "Malformed", or -1. */
int ntr_tcode_called(const ntr_dialect *dialect, const char *name, size_t size);

/* The field of this name in any case, hyphens aside, or NTR_FIELD_NONE. */
ntr_field ntr_field_called(const char *name, size_t size);

/* Turn the draft into bytes; returns as ntr_message_assemble. */
int ntr_draft_encode(const ntr_params *params, const ntr_draft *draft, uint8_t *out, size_t capacity, size_t *column);

#endif
