#include "bundle/keys.h"
#include "base/text.h"
#include "base/config.h"

#include <ntrace/dialect.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ntr_status fail(struct ntr_key_error *error, ntr_status status, const char *where, const char *name,
                       const char *format, ...) {
    size_t used = 0, room = sizeof error->text;
    va_list arguments;

    int n = snprintf(error->text, room, "%s%s%s: ", where, *where && *name ? "." : "", name);
    if (n > 0) used = (size_t)n < room ? (size_t)n : room - 1;
    va_start(arguments, format);
    vsnprintf(error->text + used, room - used, format, arguments);
    va_end(arguments);
    return status;
}

static bool parse_address(const char *text, uint64_t *value) {
    char *end;

    if (text[0] != '0' || text[1] != 'x' || !isxdigit((unsigned char)text[2])) return false;
    errno = 0;
    *value = strtoull(text + 2, &end, 16);
    return !*end && errno == 0;
}

static bool parse_set(const char *words, const char *text, unsigned *set) {
    *set = 0;
    for (;;) {
        size_t length = strcspn(text, "+");
        int index = ntr_choice_find(words, text, length);
        if (index < 0) return false;
        if (index > 0) *set |= 1u << (index - 1);
        if (!text[length]) return true;
        text += length + 1;
    }
}

static bool is_hex(const char *text) {
    size_t n = strspn(text, "0123456789abcdef");
    return n && n % 2 == 0 && !text[n];
}

/* ---- reading ------------------------------------------------------------------------------------ */

static ntr_status read_text(const struct ntr_key *key, const char *text, const char *where, void *member,
                            struct ntr_key_error *error) {
    int index;

    switch (key->kind) {
    case NTR_KEY_ADDRESS:
        if (parse_address(text, member)) return NTR_OK;
        return fail(error, NTR_E_FORMAT, where, key->name, "expected \"0x...\" of at most 64 bits, found \"%s\"", text);
    case NTR_KEY_CHOICE:
        index = ntr_choice_find(key->words, text, strlen(text));
        if (index < 0)
            return fail(error, NTR_E_FORMAT, where, key->name, "expected one of %s, found \"%s\"", key->words, text);
        *(uint8_t *)member = (uint8_t)index;
        return NTR_OK;
    case NTR_KEY_SET:
        if (parse_set(key->words, text, member)) return NTR_OK;
        return fail(error, NTR_E_FORMAT, where, key->name, "expected words of %s joined by '+', found \"%s\"",
                    key->words, text);
    case NTR_KEY_DIALECT:
        *(const ntr_dialect **)member = ntr_dialect_find(text);
        if (*(const ntr_dialect **)member) return NTR_OK;
        return fail(error, NTR_E_FORMAT, where, key->name, "unknown dialect \"%s\"", text);
    case NTR_KEY_HEX:
        if (!is_hex(text))
            return fail(error, NTR_E_FORMAT, where, key->name, "expected pairs of hexadecimal digits, found \"%s\"",
                        text);
        break;
    default:
        if (!key->most || strlen(text) <= key->most) break;
        return fail(error, NTR_E_FORMAT, where, key->name, "expected at most %llu bytes, found %zu",
                    (unsigned long long)key->most, strlen(text));
    }
    *(const char **)member = text;
    return NTR_OK;
}

static bool is_number_of(const char *words, json_int_t value) {
    char text[24];
    int length = snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, value);
    return ntr_choice_find(words, text, (size_t)length) >= 0;
}

static ntr_status read_number(const struct ntr_key *key, json_int_t value, const char *where, void *member,
                              struct ntr_key_error *error) {
    if (value < 0 || (uint64_t)value > key->most)
        return fail(error, NTR_E_FORMAT, where, key->name, "expected 0..%" PRIu64 ", found %" JSON_INTEGER_FORMAT,
                    key->most, value);
    if (key->words && value && !is_number_of(key->words, value))
        return fail(error, NTR_E_FORMAT, where, key->name, "expected one of %s, found %" JSON_INTEGER_FORMAT,
                    key->words, value);
    ntr_member_set(member, 0, key->width, (uint64_t)value);
    return NTR_OK;
}

static const char *kind_of(const json_t *value) {
    static const char *const names[] = {"an object",  "an array", "a string", "an integer",
                                        "a fraction", "true",     "false",    "null"};
    return names[json_typeof(value)];
}

static ntr_status read_value(const struct ntr_key *key, const json_t *value, const char *where, void *out,
                             struct ntr_key_error *error) {
    void *member = (char *)out + key->member;

    if (key->has != NTR_KEY_ALWAYS) *(bool *)((char *)out + key->has) = true;
    if (key->kind == NTR_KEY_NUMBER) {
        if (json_is_integer(value)) return read_number(key, json_integer_value(value), where, member, error);
        return fail(error, NTR_E_FORMAT, where, key->name, "expected an integer, found %s", kind_of(value));
    }
    if (key->kind == NTR_KEY_FLAG) {
        if (!json_is_boolean(value))
            return fail(error, NTR_E_FORMAT, where, key->name, "expected true or false, found %s", kind_of(value));
        *(bool *)member = json_is_true(value);
        return NTR_OK;
    }
    if (json_is_string(value)) return read_text(key, json_string_value(value), where, member, error);
    return fail(error, NTR_E_FORMAT, where, key->name, "expected a string, found %s", kind_of(value));
}

static const struct ntr_key *find_key(const struct ntr_key *keys, const char *name) {
    while (keys->name && strcmp(keys->name, name) != 0) keys++;
    return keys->name ? keys : NULL;
}

ntr_status ntr_keys_read(const struct ntr_key *keys, const char *others, const json_t *object, const char *where,
                         void *out, struct ntr_key_error *error) {
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return fail(error, NTR_E_FORMAT, where, "", "expected an object, found %s", kind_of(object));
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        const struct ntr_key *key = find_key(keys, name);
        if (!key && ntr_choice_find(others, name, strlen(name)) >= 0) continue;
        if (!key) return fail(error, NTR_E_FORMAT, where, name, "unknown key");
        ntr_status status = read_value(key, value, where, out, error);
        if (status != NTR_OK) return status;
    }
    for (const struct ntr_key *key = keys; key->name; key++) {
        if (key->required && !json_object_get(object, key->name))
            return fail(error, NTR_E_FORMAT, where, key->name, "missing");
    }
    return NTR_OK;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static json_t *set_text(const struct ntr_key *key, unsigned set) {
    char text[64];
    size_t used = 0, length;

    for (unsigned bit = 0; bit < 32; bit++) {
        bool on = set >> bit & 1u;
        if (bit > 0 && !on) continue;
        const char *word = ntr_choice_at(key->words, on ? bit + 1 : 0, &length);
        if (!word || used + length + 2 > sizeof text) return NULL;
        if (used) text[used++] = '+';
        memcpy(text + used, word, length);
        used += length;
    }
    return json_stringn(text, used);
}

static json_t *address_text(uint64_t address) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    return json_string(text);
}

static bool is_default(const struct ntr_key *key, const void *member) {
    switch (key->kind) {
    case NTR_KEY_NUMBER: return ntr_member_get(member, 0, key->width) == 0;
    case NTR_KEY_ADDRESS: return *(const uint64_t *)member == 0;
    case NTR_KEY_FLAG: return !*(const bool *)member;
    case NTR_KEY_CHOICE: return *(const uint8_t *)member == 0;
    case NTR_KEY_SET: return false;
    default: return *(const char *const *)member == NULL;
    }
}

static json_t *write_value(const struct ntr_key *key, const void *member) {
    const ntr_dialect *dialect;
    const char *word;
    uint64_t number;
    size_t length;

    switch (key->kind) {
    case NTR_KEY_NUMBER:
        number = ntr_member_get(member, 0, key->width);
        return number <= key->most && number <= INT64_MAX ? json_integer((json_int_t)number) : NULL;
    case NTR_KEY_ADDRESS: return address_text(*(const uint64_t *)member);
    case NTR_KEY_FLAG: return json_boolean(*(const bool *)member);
    case NTR_KEY_CHOICE:
        word = ntr_choice_at(key->words, *(const uint8_t *)member, &length);
        return word ? json_stringn(word, length) : NULL;
    case NTR_KEY_SET: return set_text(key, *(const unsigned *)member);
    case NTR_KEY_DIALECT:
        dialect = *(const ntr_dialect *const *)member;
        return json_string((dialect ? dialect : ntr_dialect_at(0))->name);
    default:
        word = *(const char *const *)member;
        return word && (!key->most || strlen(word) <= key->most) ? json_string(word) : NULL;
    }
}

ntr_status ntr_keys_write(const struct ntr_key *keys, const void *in, const char *where, json_t *object,
                          struct ntr_key_error *error) {
    for (const struct ntr_key *key = keys; key->name; key++) {
        const void *member = (const char *)in + key->member;
        bool there =
            key->has == NTR_KEY_ALWAYS ? !is_default(key, member) : *(const bool *)((const char *)in + key->has);
        if (!there && !key->required) continue;
        json_t *value = write_value(key, member);
        if (!value) return fail(error, NTR_E_INVALID, where, key->name, "value is out of its limits or missing");
        if (json_object_set_new(object, key->name, value))
            return fail(error, NTR_E_MEMORY, where, key->name, "out of memory");
    }
    return NTR_OK;
}
