/* What is wrong with a trace, told on standard error: file, byte offset, message, field, what was expected
 * and what was found. The first ones are told one by one, the rest as a number. */
#ifndef CLI_IO_DEFECTS_H
#define CLI_IO_DEFECTS_H

#include <ntrace/message.h>

struct cli_defects {
    const char *file;
    uint64_t count;
    const char *hint; /* NULL, or the end of the line that tells of many */
};

/* Count the message's defect and tell it. */
void cli_defect_add(struct cli_defects *defects, const ntr_params *params, const ntr_message *message);

/* Whether one more is to be told; counts it. For defects that are not a message's. */
bool cli_defect_count(struct cli_defects *defects);

/* What a message with this defect should have had; NULL for a defect that is not a message's. */
const char *cli_defect_expected(ntr_status status);

/* Tell how many were not told one by one. Returns CLI_DEFECTS when there were any, else CLI_OK. */
int cli_defect_summary(const struct cli_defects *defects);

#endif
