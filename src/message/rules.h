/* What values a field may have (rules.def). */
#ifndef NTR_MESSAGE_RULES_H
#define NTR_MESSAGE_RULES_H

#include <ntrace/message.h>

typedef struct ntr_rule {
    uint8_t field, condition, when; /* the rule holds when `condition` (or NTR_FIELD_NONE) has the value `when` */
    uint8_t messages;               /* NTR_MESSAGES_* set of dialects */
    int16_t defect;                 /* the defect when `field` is outside low..high */
    uint64_t low, high;
} ntr_rule;

/* The index-th rule, NULL past the last. */
const ntr_rule *ntr_rule_at(size_t index);

/* NTR_OK, or the defect that makes the value of this present field impossible. */
ntr_status ntr_field_check(const ntr_dialect *dialect, const ntr_message *message, ntr_field field);

#endif
