#include "lines.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int cli_lines_open(struct cli_lines *lines, const char *path) {
    *lines = (struct cli_lines){.kept = malloc(CLI_LINE_MAX + 1)};
    if (!lines->kept) return cli_fail("out of memory");
    int status = cli_input_open(&lines->input, path);
    if (status != CLI_OK) free(lines->kept);
    return status;
}

/* Move bytes of the span to the line, up to a line feed. Returns whether the line is complete. */
static bool take(struct cli_lines *lines) {
    const uint8_t *feed = lines->span.size ? memchr(lines->span.data, '\n', lines->span.size) : NULL;
    size_t size = feed ? (size_t)(feed - lines->span.data) : lines->span.size;
    size_t passed = feed ? size + 1 : size;

    if (size > CLI_LINE_MAX - lines->used) {
        cli_note("%s: line %" PRIu64 ": expected at most %u characters, found more", lines->input.name, lines->number,
                 CLI_LINE_MAX);
        lines->failed = true;
        return false;
    }
    if (size) memcpy(lines->kept + lines->used, lines->span.data, size);
    lines->used += size;
    lines->span.data += passed;
    lines->span.size -= passed;
    return feed != NULL;
}

char *cli_lines_next(struct cli_lines *lines) {
    lines->number++;
    lines->used = 0;
    while (!take(lines)) {
        if (lines->failed) return NULL;
        if (lines->last) {
            if (lines->used == 0) return NULL;
            break;
        }
        int status = cli_input_next(&lines->input, &lines->span, &lines->last);
        lines->failed = status != CLI_OK || lines->input.damaged;
        if (lines->failed) return NULL;
    }
    if (lines->used && lines->kept[lines->used - 1] == '\r') lines->used--;
    lines->kept[lines->used] = 0;
    return lines->kept;
}

void cli_lines_close(struct cli_lines *lines) {
    cli_input_close(&lines->input);
    free(lines->kept);
    *lines = (struct cli_lines){.input.fd = -1};
}
