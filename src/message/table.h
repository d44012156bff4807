/* The tables of fields and messages, for the decoders and encoders. */
#ifndef NTR_MESSAGE_TABLE_H
#define NTR_MESSAGE_TABLE_H

#include <ntrace/message.h>

enum { NTR_TCODE_BITS = 6, NTR_TCODES = 1 << NTR_TCODE_BITS };

extern const ntr_field_info ntr_field_table[NTR_FIELD_COUNT];

#define NTR_FIELD_BIT(field) ((ntr_fields)1 << (field))

/* Fields whose width varies from message to message. */
#define NTR_FIELD(id, member, text, shape, bits, base, about)                                                          \
    | (NTR_SHAPE_##shape >= NTR_SHAPE_VARIABLE ? NTR_FIELD_BIT(NTR_FIELD_##id) : 0)
static const ntr_fields NTR_VARIABLE_FIELDS = 0
#include <ntrace/fields.def>
    ;
#undef NTR_FIELD

/* Fields that text shows in hexadecimal. */
#define NTR_FIELD(id, member, text, shape, bits, base, about)                                                          \
    | (NTR_BASE_##base == NTR_BASE_HEX ? NTR_FIELD_BIT(NTR_FIELD_##id) : 0)
static const ntr_fields NTR_HEX_FIELDS = 0
#include <ntrace/fields.def>
    ;
#undef NTR_FIELD

/* The lowest field of a set. To visit all: `for (ntr_fields left = set; left; left &= left - 1)`. */
static inline ntr_field ntr_first_field(ntr_fields set) {
    return (ntr_field)__builtin_ctzll(set);
}

static inline unsigned ntr_dialect_messages(const ntr_dialect *dialect) {
    return dialect ? dialect->messages : (unsigned)NTR_MESSAGES_1_0;
}

enum { NTR_MESSAGE_SETS = 8 }; /* bits of ntr_dialect.messages */

/* Returns the ntr_role of a TCODE in a dialect (NULL: N-Trace 1.0); NTR_ROLE_FIELDS when it has no row. */
unsigned ntr_tcode_role(const ntr_dialect *dialect, unsigned tcode);

/* The same for all TCODEs. */
void ntr_tcode_roles(const ntr_dialect *dialect, uint8_t roles[NTR_TCODES]);

static inline bool ntr_is_known(const ntr_dialect *dialect, unsigned tcode) {
    return ntr_message_get(dialect, tcode) != NULL;
}

/* Whether the message has this field of its row, by the values of the fields before it. */
static inline bool ntr_field_applies(const ntr_message_field *entry, const ntr_message *message) {
    return entry->condition == NTR_FIELD_NONE || message->value[entry->condition] == entry->when;
}

/* Whether the entry of a row is a field of shape MORE. */
static inline bool ntr_is_more(const ntr_message_field *entry) {
    return entry->field != NTR_FIELD_NONE && ntr_field_table[entry->field].shape == NTR_SHAPE_MORE;
}

#endif
