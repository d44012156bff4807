/* The profile of data addresses: loads and stores by symbol. */
#ifndef CLI_COMMANDS_PROFILE_DATA_H
#define CLI_COMMANDS_PROFILE_DATA_H

#include "commands/analysis.h"
#include "options/result.h"

/* Decodes the trace and writes the profile. `top`: number of rows; below 0: 40 as text, otherwise all. Returns a status
 * of the command. */
int cli_profile_data(const char *path, const struct cli_analysis_options *options, const struct cli_result *result,
                     int64_t top);

#endif
