#include <ntrace/justification.h>

#include "base/allocator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ntr_justifications {
    const ntr_allocator *allocator;
    ntr_justification *items;
    size_t count, capacity;
    char error[160];
};

ntr_status ntr_justifications_new(const ntr_allocator *allocator, ntr_justifications **out) {
    *out = ntr_alloc(allocator, 1, sizeof **out);
    if (!*out) return NTR_E_MEMORY;
    (*out)->allocator = allocator;
    return NTR_OK;
}

void ntr_justifications_free(ntr_justifications *j) {
    if (!j) return;
    ntr_dealloc(j->allocator, j->items);
    ntr_dealloc(j->allocator, j);
}

const char *ntr_justifications_error(const ntr_justifications *j) {
    return j->error;
}

const ntr_justification *ntr_justifications_all(const ntr_justifications *j, size_t *count) {
    *count = j->count;
    return j->items;
}

/* ---- reading */

static ntr_status __attribute__((format(printf, 2, 3))) fail(ntr_justifications *j, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(j->error, sizeof j->error, format, arguments);
    va_end(arguments);
    return NTR_E_SYNTAX;
}

static ntr_status finish_entry(ntr_justifications *j, ntr_justification *entry) {
    if (!entry->line) return NTR_OK;
    if (!entry->function || !entry->text || !entry->reason)
        return fail(j, "%u: expected the three lines function, text and reason", entry->line);
    if (ntr_reserve(j->allocator, (void **)&j->items, &j->capacity, j->count + 1, sizeof *j->items))
        return NTR_E_MEMORY;
    j->items[j->count++] = *entry;
    *entry = (ntr_justification){0};
    return NTR_OK;
}

static ntr_status take_line(ntr_justifications *j, ntr_justification *entry, char *line, unsigned number) {
    static const char *const keys[] = {"function:", "text:", "reason:"};
    const char **values[] = {&entry->function, &entry->text, &entry->reason};

    line += strspn(line, " \t\r");
    if (*line == '#') return NTR_OK;
    if (!*line) return finish_entry(j, entry);
    if (!entry->line) entry->line = number;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t size = strlen(keys[i]);
        if (strncmp(line, keys[i], size) != 0) continue;
        if (*values[i]) return fail(j, "%u: %s twice in one entry", number, keys[i]);
        *values[i] = line + size + strspn(line + size, " \t");
        return NTR_OK;
    }
    return fail(j, "%u: expected function:, text: or reason:, found '%.40s'", number, line);
}

ntr_status ntr_justifications_read(ntr_justifications *j, char *content) {
    ntr_justification entry = {0};
    unsigned number = 1;
    ntr_status status = NTR_OK;

    for (char *line = content, *next; status == NTR_OK && line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        status = take_line(j, &entry, line, number);
    }
    return status == NTR_OK ? finish_entry(j, &entry) : status;
}

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* Compares two texts; sequences of blanks are equal, and those at the ends do not matter. */
static bool same_text(const char *a, const char *b) {
    while (blank(*a)) a++;
    while (blank(*b)) b++;
    for (;;) {
        bool gap_a = blank(*a), gap_b = blank(*b);
        while (blank(*a)) a++;
        while (blank(*b)) b++;
        if (!*a || !*b) return *a == *b;
        if (gap_a != gap_b || *a++ != *b++) return false;
    }
}

const char *ntr_justifications_find(ntr_justifications *j, const char *function, const char *text, bool covered) {
    const char *reason = NULL;

    for (size_t i = 0; i < j->count; i++) {
        ntr_justification *entry = &j->items[i];
        if (!function || strcmp(entry->function, function) != 0 || !same_text(entry->text, text)) continue;
        if (!covered)
            entry->state = NTR_JUSTIFICATION_USED;
        else if (entry->state == NTR_JUSTIFICATION_STALE)
            entry->state = NTR_JUSTIFICATION_COVERED;
        if (!reason) reason = entry->reason;
    }
    return reason;
}
