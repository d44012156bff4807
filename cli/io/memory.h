/* Memory whose lack is noticed. Names and lines are left out when there is no memory for them; an answer without them
 * is not the answer, so a command that uses this allocator ends with CLI_FAILED then (cli_output_close). */
#ifndef CLI_IO_MEMORY_H
#define CLI_IO_MEMORY_H

#include <ntrace/allocator.h>
#include <stdbool.h>

extern const ntr_allocator cli_memory;

/* Whether there was not enough of it. */
bool cli_memory_short(void);

#endif
