#include "io/lines.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int cli_lines_open(struct cli_lines *lines, const char *path) {
    *lines = (struct cli_lines){.partial = malloc(CLI_LINE_MAX)};
    if (!lines->partial) return cli_fail("out of memory");
    int status = cli_input_open(&lines->input, path);
    if (status != CLI_OK) free(lines->partial);
    return status;
}

/* Takes the rest of the line from the piece. Returns whether the piece contains the end of the line. */
static bool take(struct cli_lines *lines, const char **text, size_t *length) {
    *text = (const char *)lines->piece.data;
    *length = lines->piece.size;
    const char *end = *length ? memchr(*text, '\n', *length) : NULL;
    if (end) *length = (size_t)(end - *text);
    size_t consumed = *length + (end != NULL);
    if (consumed) lines->piece.data += consumed;
    lines->piece.size -= consumed;
    return end != NULL;
}

/* Appends a part to a line that continues over spans. Returns false after reporting that it is too long. */
static bool append(struct cli_lines *lines, size_t *used, const char *text, size_t length) {
    if (length > CLI_LINE_MAX - *used) {
        cli_note("%s: line %" PRIu64 ": expected at most %u characters, found more", lines->input.name, lines->number,
                 CLI_LINE_MAX);
        lines->failed = true;
        return false;
    }
    if (length) memcpy(lines->partial + *used, text, length);
    *used += length;
    return true;
}

static bool refill(struct cli_lines *lines) {
    int status = cli_input_next(&lines->input, &lines->piece, &lines->last);

    lines->failed = status != CLI_OK || lines->input.damaged;
    return !lines->failed;
}

bool cli_lines_next(struct cli_lines *lines, const char **text, size_t *length) {
    size_t used = 0;

    lines->number++;
    while (!take(lines, text, length)) {
        if (!append(lines, &used, *text, *length)) return false;
        *length = 0;
        if (lines->last) break;
        if (!refill(lines)) return false;
    }
    bool in_span = used == 0 && *length <= CLI_LINE_MAX;
    if (!in_span) {
        if (!append(lines, &used, *text, *length)) return false;
        *text = lines->partial;
        *length = used;
    }
    bool ended = lines->last && lines->piece.size == 0 && *length == 0;
    if (*length && (*text)[*length - 1] == '\r') --*length;
    return !ended;
}

void cli_lines_close(struct cli_lines *lines) {
    cli_input_close(&lines->input);
    free(lines->partial);
    *lines = (struct cli_lines){.input.fd = -1};
}
