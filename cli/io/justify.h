/* Justifications: reasons for code that is not covered (docs/coverage.md, "Justifications"). */
#ifndef CLI_IO_JUSTIFY_H
#define CLI_IO_JUSTIFY_H

#include <stdbool.h>
#include <stddef.h>

enum cli_justify_state { CLI_JUSTIFY_STALE, CLI_JUSTIFY_COVERED, CLI_JUSTIFY_USED };

/* One entry of the file. */
struct cli_justification {
    const char *function, *text, *reason; /* owned by the file */
    unsigned line;                        /* of the entry in the file */
    enum cli_justify_state state;         /* stale: no such text; covered: what it justifies is covered; used */
};

struct cli_justify {
    const char *path;
    char *content;
    struct cli_justification *items;
    size_t count, capacity;
};

/* Reads the file; `path` NULL: no justifications. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_justify_read(struct cli_justify *justify, const char *path);

/* Looks for an entry of the function and text (blanks at both ends and several blanks do not matter) and notes whether
 * it is needed. Returns the reason if there is one, else NULL. */
const char *cli_justify_find(struct cli_justify *justify, const char *function, const char *text, bool covered);

void cli_justify_release(struct cli_justify *justify);

#endif
