/* Notes of instructions that were reached and whose class is not known. They are part of a program, so that every
 * consumer of it can report them; any number of threads may add to them. */
#ifndef NTR_PROGRAM_UNKNOWN_H
#define NTR_PROGRAM_UNKNOWN_H

#include "base/allocator.h"

typedef struct ntr_unknown ntr_unknown;

ntr_unknown *ntr_unknown_new(const ntr_allocator *allocator);

/* Notes the instruction at an address, whose code is valid at this stream offset. */
void ntr_unknown_note(ntr_unknown *unknown, uint64_t address, uint64_t position);

void ntr_unknown_forget(ntr_unknown *unknown);

/* Returns the number of addresses; the lowest one is stored, with the lowest stream offset noted for it, if there is
 * any. */
uint64_t ntr_unknown_lowest(const ntr_unknown *unknown, uint64_t *address, uint64_t *position);

#endif
