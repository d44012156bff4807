/* The answers of `profile` that are made from one analysis. */
#ifndef CLI_COMMANDS_PROFILE_ANSWERS_H
#define CLI_COMMANDS_PROFILE_ANSWERS_H

#include "commands/shared/analysis.h"
#include "options/options.h"

#include <ntrace/machine.h>
#include <ntrace/profile.h>

struct profile_options {
    struct cli_analysis_options analysis;
    struct cli_result result;
    int by; /* ntr_profile_by, or another kind of rows */
    int64_t top;
    int sort;
    struct cli_list annotate;
    const char *callers, *callees;
};

static inline bool profile_has_relatives(const struct profile_options *o) {
    return o->callers || o->callees;
}

/* Write the document that the options want: from the tally or the tree of the analysis, and from the machine. `status`
 * is the exit status so far. Return the exit status. */
int cli_profile_answer(struct cli_analysis *a, const struct profile_options *o, int status);
int cli_profile_machine(struct cli_analysis *a, const struct profile_options *o, const ntr_machine *machine,
                        int status);

#endif
