#include "message/values.h"

#include "message/table.h"

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
