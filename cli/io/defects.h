/* Reports of defects of a trace on standard error: file, byte offset, message, field, expected and found value. The
 * first ten defects are reported one by one, the others as a number. */
#ifndef CLI_IO_DEFECTS_H
#define CLI_IO_DEFECTS_H

#include <ntrace/message.h>
#include <stdbool.h>

struct cli_defects {
    const char *file;
    uint64_t count;
    bool silent;      /* the program is not the one that ran: this was reported, instead of each gap */
    bool (*explained)(void *user); /* NULL, or asked before the first gap is reported: whether it has reported that */
    void *user;
    const char *hint; /* NULL, or text appended to the summary */
};

/* Counts the defect of a message and reports it. */
void cli_defect_add(struct cli_defects *defects, const ntr_params *params, const ntr_message *message);

/* Counts a gap. Returns whether the caller should report it. */
bool cli_defect_count_gap(struct cli_defects *defects);

/* Returns what was expected instead of this defect, or NULL if `status` is not a defect of a message. */
const char *cli_defect_expected(ntr_status status);

/* Reports the number of defects if not all were reported. Returns CLI_DEFECTS if there were any, otherwise CLI_OK. */
int cli_defect_summary(const struct cli_defects *defects);

#endif
