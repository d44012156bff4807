/* What the values of fixed fields mean (include/ntrace/values.def), and which a field may have (rules.def). */
#ifndef NTR_MESSAGE_VALUES_H
#define NTR_MESSAGE_VALUES_H

#include <ntrace/message.h>

/* ---- What the values of fixed fields mean, from include/ntrace/values.def. */

typedef struct ntr_value_info {
    const char *name, *about;
    uint8_t field, first, last, messages; /* ntr_field, range of values, NTR_MESSAGES_* set */
    uint32_t flags;                       /* NTR_VALUE_* set */
} ntr_value_info;

/* The index-th row of the table, NULL past the last. */
const ntr_value_info *ntr_value_at(size_t index);

/* Rows of every dialect. */
enum { NTR_MESSAGES_ANY = 0xff };

/* NTR_VALUE_* of the first row that covers the value in a dialect of the set `messages`, or NTR_VALUE_RESERVED when no
 * row does. With a constant `field` only the comparisons of that field's rows are left. */
static inline unsigned ntr_value_flags(unsigned messages, unsigned field, uint64_t value) {
#define NTR_VALUE(of, id, first, last, set, flags, name, about)                                                        \
    if (field == NTR_FIELD_##of && value - (first) <= (last) - (first) && messages & NTR_MESSAGES_##set) return (flags);
#include <ntrace/values.def>
#undef NTR_VALUE
    return NTR_VALUE_RESERVED;
}

/* NTR_VALUE_* of a message's SYNC. */
static inline unsigned ntr_sync_flags(const ntr_message *m) {
    return ntr_value_flags(NTR_MESSAGES_1_0, NTR_FIELD_SYNC, m->sync);
}

/* ---- What values a field may have (rules.def). */

typedef struct ntr_value_rule {
    uint8_t field, condition, when; /* the rule holds when `condition` (or NTR_FIELD_NONE) has the value `when` */
    uint8_t messages;               /* NTR_MESSAGES_* set of dialects */
    int16_t defect;                 /* the defect when `field` is outside low..high */
    uint64_t low, high;
} ntr_value_rule;

/* The index-th rule, NULL past the last. */
const ntr_value_rule *ntr_rule_at(size_t index);

/* NTR_OK, or the defect that makes the value of this present field impossible. */
ntr_status ntr_field_check(const ntr_dialect *dialect, const ntr_message *message, ntr_field field);

#endif
