/* An allocator that records failures. The library omits names and lines when it is out of memory; output without them
 * would be wrong, so cli_output_close fails the command after such a failure. */
#ifndef CLI_IO_MEMORY_H
#define CLI_IO_MEMORY_H

#include <ntrace/allocator.h>
#include <stdbool.h>

extern const ntr_allocator cli_memory;

/* Returns whether an allocation has failed. */
bool cli_memory_short(void);

#endif
