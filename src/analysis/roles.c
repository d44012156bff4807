#include "analysis/roles.h"

#include <stddef.h>
#include <string.h>

enum role_match { WHOLE, PREFIX, SUFFIX };

static const struct role_row {
    uint8_t role, cause, match; /* match: role_match */
    const char *function, *shown;
} rows[] = {
#define ROLE(role, function, cause, shown) {NTR_OS_##role, cause, WHOLE, function, shown},
#define ROLE_PREFIX(role, prefix)          {NTR_OS_##role, NTR_CAUSE_NONE, PREFIX, prefix, NULL},
#define ROLE_SUFFIX(role, suffix)          {NTR_OS_##role, NTR_CAUSE_NONE, SUFFIX, suffix, NULL},
#include "analysis/roles.def"
#undef ROLE
#undef ROLE_PREFIX
#undef ROLE_SUFFIX
};

static const char *const exceptions[] = {
#define CAUSE_EXCEPTION(code, name) [code] = name,
#define CAUSE_INTERRUPT(code, name)
#include "analysis/causes.def"
#undef CAUSE_EXCEPTION
#undef CAUSE_INTERRUPT
};

static const char *const interrupts[] = {
#define CAUSE_EXCEPTION(code, name)
#define CAUSE_INTERRUPT(code, name) [code] = name,
#include "analysis/causes.def"
#undef CAUSE_EXCEPTION
#undef CAUSE_INTERRUPT
};

const char *ntr_cause_name(bool interrupt, unsigned cause) {
    if (interrupt) return cause < sizeof interrupts / sizeof *interrupts ? interrupts[cause] : NULL;
    return cause < sizeof exceptions / sizeof *exceptions ? exceptions[cause] : NULL;
}

/* The compiler makes several functions of one: "do_exit.constprop.0", "do_exit.cold". */
static bool is_function(const char *name, const char *function) {
    size_t length = strlen(function);
    return strncmp(name, function, length) == 0 && (!name[length] || name[length] == '.');
}

static const char *shown_of(const struct role_row *row, const char *function) {
    if (row->match == PREFIX) return function + strlen(row->function);
    if (row->shown) return row->shown;
    const char *cause = row->cause == NTR_CAUSE_NONE ? NULL : ntr_cause_name(row->role == NTR_OS_INTERRUPT, row->cause);
    return cause ? cause : function;
}

static bool matches(const struct role_row *row, const char *function) {
    const size_t length = strlen(row->function), whole = strlen(function);
    if (row->match == PREFIX) return whole > length && strncmp(function, row->function, length) == 0;
    if (row->match == SUFFIX) return whole > length && strcmp(function + whole - length, row->function) == 0;
    return is_function(function, row->function);
}

ntr_role_info ntr_role_of(const char *function) {
    for (size_t i = 0; function && i < sizeof rows / sizeof *rows; i++) {
        const struct role_row *row = &rows[i];
        if (matches(row, function)) return (ntr_role_info){row->role, row->cause, shown_of(row, function)};
    }
    return (ntr_role_info){NTR_OS_NONE, NTR_CAUSE_NONE, NULL};
}

bool ntr_role_calls_switch(const char *function) {
    return function && is_function(function, "__schedule");
}
