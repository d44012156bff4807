/* Output of a profile as text, JSON lines or CSV. */
#ifndef CLI_COMMANDS_PROFILE_OUTPUT_H
#define CLI_COMMANDS_PROFILE_OUTPUT_H

#include "commands/shared/analysis.h"
#include "io/output.h"
#include "io/trace.h"
#include "options/options.h"

#include <ntrace/profile.h>

/* ---- The profile of data addresses: loads and stores by symbol. */

/* Decodes the trace and writes the profile. `top`: number of rows; below 0: 40 as text, otherwise all. Returns a status
 * of the command. */
int cli_profile_data(const char *path, const struct cli_analysis_options *options, const struct cli_result *result,
                     int64_t top);

struct cli_profile_writer {
    struct cli_output *out;
    ntr_profile_by by;
    const ntr_profile *profile;
    const struct cli_trace *trace; /* has the names of sources */
    const char *relation, *relative; /* callers, callees: "caller" or "callee", of this function; otherwise NULL */
    bool incomplete; /* the trace had gaps or damage */
    bool continues; /* the rows follow those of another profile: CSV has no second header */
};

/* Writes the first `top` rows. `top` -1: all rows, as text the first 40. */
void cli_profile_write(const struct cli_profile_writer *w, enum cli_format format, int64_t top);

#endif
