/* The table of what values mean, for ntr_value_name and the documentation. */
#ifndef NTR_MESSAGE_VALUES_H
#define NTR_MESSAGE_VALUES_H

#include <ntrace/message.h>

typedef struct ntr_value_info {
    uint8_t field, first, last, messages; /* ntr_field, range of values, NTR_MESSAGES_* set */
    const char *text;
} ntr_value_info;

/* The index-th row, NULL past the last. */
const ntr_value_info *ntr_value_at(size_t index);

#endif
