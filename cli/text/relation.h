/* Whether two executions are of builds of one program, by the functions that they share. */
#ifndef CLI_TEXT_RELATION_H
#define CLI_TEXT_RELATION_H

#include <ntrace/costs.h>

enum cli_relation {
    CLI_SAME_PROGRAM,    /* nothing speaks against it */
    CLI_PROGRAM_UNKNOWN, /* of the functions whose source file is known, none or only `main` is shared */
    CLI_OTHER_PROGRAM,
};

struct cli_relation_why {
    const char *names[2]; /* of the images of A and B, where these differ, otherwise NULL; they belong to the changes */
    const char *reason; /* of CLI_OTHER_PROGRAM; of CLI_PROGRAM_UNKNOWN, or NULL: the images have other names */
};

enum cli_relation cli_relation_of(const ntr_cost_changes *changes, struct cli_relation_why *why);

#endif
