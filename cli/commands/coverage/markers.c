#include "commands/coverage/markers.h"

#include "options/diagnostics.h"

#include <stdlib.h>
#include <string.h>

/* What a marker does. Sections begin with the line of START and end before the line of STOP. */
static const struct {
    const char *name;
    uint8_t mark;
    enum { MARKER_ON_LINE, MARKER_START, MARKER_STOP } where;
} names[] = {
    {"EXCL_LINE", CLI_MARK_LINE, MARKER_ON_LINE},
    {"EXCL_START", CLI_MARK_LINE, MARKER_START},
    {"EXCL_STOP", CLI_MARK_LINE, MARKER_STOP},
    {"EXCL_BR_LINE", CLI_MARK_BRANCHES, MARKER_ON_LINE},
    {"EXCL_BR_START", CLI_MARK_BRANCHES, MARKER_START},
    {"EXCL_BR_STOP", CLI_MARK_BRANCHES, MARKER_STOP},
    {"UNREACHABLE_LINE", CLI_MARK_UNREACHABLE, MARKER_ON_LINE},
    {"UNREACHABLE_START", CLI_MARK_UNREACHABLE, MARKER_START},
    {"UNREACHABLE_STOP", CLI_MARK_UNREACHABLE, MARKER_STOP},
};

enum { MARKER_NAMES = sizeof names / sizeof *names };

/* Returns the index in `names` of the next marker at or after *at, and sets *at behind it; MARKER_NAMES: there is none.
 */
static size_t next_marker(const char **at, const char *end) {
    static const char *const tools[] = {"LCOV_", "GCOV_", "GCOVR_"};

    for (const char *p = *at; p < end; p++) {
        for (size_t t = 0; t < sizeof tools / sizeof *tools; t++) {
            const size_t size = strlen(tools[t]);
            if ((size_t)(end - p) < size || memcmp(p, tools[t], size) != 0) continue;
            const char *word = p + size;
            for (size_t i = 0; i < MARKER_NAMES; i++) {
                const size_t length = strlen(names[i].name);
                if (length > (size_t)(end - word) || memcmp(word, names[i].name, length) != 0) continue;
                *at = word + length;
                return i;
            }
        }
    }
    return MARKER_NAMES;
}

/* Reads the markers of a line; `sections`: the marks of the sections that it is in. Returns the marks of the line. */
static uint8_t read_line(struct cli_markers *markers, const char *at, const char *end, uint8_t *sections) {
    uint8_t marks = 0;

    for (size_t i; (i = next_marker(&at, end)) < MARKER_NAMES;) {
        const uint32_t line = (uint32_t)markers->count + 1;
        const bool inside = *sections & names[i].mark;
        if (names[i].where == MARKER_START) {
            if (inside && !markers->nested) markers->nested = line;
            *sections |= names[i].mark;
            markers->open = line;
        } else if (names[i].where == MARKER_STOP) {
            if (!inside && !markers->alone) markers->alone = line;
            *sections &= (uint8_t)~names[i].mark;
            if (!*sections) markers->open = 0;
        } else {
            marks |= names[i].mark;
        }
    }
    return marks | *sections;
}

int cli_markers_read(struct cli_markers *markers, ntr_bytes text) {
    const char *at = (const char *)text.data, *end = at + text.size;
    uint8_t sections = 0;

    markers->count = 0;
    markers->open = markers->nested = markers->alone = 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        if (markers->count == markers->capacity) {
            const size_t capacity = markers->capacity ? 2 * markers->capacity : 1024;
            uint8_t *lines = realloc(markers->lines, capacity);
            if (!lines) return cli_fail("out of memory");
            markers->lines = lines;
            markers->capacity = capacity;
        }
        const uint8_t marks = read_line(markers, at, stop, &sections);
        markers->lines[markers->count++] = marks;
        at = stop + (stop < end);
    }
    return CLI_OK;
}

void cli_markers_release(struct cli_markers *markers) {
    free(markers->lines);
    *markers = (struct cli_markers){0};
}
