/* profile --annotate: functions instruction by instruction, below the source lines they were compiled from. */
#ifndef CLI_TEXT_ANNOTATE_H
#define CLI_TEXT_ANNOTATE_H

#include "options/options.h"
#include "io/output.h"
#include "options/result.h"

#include <ntrace/export.h>

struct cli_annotate_options {
    const struct cli_list *functions; /* items whose value is NULL: the hottest */
    enum cli_format format;
    int64_t top; /* how many of the hottest; -1: 10 as text, else all */
};

/* Needs the tally. Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_annotate(const ntr_analysis *answers, const struct cli_annotate_options *options, struct cli_output *out);

#endif
