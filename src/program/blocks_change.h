/* What happens to the cached blocks when the program changes. */
#ifndef NTR_PROGRAM_BLOCKS_CHANGE_H
#define NTR_PROGRAM_BLOCKS_CHANGE_H

#include "program/block_table.h"

/* Take in images that were added, and the ones that come and go between the last position and this one. */
void ntr_blocks_catch_up(ntr_blocks *blocks, uint64_t position);

#endif
