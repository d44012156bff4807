#include "io/justify.h"

#include "io/input.h"
#include "options/diagnostics.h"

#include <stdlib.h>
#include <string.h>

static int read_content(struct cli_justify *j) {
    size_t used;

    j->content = cli_input_limited(j->path, CLI_LIMIT_JUSTIFICATIONS, &used);
    if (!j->content) return CLI_FAILED;
    if (strlen(j->content) != used) return cli_fail("%s: not a text file", j->path);
    return CLI_OK;
}

static int finish_entry(struct cli_justify *j, struct cli_justification *entry) {
    if (!entry->line) return CLI_OK;
    if (!entry->function || !entry->text || !entry->reason)
        return cli_fail("%s:%u: expected the three lines function, text and reason", j->path, entry->line);
    if (j->count == j->capacity) {
        size_t capacity = j->capacity ? 2 * j->capacity : 16;
        struct cli_justification *items = realloc(j->items, capacity * sizeof *items);
        if (!items) return cli_fail("out of memory");
        j->items = items;
        j->capacity = capacity;
    }
    j->items[j->count++] = *entry;
    *entry = (struct cli_justification){0};
    return CLI_OK;
}

static int take_line(struct cli_justify *j, struct cli_justification *entry, char *line, unsigned number) {
    static const char *const keys[] = {"function:", "text:", "reason:"};
    const char **values[] = {&entry->function, &entry->text, &entry->reason};

    line += strspn(line, " \t\r");
    if (*line == '#') return CLI_OK;
    if (!*line) return finish_entry(j, entry);
    if (!entry->line) entry->line = number;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t size = strlen(keys[i]);
        if (strncmp(line, keys[i], size) != 0) continue;
        if (*values[i]) return cli_fail("%s:%u: %s twice in one entry", j->path, number, keys[i]);
        *values[i] = line + size + strspn(line + size, " \t");
        return CLI_OK;
    }
    return cli_fail("%s:%u: expected function:, text: or reason:, found '%.40s'", j->path, number, line);
}

int cli_justify_read(struct cli_justify *j, const char *path) {
    struct cli_justification entry = {0};
    unsigned number = 1;

    *j = (struct cli_justify){.path = path};
    if (!path) return CLI_OK;
    int status = read_content(j);
    for (char *line = j->content, *next; status == CLI_OK && line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        status = take_line(j, &entry, line, number);
    }
    return status == CLI_OK ? finish_entry(j, &entry) : status;
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

const char *cli_justify_find(struct cli_justify *j, const char *function, const char *text, bool covered) {
    const char *reason = NULL;

    for (size_t i = 0; i < j->count; i++) {
        struct cli_justification *entry = &j->items[i];
        if (!function || strcmp(entry->function, function) != 0 || !same_text(entry->text, text)) continue;
        if (!covered)
            entry->state = CLI_JUSTIFY_USED;
        else if (entry->state == CLI_JUSTIFY_STALE)
            entry->state = CLI_JUSTIFY_COVERED;
        if (!reason) reason = entry->reason;
    }
    return reason;
}

void cli_justify_release(struct cli_justify *j) {
    free(j->content);
    free(j->items);
    *j = (struct cli_justify){0};
}
