/* The arguments of a question. */
#include "explore/state.h"

#include "base/macros.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

ntr_status ntr_question_fail(ntr_question *q, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(q->error, sizeof q->error, format, arguments);
    va_end(arguments);
    return NTR_E_INVALID;
}

ntr_status ntr_question_went(ntr_question *q, ntr_status status) {
    if (status != NTR_END) return status;
    q->interrupted = true;
    return NTR_OK;
}

bool ntr_question_has(const ntr_question *q, const char *key) {
    const json_t *member = json_object_get(q->arguments, key);
    return member && !json_is_null(member);
}

ntr_status ntr_question_number(ntr_question *q, const char *key, uint64_t otherwise, uint64_t low, uint64_t high,
                               uint64_t *value) {
    const json_t *member = json_object_get(q->arguments, key);
    *value = otherwise;
    if (!member || json_is_null(member)) return NTR_OK;
    if (json_is_integer(member) && json_integer_value(member) >= 0)
        *value = (uint64_t)json_integer_value(member);
    else if (!json_is_string(member) ||
             ntr_parse_number(json_string_value(member), json_string_length(member), value) != NTR_OK)
        return ntr_question_fail(q, "%s: expected a number, not negative, or a text of digits", key);
    if (*value < low && high == UINT64_MAX)
        return ntr_question_fail(q, "%s: expected a number from %llu, found %llu", key, (unsigned long long)low,
                                 (unsigned long long)*value);
    if (*value < low || *value > high)
        return ntr_question_fail(q, "%s: expected a number from %llu to %llu, found %llu", key, (unsigned long long)low,
                                 (unsigned long long)high, (unsigned long long)*value);
    return NTR_OK;
}

ntr_status ntr_question_text(ntr_question *q, const char *key, const char *otherwise, const char **text) {
    const json_t *member = json_object_get(q->arguments, key);
    *text = otherwise;
    if (!member || json_is_null(member)) return NTR_OK;
    *text = json_string_value(member);
    return *text ? NTR_OK : ntr_question_fail(q, "%s: expected a text", key);
}

ntr_status ntr_question_hart(ntr_explorer *x, ntr_question *q, uint16_t *src, bool *given) {
    uint64_t value;
    const json_t *member = json_object_get(q->arguments, "src");
    *given = member && !json_is_null(member);
    *src = *given ? 0 : ntr_replay_current(x->replay);
    if (!*given) return NTR_OK;
    TRY(ntr_question_number(q, "src", 0, 0, NTR_SOURCES_MAX - 1, &value));
    if (!x->replay->hart_number[value])
        return ntr_question_fail(q, "src: hart %u has executed nothing", (unsigned)value);
    *src = (uint16_t)value;
    return NTR_OK;
}
