#include "base/text.h"

#include <ntrace/bytes.h>
#include <stddef.h>
#include <string.h>

unsigned ntr_digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return UINT8_MAX;
}

/* Returns the end of the digits, or NULL when there are none. */
static const char *read_digits(const char *at, const char *end, uint64_t *value, bool *over) {
    const unsigned base = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') ? 16 : 10;
    const char *start = at += base == 16 ? 2 : 0;
    uint64_t sum = 0;
    *over = false;
    for (; at < end && ntr_digit(*at) < base; at++) {
        *over |= __builtin_mul_overflow(sum, (uint64_t)base, &sum);
        *over |= __builtin_add_overflow(sum, ntr_digit(*at), &sum);
    }
    if (at == start) return NULL;
    *value = sum;
    return at;
}

const char *ntr_read_number(const char *at, const char *end, uint64_t *value) {
    bool over;
    uint64_t number;
    at = read_digits(at, end, &number, &over);
    if (!at || over) return NULL;
    *value = number;
    return at;
}

ntr_status ntr_parse_number(const char *text, size_t size, uint64_t *value) {
    bool over;
    if (read_digits(text, text + size, value, &over) != text + size || !size) return NTR_E_SYNTAX;
    return over ? NTR_E_RANGE : NTR_OK;
}

/* Names are UTF-8, too. */
static size_t name_hazard(const char *name) {
    const size_t hazard = ntr_text_hazard(name);
    return hazard ? hazard : !ntr_utf8_length(name, 4);
}

bool ntr_name_is_clean(const char *name) {
    for (size_t i = 0; i <= NTR_NAME_MAX; i += ntr_text_step(name + i)) {
        if (!name[i]) return true;
        if (name_hazard(name + i)) return false;
    }
    return false;
}

void ntr_text_disarm(char *text) {
    while (*text) {
        const size_t hazard = ntr_text_hazard(text);
        memset(text, '?', hazard);
        text += hazard ? hazard : ntr_text_step(text);
    }
}

unsigned ntr_name_clean(const char *name, char cleaned[NTR_NAME_CLEANED_MAX + 1]) {
    unsigned size = 0;
    while (size < NTR_NAME_CLEANED_MAX && *name) {
        const size_t hazard = name_hazard(name);
        const size_t length = hazard ? 1 : ntr_text_step(name);
        if (size + length > NTR_NAME_CLEANED_MAX) break;
        memcpy(cleaned + size, hazard ? "?" : name, length);
        size += (unsigned)length;
        name += hazard ? hazard : length;
    }
    cleaned[size] = '\0';
    return size;
}

int ntr_choice_find(const char *words, const char *text, size_t length) {
    for (int place = 0;; place++) {
        size_t size = strcspn(words, "|");
        if (size == length && memcmp(words, text, length) == 0) return place;
        if (!words[size]) return -1;
        words += size + 1;
    }
}

const char *ntr_choice_at(const char *words, unsigned place, size_t *length) {
    for (;; place--) {
        *length = strcspn(words, "|");
        if (place == 0) return words;
        if (!words[*length]) return NULL;
        words += *length + 1;
    }
}
