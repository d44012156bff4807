/* Names of code that a program generates, each for the part of the stream in which it was executed.
 *
 * The program writes them to a perf map (/tmp/perf-PID.map) or to a jitdump file while it runs. Each block of code
 * without a file has the sizes of these files when it was translated. The newest record before that, which contains the
 * address of the block, names it. A record is a mapping (mapped.h): the name of the code that was generated there
 * before ends where that of the new code begins, also if the bytes are the same. */
#ifndef NTR_CAPTURE_GENERATED_H
#define NTR_CAPTURE_GENERATED_H

#include "capture/mapped.h"

/* Returns the number of the mapping (ntr_capture_mapped_differs) that names the code of a block, 0: none. `sizes`:
 * channel_block.names. */
uint32_t ntr_capture_generated_at(struct ntr_capture_record *record, uint64_t sizes, uint64_t address);

/* Stores the names of the code that was executed, sorted by address, as a new array; NULL when out of memory. */
struct ntr_capture_named *ntr_capture_generated_names(const struct ntr_capture_record *record, size_t *count);

#endif
