/* A header, the types and the strings (Documentation/bpf/btf.rst of Linux). A type is the offset of its name, a word
 * with its kind and a count (vlen), a size or type, and what follows for its kind. Types have no offsets: type n is
 * found by passing over n - 1 others. Members of a struct without a name are found by looking into each member without
 * a name, in turn. The number of these looks is limited, so that types that contain themselves come to an end. */
#include "program/btf.h"
#include "base/bytes.h"

#include <string.h>

enum {
    BTF_MAGIC = 0xeb9f,
    BTF_HEADER = 24,
    BTF_TYPE = 12,
    BTF_MEMBER = 12,
    BTF_DEPTH = 8,
    BTF_LOOKS = 256,
    BTF_PLACES = 64
};

enum {
    KIND_INT = 1,
    KIND_PTR,
    KIND_ARRAY,
    KIND_STRUCT,
    KIND_UNION,
    KIND_ENUM,
    KIND_FWD,
    KIND_TYPEDEF,
    KIND_VOLATILE,
    KIND_CONST,
    KIND_RESTRICT,
    KIND_FUNC,
    KIND_FUNC_PROTO,
    KIND_VAR,
    KIND_DATASEC,
    KIND_FLOAT,
    KIND_DECL_TAG,
    KIND_TYPE_TAG,
    KIND_ENUM64,
    KIND_COUNT
};

/* Bytes behind the type: `fixed`, and `each` for each of its vlen elements. */
static const struct {
    uint8_t fixed, each;
} sizes[KIND_COUNT] = {[KIND_INT] = {4, 0},
                       [KIND_ARRAY] = {12, 0},
                       [KIND_STRUCT] = {0, BTF_MEMBER},
                       [KIND_UNION] = {0, BTF_MEMBER},
                       [KIND_ENUM] = {0, 8},
                       [KIND_FUNC_PROTO] = {0, 8},
                       [KIND_VAR] = {4, 0},
                       [KIND_DATASEC] = {0, 12},
                       [KIND_DECL_TAG] = {4, 0},
                       [KIND_ENUM64] = {0, 12}};

struct types {
    ntr_bytes items, strings;
    unsigned looks;
};

static unsigned kind_of(const uint8_t *type) {
    return ntr_little_32(type + 4) >> 24 & 0x1f;
}

static uint32_t count_of(const uint8_t *type) {
    return ntr_little_32(type + 4) & 0xffff;
}

/* Bit 31: the offsets of the members have the width of a bit-field in bits 31:24. */
static bool has_widths(const uint8_t *type) {
    return ntr_little_32(type + 4) >> 31;
}

static bool is_named(const struct types *t, const uint8_t *item, const char *name) {
    const uint32_t at = ntr_little_32(item);
    const size_t size = strlen(name) + 1;

    return at < t->strings.size && t->strings.size - at >= size && memcmp(t->strings.data + at, name, size) == 0;
}

/* The bytes of the type at `at` and of what follows it; 0: the end, or a kind that is not known. */
static size_t size_at(const struct types *t, size_t at) {
    if (t->items.size - at < BTF_TYPE) return 0;
    const uint8_t *type = t->items.data + at;
    const unsigned kind = kind_of(type);
    if (!kind || kind >= KIND_COUNT) return 0;
    const size_t size = BTF_TYPE + sizes[kind].fixed + (size_t)sizes[kind].each * count_of(type);
    return size <= t->items.size - at ? size : 0;
}

static bool is_record(const uint8_t *type) {
    return kind_of(type) == KIND_STRUCT || kind_of(type) == KIND_UNION;
}

static const uint8_t *find_number(const struct types *t, uint32_t number) {
    size_t at = 0, size;

    for (; (size = size_at(t, at)) && number > 1; number--) at += size;
    return size && number ? t->items.data + at : NULL;
}

static const uint8_t *find_struct(const struct types *t, const char *name) {
    for (size_t at = 0, size; (size = size_at(t, at)); at += size) {
        const uint8_t *type = t->items.data + at;
        if (kind_of(type) == KIND_STRUCT && count_of(type) && is_named(t, type, name)) return type;
    }
    return NULL;
}

/* *offset is in bits. */
static bool find_member(struct types *t, const uint8_t *type, const char *name, unsigned depth, uint32_t *offset) {
    for (uint32_t i = 0; i < count_of(type); i++) {
        const uint8_t *member = type + BTF_TYPE + (size_t)i * BTF_MEMBER;
        const uint32_t place = ntr_little_32(member + 8), begin = has_widths(type) ? place & 0xffffff : place;
        if (is_named(t, member, name)) {
            *offset += begin;
            return !has_widths(type) || !(place >> 24);
        }
        if (ntr_little_32(member) || depth == BTF_DEPTH || t->looks++ == BTF_LOOKS) continue;
        const uint8_t *inner = find_number(t, ntr_little_32(member + 4));
        uint32_t inside = 0;
        if (!inner || !is_record(inner) || !find_member(t, inner, name, depth + 1, &inside)) continue;
        *offset += begin + inside;
        return true;
    }
    return false;
}

/* The types and strings that the header names, when all of them are there. */
static bool open_types(ntr_bytes bytes, struct types *t) {
    if (bytes.size < BTF_HEADER || (ntr_little_32(bytes.data) & 0xffffff) != (BTF_MAGIC | 1u << 16)) return false;
    const uint64_t header = ntr_little_32(bytes.data + 4), size = bytes.size;
    const uint64_t types = header + ntr_little_32(bytes.data + 8), types_end = types + ntr_little_32(bytes.data + 12);
    const uint64_t strings = header + ntr_little_32(bytes.data + 16),
                   strings_end = strings + ntr_little_32(bytes.data + 20);
    if (header < BTF_HEADER || types_end > size || strings_end > size || types == types_end || strings == strings_end)
        return false;
    *t = (struct types){
        {bytes.data + types, (size_t)(types_end - types)}, {bytes.data + strings, (size_t)(strings_end - strings)}, 0};
    return bytes.data[strings] == 0; /* the name of what has none */
}

bool ntr_btf_find(ntr_bytes image, ntr_bytes *types) {
    struct types t;
    unsigned places = 0; /* that begin as types; a hostile file may have very many */

    for (size_t at = 0; at + BTF_HEADER <= image.size && places < BTF_PLACES; at += 4) {
        const ntr_bytes rest = {image.data + at, image.size - at};
        if (!open_types(rest, &t)) continue;
        places++;
        if (!find_struct(&t, "task_struct")) continue;
        *types = rest;
        return true;
    }
    return false;
}

bool ntr_btf_member(ntr_bytes types, const char *structure, const char *member, uint32_t *offset) {
    struct types t;
    uint32_t bits = 0;

    if (!open_types(types, &t)) return false;
    const uint8_t *type = find_struct(&t, structure);
    if (!type || !find_member(&t, type, member, 0, &bits) || bits % 8) return false;
    *offset = bits / 8;
    return true;
}
