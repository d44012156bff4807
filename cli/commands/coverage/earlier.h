/* Compares a coverage with the evidence of an earlier campaign (docs/coverage.md, "Campaigns"). */
#ifndef CLI_COMMANDS_COVERAGE_EARLIER_H
#define CLI_COMMANDS_COVERAGE_EARLIER_H

#include "io/output.h"

#include <ntrace/coverage.h>
#include <ntrace/decision.h>

struct cli_earlier_sums {
    uint64_t lost, gained, compared; /* lines and decisions */
};

/* Writes what was covered in the evidence of folder `earlier` and is not any more, and what is now. Lines of sources
 * that have changed since are not compared. `decisions` may be NULL. Returns CLI_OK, or CLI_FAILED after reporting the
 * error. */
int cli_earlier_compare(const char *earlier, ntr_coverage *coverage, const ntr_decisions *decisions,
                        struct cli_output *out, struct cli_earlier_sums *sums);

#endif
