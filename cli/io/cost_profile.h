/* Costs from a profile: what 'ntrace profile --format jsonl' has written, by function or by line. */
#ifndef CLI_IO_COST_PROFILE_H
#define CLI_IO_COST_PROFILE_H

#include <ntrace/costs.h>
#include <stdbool.h>

/* Returns whether the file is such a profile. */
bool cli_cost_profile_seen(const char *path);

/* Reads it. *incomplete: the profile says that its trace had gaps or damage. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_cost_profile_read(const char *path, ntr_costs *costs, bool *incomplete);

#endif
