#include "message/table.h"
#include "message/sets.h"
#include "message/values.h"

/* ---- fields ------------------------------------------------------------------------------------ */

#define NTR_FIELD(id, member, text, shape, bits, base, about)                                                          \
    [NTR_FIELD_##id] = {text, about, NTR_SHAPE_##shape, bits, NTR_BASE_##base},
const ntr_field_info ntr_field_table[NTR_FIELD_COUNT] = {
#include <ntrace/fields.def>
};
#undef NTR_FIELD

_Static_assert(NTR_FIELD_COUNT <= 8 * sizeof(ntr_fields), "a set of fields is one word");

const ntr_field_info *ntr_field_get(ntr_field field) {
    return (unsigned)field < NTR_FIELD_COUNT ? &ntr_field_table[field] : NULL;
}

const char *ntr_field_name(ntr_field field) {
    return (unsigned)field < NTR_FIELD_COUNT ? ntr_field_table[field].name : NULL;
}

/* ---- messages ---------------------------------------------------------------------------------- */

#define F(x)        {NTR_FIELD_##x, NTR_FIELD_NONE, 0, false}
#define IF(x, c, v) {NTR_FIELD_##x, NTR_FIELD_##c, v, false}
#define OPT(x)      {NTR_FIELD_##x, NTR_FIELD_NONE, 0, true}
#define LAST        {NTR_FIELD_NONE, NTR_FIELD_NONE, 0, false}

#define NTR_MESSAGE(id, tcode, text, set, role, flags, about, ...)                                                     \
    {text, about, tcode, NTR_MESSAGES_##set, {__VA_ARGS__, LAST}, NTR_ROLE_##role, flags},
static const ntr_message_info messages[] = {
#include <ntrace/messages.def>
};
#undef NTR_MESSAGE
#undef F
#undef IF
#undef OPT
#undef LAST

enum { MESSAGE_COUNT = sizeof messages / sizeof messages[0] };

/* The row of each TCODE that has one. The rows are numbered by an enum of their own. */
enum {
#define NTR_MESSAGE(id, tcode, text, set, ...) ROW_##id,
#include <ntrace/messages.def>
#undef NTR_MESSAGE
};

/* By the set of the row, so that a TCODE may have a row for each set. The number of the row plus 1; 0: no row. */
#define NTR_MESSAGE(id, tcode, text, set, ...) [__builtin_ctz(NTR_MESSAGES_##set)][tcode] = ROW_##id + 1,
static const uint8_t row_of[NTR_MESSAGE_SETS][NTR_TCODES] = {
#include <ntrace/messages.def>
};
#undef NTR_MESSAGE

const ntr_message_info *ntr_message_get(const ntr_dialect *dialect, unsigned tcode) {
    if (tcode >= NTR_TCODES) return NULL;
    for (unsigned sets = ntr_dialect_messages(dialect); sets; sets &= sets - 1) {
        unsigned row = row_of[__builtin_ctz(sets)][tcode];
        if (row) return &messages[row - 1];
    }
    return NULL;
}

unsigned ntr_tcode_role(const ntr_dialect *dialect, unsigned tcode) {
    const ntr_message_info *row = ntr_message_get(dialect, tcode);
    return row ? row->role : (unsigned)NTR_ROLE_FIELDS;
}

void ntr_tcode_roles(const ntr_dialect *dialect, uint8_t roles[NTR_TCODES]) {
    for (unsigned tcode = 0; tcode < NTR_TCODES; tcode++) roles[tcode] = (uint8_t)ntr_tcode_role(dialect, tcode);
}

const ntr_message_info *ntr_message_at(size_t index) {
    return index < MESSAGE_COUNT ? &messages[index] : NULL;
}

bool ntr_tcode_is_sync(unsigned tcode) {
    return ntr_has_role(tcode, NTR_ROLE_SYNC);
}

static bool is_vendors(unsigned tcode) {
    return tcode >= NTR_TCODE_VENDOR_FIRST && tcode <= NTR_TCODE_VENDOR_LAST;
}

bool ntr_tcode_is_vendor(const ntr_dialect *dialect, unsigned tcode) {
    return is_vendors(tcode) && !ntr_is_known(dialect, tcode);
}

bool ntr_tcode_is_reserved(const ntr_dialect *dialect, unsigned tcode) {
    return tcode < NTR_TCODES && !is_vendors(tcode) && !ntr_is_known(dialect, tcode);
}

/* Names of the TCODEs without row, by number. */
static const char *const unnamed[NTR_TCODES] = {
    "Reserved0",  "Reserved1",  "Reserved2",  "Reserved3",  "Reserved4",  "Reserved5",  "Reserved6",  "Reserved7",
    "Reserved8",  "Reserved9",  "Reserved10", "Reserved11", "Reserved12", "Reserved13", "Reserved14", "Reserved15",
    "Reserved16", "Reserved17", "Reserved18", "Reserved19", "Reserved20", "Reserved21", "Reserved22", "Reserved23",
    "Reserved24", "Reserved25", "Reserved26", "Reserved27", "Reserved28", "Reserved29", "Reserved30", "Reserved31",
    "Reserved32", "Reserved33", "Reserved34", "Reserved35", "Reserved36", "Reserved37", "Reserved38", "Reserved39",
    "Reserved40", "Reserved41", "Reserved42", "Reserved43", "Reserved44", "Reserved45", "Reserved46", "Reserved47",
    "Reserved48", "Reserved49", "Reserved50", "Reserved51", "Reserved52", "Reserved53", "Reserved54", "Reserved55",
    "Vendor56",   "Vendor57",   "Vendor58",   "Vendor59",   "Vendor60",   "Vendor61",   "Vendor62",   "Reserved63",
};

const char *ntr_tcode_name(const ntr_dialect *dialect, unsigned tcode) {
    if (tcode >= NTR_TCODES) return "Malformed";
    const ntr_message_info *row = ntr_message_get(dialect, tcode);
    return row ? row->name : unnamed[tcode];
}

#define NTR_VALUE(field, id, first, last, set, flags, name, about)                                                     \
    {name, about, NTR_FIELD_##field, first, last, NTR_MESSAGES_##set, flags},
static const ntr_value_info values[] = {
#include <ntrace/values.def>
};
#undef NTR_VALUE

const ntr_value_info *ntr_value_at(size_t index) {
    return index < sizeof values / sizeof values[0] ? &values[index] : NULL;
}

const char *ntr_value_name(const ntr_dialect *dialect, ntr_field field, uint64_t value) {
    bool named = false;
    const ntr_value_info *row;
    for (size_t i = 0; (row = ntr_value_at(i)); i++) {
        if (row->field != field) continue;
        named = true;
        if (row->messages & ntr_dialect_messages(dialect) && value >= row->first && value <= row->last)
            return row->name;
    }
    return named ? "reserved" : NULL;
}

const char *ntr_sync_name(unsigned code) {
    return ntr_value_name(NULL, NTR_FIELD_SYNC, code);
}

const char *ntr_evcode_name(unsigned code) {
    return ntr_value_name(NULL, NTR_FIELD_EVCODE, code);
}

#define NTR_RULE(field, condition, when, low, high, set, defect)                                                       \
    {NTR_FIELD_##field, NTR_FIELD_##condition, when, NTR_MESSAGES_##set, NTR_##defect, low, high},
static const ntr_value_rule rules[] = {
#include "message/rules.def"
};
#undef NTR_RULE

const ntr_value_rule *ntr_rule_at(size_t index) {
    return index < sizeof rules / sizeof rules[0] ? &rules[index] : NULL;
}

/* Fields that have a rule. */
#define NTR_RULE(field, condition, when, low, high, set, defect) | NTR_FIELD_BIT(NTR_FIELD_##field)
static const ntr_fields ruled = 0
#include "message/rules.def"
    ;
#undef NTR_RULE

ntr_status ntr_field_check(const ntr_dialect *dialect, const ntr_message *message, ntr_field field) {
    if (!(ruled & NTR_FIELD_BIT(field))) return NTR_OK;
    uint64_t value = message->value[field];
    const ntr_value_rule *rule;
    for (size_t i = 0; (rule = ntr_rule_at(i)); i++) {
        if (rule->field != field || !(rule->messages & ntr_dialect_messages(dialect))) continue;
        if (rule->condition != NTR_FIELD_NONE && message->value[rule->condition] != rule->when) continue;
        if (value < rule->low || value > rule->high) return rule->defect;
    }
    return NTR_OK;
}
