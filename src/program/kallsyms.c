/* The symbol tables inside a Linux kernel.
 *
 * Names are compressed: each is a list of numbers of tokens, and a token is a short text. Nothing in a kernel image
 * says where the tables are, but their parts follow each other and confirm each other. Each part starts at a multiple
 * of the size of an address, from Linux 7.0 on at a multiple of 4:
 *
 *   [offsets, relative base]  before Linux 6.4: 32-bit offsets of all symbols; the address to which they are added
 *   count                     32 bits: number of symbols
 *   names                     for each symbol: number of tokens (one byte; two with bit 7 set), then the tokens
 *   markers                   32 bits each: position in `names` of every 256th symbol
 *   token table               256 strings
 *   token index               16 bits each: position of every string in the token table
 *   [offsets, relative base]  from Linux 6.4 on
 *   [places]                  from Linux 7.0 on: for each symbol its distance from this very word, 32 bits with a sign;
 * of 32-bit kernels that are not relocatable its address
 *
 * The search is for the token table: the tokens '0' to '9' are digits themselves in every kernel. The token index must
 * then describe it exactly; markers are read backwards up to the first, which is 0; the count must agree with their
 * number, and `names` of so many symbols must end where the markers begin. The first byte of a decompressed name is its
 * type.
 *
 * Places do not say where the kernel is linked. Its data does: an empty list of the kernel is two pointers to itself.
 * Where a symbol's first two words are equal, and are such pointers, they tell the address of the image; most of them
 * must agree. */
#include "program/kallsyms.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

enum { TOKENS = 256, MARKED = 256, DIGITS_BYTES = 20, KALLSYMS_MAX = 1 << 24, TOKEN_TABLE_MAX = 1 << 16 };
enum { TRIES_MAX = 16 }; /* token tables for which names are searched: bounds the time of a hostile image */
enum { LISTS_LEAST = 8, KERNEL_PAGE = 4096 };

struct tables {
    ntr_bytes image;
    unsigned word, alignment; /* bytes of an address; of what each part is a multiple */
    size_t tokens, token_end; /* token table: offset of its first byte, of the one after it */
    uint16_t index[TOKENS];   /* positions of the strings in the token table */
    size_t after;             /* end of the token index */
    size_t markers, marker_count, names, count_at;
    uint32_t count;
    size_t offsets; /* of the 32-bit offsets */
    bool places;    /* they are places */
    uint64_t base;
    unsigned tries;
};

static uint64_t read_at(const struct tables *t, size_t at, unsigned bytes) {
    return ntr_little(t->image.data + at, bytes);
}

static size_t align(const struct tables *t, size_t at) {
    return (at + t->alignment - 1) & ~(size_t)(t->alignment - 1);
}

/* ---- tokens */

/* Returns the offset of the string that is `count` strings before the one at `at`, or 0. */
static size_t strings_before(const struct tables *t, size_t at, unsigned count) {
    const size_t least = at > TOKEN_TABLE_MAX ? at - TOKEN_TABLE_MAX : 1;
    if (at == 0 || t->image.data[at - 1] != 0) return 0;
    while (count && at > least) {
        at--; /* the NUL of the string before */
        while (at > least && t->image.data[at - 1] != 0) at--;
        count--;
    }
    return count ? 0 : at;
}

/* Stores the positions of the strings. Returns false when they are not inside the image. */
static bool index_tokens(struct tables *t) {
    size_t at = t->tokens;
    for (unsigned i = 0; i < TOKENS; i++) {
        const uint8_t *end = at < t->image.size ? memchr(t->image.data + at, 0, t->image.size - at) : NULL;
        if (!end || at - t->tokens >= TOKEN_TABLE_MAX) return false;
        t->index[i] = (uint16_t)(at - t->tokens);
        at = (size_t)(end - t->image.data) + 1;
    }
    t->token_end = at;
    return true;
}

static bool has_token_index(struct tables *t) {
    size_t at = align(t, t->token_end);
    t->after = at + 2 * TOKENS;
    if (t->after > t->image.size) return false;
    for (unsigned i = 0; i < TOKENS; i++)
        if (read_at(t, at + 2 * i, 2) != t->index[i]) return false;
    return true;
}

/* ---- names */

/* Stores the number of tokens of the name at *at and moves *at to the first one. */
static bool take_length(const struct tables *t, size_t *at, size_t end, size_t *length) {
    if (*at >= end) return false;
    *length = t->image.data[(*at)++];
    if (*length & 0x80) {
        if (*at >= end) return false;
        *length = (*length & 0x7f) | (size_t)t->image.data[(*at)++] << 7;
    }
    return *length && *length <= end - *at;
}

/* Markers are in ascending order; the first is 0, and comes after the end of the names. */
static bool find_markers(struct tables *t) {
    size_t at = t->tokens & ~(size_t)3;
    uint64_t above = UINT32_MAX;
    while (at >= 4 && read_at(t, at - 4, 4) == 0) at -= 4; /* padding */
    for (t->marker_count = 0; at >= 4; t->marker_count++) {
        uint64_t marker = read_at(t, at -= 4, 4);
        if (marker >= above) return false;
        above = marker;
        if (marker != 0) continue;
        t->markers = at;
        t->marker_count++;
        return at % t->alignment == 0;
    }
    return false;
}

/* Returns whether `count` names starting at `at` end at the markers and agree with them. */
static bool names_fit(const struct tables *t, size_t names, uint32_t count) {
    size_t at = names, length;
    for (uint32_t i = 0; i < count; i++) {
        if (i % MARKED == 0 && read_at(t, t->markers + 4 * (size_t)(i / MARKED), 4) != at - names) return false;
        if (!take_length(t, &at, t->markers, &length)) return false;
        at += length;
    }
    return align(t, at) == t->markers;
}

/* The names end just before the markers. Their beginning is not known: the last marker says where the last names begin,
 * if they began at X. Each X with a plausible count before it is tried, from the last possible one down. */
static bool find_names(struct tables *t) {
    const uint64_t last = read_at(t, t->markers + 4 * (t->marker_count - 1), 4);
    const uint64_t most = (uint64_t)MARKED * t->marker_count;
    if (last >= t->markers) return false;
    for (size_t x = (t->markers - (size_t)last) & ~(size_t)(t->alignment - 1); x >= t->alignment; x -= t->alignment) {
        if (t->markers - x > last + (uint64_t)MARKED * NTR_KALLSYMS_NAME_MAX) return false;
        uint64_t count = read_at(t, x - t->alignment, 4);
        if (count > most || count <= most - MARKED || count > KALLSYMS_MAX || !names_fit(t, x, (uint32_t)count))
            continue;
        t->names = x;
        t->count = (uint32_t)count;
        t->count_at = x - t->alignment;
        return true;
    }
    return false;
}

/* ---- addresses */

static uint64_t symbol_address(const struct tables *t, uint32_t i) {
    const size_t at = t->offsets + 4 * (size_t)i;
    const uint64_t value = read_at(t, at, 4);
    const uint64_t address = t->base + (t->places ? at + (uint64_t)(int64_t)(int32_t)value : value);
    return t->word == 4 ? (uint32_t)address : address;
}

/* Are there offsets at `at`, in the order of the symbols? They are relative to the base or to the image as yet. */
static bool has_offsets(struct tables *t, size_t at, bool places) {
    uint64_t before = 0;
    if (at > t->image.size || 4 * (size_t)t->count > t->image.size - at) return false;
    t->offsets = at;
    t->places = places;
    t->base = 0;
    if (places && symbol_address(t, 0) > t->image.size) return false;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint64_t address = symbol_address(t, i);
        if (address < before) return false;
        before = address;
    }
    return before != 0;
}

/* Their base follows them, and is the address of the first symbol. */
static bool take_offsets(struct tables *t, size_t at) {
    const size_t size = align(t, 4 * (size_t)t->count);
    if (at > t->image.size || size + t->word > t->image.size - at || !has_offsets(t, at, false)) return false;
    if (read_at(t, at, 4) != 0) return false;
    t->base = read_at(t, at + size, t->word);
    return true;
}

/* Is symbol `i` an empty list? Stores the address that the beginning of the image has then. */
static bool tells_base(const struct tables *t, uint32_t i, uint64_t *base) {
    const uint64_t at = symbol_address(t, i);
    if (at % t->word || at > t->image.size || 2 * t->word > t->image.size - at) return false;
    const uint64_t next = read_at(t, (size_t)at, t->word), previous = read_at(t, (size_t)at + t->word, t->word);
    *base = next - at;
    return next && next == previous && *base % KERNEL_PAGE == 0;
}

/* The base on which more than half of the lists agree: first the one that may have them, then their number. */
static bool find_base(struct tables *t) {
    uint64_t base = 0, found;
    uint32_t lead = 0, lists = 0, agree = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (!tells_base(t, i, &found)) continue;
        if (!lead) base = found;
        lead += found == base ? 1u : -1u;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (!tells_base(t, i, &found)) continue;
        lists++;
        agree += found == base;
    }
    t->base = base;
    return agree >= LISTS_LEAST && agree > lists / 2;
}

static bool find_offsets(struct tables *t) {
    const size_t size = align(t, 4 * (size_t)t->count) + t->word, after = align(t, t->after);
    const bool is_old = t->alignment == t->word;
    if (is_old && take_offsets(t, after)) return true;
    if (t->alignment == 4 && has_offsets(t, after, true)) return find_base(t);
    if (t->alignment == 4 && t->word == 4 && has_offsets(t, after, false)) return true;
    return is_old && t->count_at >= size && take_offsets(t, t->count_at - size);
}

/* ---- */

/* Decompresses the name at `at`. Returns its length, with the type; 0: not valid. */
static size_t expand(const struct tables *t, size_t *at, char *name) {
    size_t length, used = 0;
    if (!take_length(t, at, t->markers, &length)) return 0;
    for (size_t i = 0; i < length; i++) {
        const char *token = (const char *)t->image.data + t->tokens + t->index[t->image.data[*at + i]];
        size_t size = strlen(token);
        if (size > NTR_KALLSYMS_NAME_MAX - 1 - used) size = NTR_KALLSYMS_NAME_MAX - 1 - used;
        memcpy(name + used, token, size);
        used += size;
    }
    *at += length;
    name[used] = 0;
    return used;
}

static ntr_status deliver(const struct tables *t, ntr_kallsyms_take take, void *user) {
    char name[NTR_KALLSYMS_NAME_MAX];
    size_t at = t->names;
    for (uint32_t i = 0; i < t->count; i++) {
        size_t length = expand(t, &at, name);
        if (length < 2) continue;
        if (take(user, symbol_address(t, i), name[0], name + 1)) return NTR_E_MEMORY;
    }
    return NTR_OK;
}

static bool are_tables(struct tables *t, size_t digits) {
    t->tokens = strings_before(t, digits, '0');
    if (!t->tokens || !index_tokens(t)) return false;
    for (t->alignment = t->word; t->alignment >= 4; t->alignment -= 4) {
        if (!has_token_index(t) || !find_markers(t)) continue;
        t->tries++;
        if (find_names(t) && find_offsets(t)) return true;
    }
    return false;
}

ntr_status ntr_kallsyms_tables(ntr_bytes image, unsigned word, ntr_kallsyms_take take, void *user) {
    static const char digits[DIGITS_BYTES] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009";
    struct tables t = {.image = image, .word = word};
    const uint8_t *at = image.data, *end = image.size ? at + image.size : at;
    while (at && t.tries < TRIES_MAX && (at = memmem(at, (size_t)(end - at), digits, DIGITS_BYTES))) {
        if (are_tables(&t, (size_t)(at - image.data))) return deliver(&t, take, user);
        at++;
    }
    return NTR_END;
}

/* ---- Text in the form of /proc/kallsyms and System.map. */

static unsigned digit_of(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* One line, without its end. */
struct line {
    uint64_t address;
    char type;
    char name[NTR_KALLSYMS_NAME_MAX];
};

static bool is_letter(char c) {
    c |= 0x20;
    return c >= 'a' && c <= 'z';
}

/* Copies NAME, and MODULE in brackets after one blank. */
static bool take_name(const char *at, const char *end, struct line *line) {
    size_t used = 0;
    while (at < end && *at != ' ' && *at != '\t' && used < sizeof line->name - 1) line->name[used++] = *at++;
    if (!used) return false;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    if (at == end || *at != '[') {
        line->name[used] = 0;
        return at == end;
    }
    size_t rest = (size_t)(end - at);
    if (rest > sizeof line->name - used - 2) return false;
    line->name[used++] = ' ';
    memcpy(line->name + used, at, rest);
    line->name[used + rest] = 0;
    return true;
}

static bool parse(const char *at, const char *end, struct line *line) {
    const char *first = at;
    line->address = 0;
    for (; at < end && digit_of(*at) < 16; at++) {
        if (line->address >> 60) return false;
        line->address = line->address << 4 | digit_of(*at);
    }
    if (at == first || end - at < 4 || at[0] != ' ' || !is_letter(at[1]) || at[2] != ' ') return false;
    line->type = at[1];
    return take_name(at + 3, end, line);
}

ntr_status ntr_kallsyms_text(ntr_bytes text, ntr_kallsyms_take take, void *user, size_t *number) {
    const char *at = (const char *)text.data, *end = text.size ? at + text.size : at;
    struct line line = {0};
    for (*number = 1; at < end; ++*number) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) break;
        const char *last = stop > at && stop[-1] == '\r' ? stop - 1 : stop;
        if (last > at && (memchr(at, 0, (size_t)(last - at)) || !parse(at, last, &line))) return NTR_E_FORMAT;
        if (last > at && take(user, line.address, line.type, line.name)) return NTR_E_MEMORY;
        at = stop + 1;
    }
    return NTR_OK;
}
