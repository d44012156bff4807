/* Output of `ntrace profile --annotate`: the instructions of functions below their source lines, with execution
 * counts. */
#ifndef CLI_TEXT_ANNOTATE_H
#define CLI_TEXT_ANNOTATE_H

#include "options/options.h"
#include "io/output.h"

#include <ntrace/export.h>

struct cli_annotate_options {
    const struct cli_list *functions; /* names; NULL: the functions with the most instructions */
    enum cli_format format;
    int64_t top; /* number of functions for a NULL name; -1: 10 as text, otherwise all */
};

/* Writes the output. Requires the tally of `analysis`. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_annotate(const ntr_analysis *analysis, const struct cli_annotate_options *options, struct cli_output *out);

#endif
