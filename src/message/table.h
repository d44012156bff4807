/* The tables of fields and messages, for the decoders and encoders. */
#ifndef NTR_MESSAGE_TABLE_H
#define NTR_MESSAGE_TABLE_H

#include <ntrace/message.h>

enum { NTR_TCODE_BITS = 6, NTR_TCODES = 1 << NTR_TCODE_BITS };

extern const ntr_field_info ntr_field_table[NTR_FIELD_COUNT];

#define NTR_FIELD_BIT(field) ((ntr_fields)1 << (field))

/* Fields whose width varies from message to message. */
#define NTR_FIELD(id, member, text, shape, bits, base, about) \
    | (NTR_SHAPE_##shape >= NTR_SHAPE_VARIABLE ? NTR_FIELD_BIT(NTR_FIELD_##id) : 0)
static const ntr_fields NTR_VARIABLE_FIELDS = 0
#include <ntrace/fields.def>
    ;
#undef NTR_FIELD

/* Fields that text shows in hexadecimal. */
#define NTR_FIELD(id, member, text, shape, bits, base, about) \
    | (NTR_BASE_##base == NTR_BASE_HEX ? NTR_FIELD_BIT(NTR_FIELD_##id) : 0)
static const ntr_fields NTR_HEX_FIELDS = 0
#include <ntrace/fields.def>
    ;
#undef NTR_FIELD

/* The lowest field of a set. To visit all: `for (ntr_fields left = set; left; left &= left - 1)`. */
static inline ntr_field ntr_first_field(ntr_fields set) { return (ntr_field)__builtin_ctz(set); }

static inline unsigned ntr_dialect_messages(const ntr_dialect *dialect) {
    return dialect ? dialect->messages : (unsigned)NTR_MESSAGES_1_0;
}

/* Which dialects know the message of this TCODE: NTR_MESSAGES_*. */
extern const uint8_t ntr_tcode_sets[NTR_TCODES];

/* ntr_role of each TCODE, whatever the dialect. */
extern const uint8_t ntr_tcode_roles[NTR_TCODES];

static inline bool ntr_is_known(const ntr_dialect *dialect, unsigned tcode) {
    return tcode < NTR_TCODES && ntr_tcode_sets[tcode] & ntr_dialect_messages(dialect);
}

/* Whether the message has this field of its row, by the values of the fields before it. */
static inline bool ntr_field_applies(const ntr_message_field *entry, const ntr_message *message) {
    return entry->condition == NTR_FIELD_NONE || message->value[entry->condition] == entry->when;
}

#endif
