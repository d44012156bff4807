/* Comments that exclude lines from coverage: LCOV_EXCL_*, GCOV_EXCL_* and GCOVR_EXCL_*, as lcov and gcovr read them:
 * anywhere in a line, also inside of other words. */
#ifndef CLI_COMMANDS_COVERAGE_MARKERS_H
#define CLI_COMMANDS_COVERAGE_MARKERS_H

#include <ntrace/bytes.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The marks of the lines of one source. */
struct cli_markers {
    uint8_t *lines; /* CLI_MARK_... of line number i + 1 */
    size_t count, capacity;
    uint32_t open;   /* line of a START without a STOP; its section ends with the file. 0: none */
    uint32_t nested; /* first line of a START inside of a section, which ends it with the first STOP, as in lcov 1. 0:
                        none */
    uint32_t alone;  /* first line of a STOP outside of a section. 0: none */
};

enum { CLI_MARK_LINE = 1, CLI_MARK_BRANCHES = 2, CLI_MARK_UNREACHABLE = 4 };

/* Reads the comments of a source. Returns CLI_OK, or CLI_FAILED after reporting a lack of memory. */
int cli_markers_read(struct cli_markers *markers, ntr_bytes text);

/* Returns the marks of a line. */
static inline unsigned cli_markers_of(const struct cli_markers *markers, uint32_t line) {
    return line && line <= markers->count ? markers->lines[line - 1] : 0;
}

void cli_markers_release(struct cli_markers *markers);

#endif
