#include "base/bytes.h"
#include "analysis/names.h"

#include "analysis/demangle.h"
#include "base/allocator.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t hash(const char *text) {
    const uint64_t value = ntr_hash_text(NTR_HASH_START, text);
    return (size_t)(value ^ value >> 32);
}

static ntr_demangled_name *slot_of(ntr_demangled_name *slots, size_t capacity, const char *linkage) {
    size_t at = hash(linkage) & (capacity - 1);
    while (slots[at].linkage && strcmp(slots[at].linkage, linkage) != 0) at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static int grow(ntr_names *names) {
    size_t capacity = names->capacity ? names->capacity * 2 : 256;
    ntr_demangled_name *slots = ntr_alloc(names->allocator, capacity, sizeof *slots);
    if (!slots) return -1;
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].linkage) *slot_of(slots, capacity, names->slots[i].linkage) = names->slots[i];
    ntr_dealloc(names->allocator, names->slots);
    names->slots = slots;
    names->capacity = capacity;
    return 0;
}

const char *ntr_names_get(ntr_names *names, const char *linkage) {
    if (!linkage || linkage[0] != '_') return linkage;
    if (names->count * 2 >= names->capacity && grow(names) != 0) return linkage;
    ntr_demangled_name *slot = slot_of(names->slots, names->capacity, linkage);
    if (!slot->linkage) {
        *slot = (ntr_demangled_name){linkage, ntr_demangle(linkage, names->most, &names->large)};
        names->count++;
    }
    return slot->text ? slot->text : linkage;
}

void ntr_names_release(ntr_names *names) {
    for (size_t i = 0; i < names->capacity; i++) free(names->slots[i].text);
    ntr_dealloc(names->allocator, names->slots);
    *names = (ntr_names){.allocator = names->allocator, .most = names->most};
}

bool ntr_linkage_is_lambda(const char *linkage) {
    static const char digits[] = "0123456789";
    const char *closure = strncmp(linkage, "_Z", 2) == 0 ? strstr(linkage, "Ul") : NULL;
    for (const char *at = closure ? strstr(closure, "E") : NULL; at; at = strstr(at + 1, "E")) {
        const char *end = at + 1 + strspn(at + 1, digits);
        if (strncmp(end, "_cl", 3) == 0) return true;
    }
    for (const char *at = strncmp(linkage, "_Z", 2) == 0 ? strstr(linkage, "$_") : NULL; at; at = strstr(at + 1, "$_"))
        if (strncmp(at + 2 + strspn(at + 2, digits), "cl", 2) == 0) return true;
    return false;
}

void ntr_name_plain(const char *name, char plain[NTR_NAME_PLAIN_MAX]) {
    static const char is_operator[] = "operator";
    size_t depth = 0, length = 0;
    for (const char *at = name; *at; at++) {
        const bool top = depth == 0;
        if (top && length + 1 < NTR_NAME_PLAIN_MAX && strncmp(at, is_operator, sizeof is_operator - 1) == 0 &&
            (at == name || strchr(": ", at[-1]))) {
            const char *end = at + sizeof is_operator - 1;
            end += strncmp(end, "()", 2) == 0 ? 2 : strspn(end, "<>=-+*/%&|^!~,[]");
            while (at < end && length + 1 < NTR_NAME_PLAIN_MAX) plain[length++] = *at++;
            at = end - 1;
            continue;
        }
        if (strchr("<([", *at)) depth++;
        if (depth == 0 && *at == ' ') {
            if (strncmp(at, " const", 6) == 0 || strncmp(at, " [", 2) == 0 || strncmp(at, " &", 2) == 0) break;
            length = 0; /* the type of the result */
        } else if (depth == 0 && length + 1 < NTR_NAME_PLAIN_MAX) {
            plain[length++] = *at;
        }
        if (depth && strchr(">)]", *at)) depth--;
    }
    plain[length] = '\0';
}

size_t ntr_name_lambda(const char *name, const char **part) {
    static const char call[] = "::operator()";
    const char *end = NULL, *begin;
    for (const char *at = name; (at = strstr(at, call)); at++) end = at;
    if (!end || end == name) return 0;
    for (begin = end; begin > name && *begin != (end[-1] == '}' ? '{' : '$');) begin--;
    *part = begin;
    const bool lambda = strncmp(begin, "{lambda", strlen("{lambda")) == 0;
    return lambda || strspn(begin, "$_0123456789") == (size_t)(end - begin) ? (size_t)(end - begin) : 0;
}
