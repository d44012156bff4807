/* Object-code coverage as text and as JSON. */
#ifndef CLI_TEXT_OBJECT_TEXT_H
#define CLI_TEXT_OBJECT_TEXT_H

#include "io/output.h"

#include <ntrace/object_coverage.h>

struct cli_object_sums {
    uint64_t instructions, executed, outcomes, outcomes_seen;
};

/* Adds up all functions. */
struct cli_object_sums cli_object_sums(ntr_object_coverage *coverage);

/* Writes functions, ranges that were not executed with their disassembly, branches with an outcome that was not seen,
 * and the targets of indirect jumps and calls. Functions without an executed instruction have one line. */
void cli_object_text(struct cli_output *out, ntr_object_coverage *coverage, bool json, const char *quality);

#endif
