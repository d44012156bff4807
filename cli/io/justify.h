/* --justify FILE: reasons for code that is not covered (ntrace/justification.h). */
#ifndef CLI_IO_JUSTIFY_H
#define CLI_IO_JUSTIFY_H

#include <ntrace/justification.h>

struct cli_justify {
    const char *path; /* NULL: no justifications */
    char *content;
    ntr_justifications *entries;
};

/* Reads the file; `path` NULL: no justifications. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_justify_read(struct cli_justify *justify, const char *path);

void cli_justify_release(struct cli_justify *justify);

#endif
