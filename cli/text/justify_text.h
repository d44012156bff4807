/* What is not covered, divided into justified and unjustified, and the entries that are stale. */
#ifndef CLI_TEXT_JUSTIFY_TEXT_H
#define CLI_TEXT_JUSTIFY_TEXT_H

#include "io/justify.h"
#include "io/output.h"
#include "io/source_text.h"

#include <ntrace/coverage.h>
#include <ntrace/decision.h>
#include <stdint.h>

struct cli_justified {
    uint64_t justified, unjustified; /* lines, or decisions, that are not covered */
};

/* Compares the lines (`decisions` NULL) or the decisions of a level with the justifications, and writes the result to
 * `out` (NULL: only counts). */
struct cli_justified cli_justify_text(struct cli_output *out, struct cli_justify *justify, ntr_coverage *coverage,
                                      const ntr_decisions *decisions, ntr_decision_level level,
                                      struct cli_source_text *source);

/* Writes the entries that are stale, after all that they may justify was compared. */
void cli_justify_entries(struct cli_output *out, const struct cli_justify *justify);

#endif
