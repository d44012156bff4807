#include "io/justify.h"

#include "io/input.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <stdlib.h>
#include <string.h>

int cli_justify_read(struct cli_justify *j, const char *path) {
    size_t used;

    *j = (struct cli_justify){.path = path};
    if (ntr_justifications_new(&cli_memory, &j->entries) != NTR_OK) return cli_fail("out of memory");
    if (!path) return CLI_OK;
    j->content = cli_input_limited(j->path, CLI_LIMIT_JUSTIFICATIONS, &used);
    if (!j->content) return CLI_FAILED;
    if (strlen(j->content) != used) return cli_fail("%s: not a text file", j->path);
    const ntr_status status = ntr_justifications_read(j->entries, j->content);
    if (status == NTR_E_SYNTAX) return cli_fail("%s:%s", j->path, ntr_justifications_error(j->entries));
    return status == NTR_OK ? CLI_OK : cli_fail("out of memory");
}

void cli_justify_release(struct cli_justify *j) {
    ntr_justifications_free(j->entries);
    free(j->content);
    *j = (struct cli_justify){0};
}
