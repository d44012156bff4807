/* Text in the form of /proc/kallsyms and System.map. */
#include "program/kallsyms.h"

#include <stdbool.h>
#include <string.h>

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
