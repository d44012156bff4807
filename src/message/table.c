#include "message/table.h"

#include "message/sets.h"

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
