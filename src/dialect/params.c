/* Stream parameters by table: ntr_params as <ntrace/params.def> describes it. */
#include "dialect/params.h"
#include "base/text.h"
#include "base/config.h"
#include "dialect/dialects.h"

#include <inttypes.h>
#include <stdio.h>

typedef enum kind { KIND_NUMBER, KIND_ONE_OF, KIND_FLAG, KIND_WORD, KIND_SWITCH, KIND_DIALECT } kind;

typedef struct param_row {
    const char *name, *words;
    uint64_t least, most;
    size_t at, size; /* of the member */
    size_t initial;  /* offset of its default in ntr_dialect; 0: none, the default is 0 */
    kind kind;
} param_row;

#define SIZE_OF(type, member) sizeof(((type *)0)->member)
#define ZERO(member)          0
#define FROM_DIALECT(member)  offsetof(ntr_dialect, member)

static const param_row ROWS[NTR_PARAMETERS] = {
#define NTR_PARAM(id, type, member, name, kind, least, most, words, initial, ...)                                      \
    {name,                                                                                                             \
     KIND_##kind == KIND_FLAG ? "off|on" : words,                                                                      \
     least,                                                                                                            \
     most,                                                                                                             \
     offsetof(ntr_params, member),                                                                                     \
     SIZE_OF(ntr_params, member),                                                                                      \
     initial(member),                                                                                                  \
     KIND_##kind},
#include <ntrace/params.def>
#undef NTR_PARAM
};
#undef ZERO
#undef FROM_DIALECT

/* A member holds every value of its row, and the default of a dialect has the same size. */
#define ZERO(member)         SIZE_OF(ntr_params, member)
#define FROM_DIALECT(member) SIZE_OF(ntr_dialect, member)
#define NTR_PARAM(id, type, member, name, kind, least, most, words, initial, ...)                                      \
    _Static_assert((uint64_t)(most) >> (8 * SIZE_OF(ntr_params, member) - 1) >> 1 == 0, name ": limits");              \
    _Static_assert(initial(member) == SIZE_OF(ntr_params, member), name ": default of the dialect");
#include <ntrace/params.def>
#undef NTR_PARAM
#undef ZERO
#undef FROM_DIALECT

_Static_assert(sizeof(ntr_params) == offsetof(ntr_params, reserved) + sizeof((ntr_params){0}.reserved),
               "size of the rows");

_Static_assert(NTR_PARAMETERS <= NTR_PARAMETERS_MAX, "sets of parameters have 32 bits");

void ntr_params_init(ntr_params *params, const ntr_dialect *dialect) {
    memset(params, 0, sizeof *params);
    params->size = sizeof *params;
    if (!dialect) dialect = &ntr_dialect_ntrace_1_0;
    params->dialect = dialect;
    for (const param_row *r = ROWS; r < ROWS + NTR_PARAMETERS; r++)
        if (r->initial) ntr_member_set(params, r->at, r->size, ntr_member_get(dialect, r->initial, r->size));
}

static const ntr_dialect *dialect_of(const ntr_params *params) {
    return params->dialect ? params->dialect : &ntr_dialect_ntrace_1_0;
}

static bool is_number_of(const char *words, uint64_t value) {
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRIu64, value);
    return ntr_choice_find(words, text, (size_t)length) >= 0;
}

static bool is_within(const param_row *r, uint64_t value) {
    if (r->kind == KIND_DIALECT || value == 0) return true;
    return value >= r->least && value <= r->most && (r->kind != KIND_ONE_OF || is_number_of(r->words, value));
}

ntr_status ntr_params_check(const ntr_params *params) {
    if (!params || params->size != sizeof *params) return NTR_E_INVALID;
    for (const param_row *r = ROWS; r < ROWS + NTR_PARAMETERS; r++)
        if (!is_within(r, ntr_member_get(params, r->at, r->size))) return NTR_E_RANGE;
    return NTR_OK;
}

void ntr_params_copy(ntr_params *to, const ntr_params *from, uint32_t set) {
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        const param_row *r = &ROWS[p];
        if (set >> p & 1) ntr_member_set(to, r->at, r->size, ntr_member_get(from, r->at, r->size));
    }
}

uint32_t ntr_params_difference(const ntr_params *a, const ntr_params *b) {
    uint32_t set = 0;
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        const param_row *r = &ROWS[p];
        bool same = r->kind == KIND_DIALECT ? dialect_of(a) == dialect_of(b)
                                            : ntr_member_get(a, r->at, r->size) == ntr_member_get(b, r->at, r->size);
        if (!same) set |= 1u << p;
    }
    return set;
}

/* ---- as text */

const char *ntr_parameter_name(unsigned parameter) {
    return parameter < NTR_PARAMETERS ? ROWS[parameter].name : NULL;
}

static const param_row *find(const char *name) {
    for (const param_row *r = ROWS; r < ROWS + NTR_PARAMETERS; r++)
        if (strcmp(r->name, name) == 0) return r;
    return NULL;
}

static ntr_status parse(const param_row *r, const char *text, uint64_t *value) {
    const char *end = text + strlen(text);
    if (r->kind == KIND_NUMBER || r->kind == KIND_ONE_OF) {
        if (ntr_read_number(text, end, value) != end) return NTR_E_SYNTAX;
        return is_within(r, *value) ? NTR_OK : NTR_E_RANGE;
    }
    int place = ntr_choice_find(r->words, text, (size_t)(end - text));
    *value = (uint64_t)place;
    return place < 0 ? NTR_E_SYNTAX : NTR_OK;
}

ntr_status ntr_params_set(ntr_params *params, const char *name, const char *text) {
    const param_row *r = find(name);
    if (!r) return NTR_E_NAME;
    if (r->kind == KIND_DIALECT) {
        const ntr_dialect *dialect = ntr_dialect_find(text);
        if (dialect) params->dialect = dialect;
        return dialect ? NTR_OK : NTR_E_SYNTAX;
    }
    uint64_t value;
    ntr_status status = parse(r, text, &value);
    if (status == NTR_OK) ntr_member_set(params, r->at, r->size, value);
    return status;
}

int ntr_params_get(const ntr_params *params, const char *name, char *out, size_t capacity) {
    const param_row *r = find(name);
    if (!r) return NTR_E_NAME;
    uint64_t value = ntr_member_get(params, r->at, r->size);
    size_t size = 0;
    int length;
    if (!is_within(r, value)) return NTR_E_RANGE;
    if (r->kind == KIND_DIALECT)
        length = snprintf(out, capacity, "%s", dialect_of(params)->name);
    else if (r->kind == KIND_NUMBER || r->kind == KIND_ONE_OF)
        length = snprintf(out, capacity, "%" PRIu64, value);
    else {
        const char *word = ntr_choice_at(r->words, (unsigned)value, &size);
        length = snprintf(out, capacity, "%.*s", (int)size, word);
    }
    return (size_t)length >= capacity ? NTR_E_SPACE : length;
}
