/* Updates of the block cache when the program or the position changes. */
#ifndef NTR_PROGRAM_BLOCKS_CHANGE_H
#define NTR_PROGRAM_BLOCKS_CHANGE_H

#include "program/block_table.h"

/* Invalidates blocks of images that were added, and of images that become valid or invalid between the previous
 * position and this one. */
void ntr_blocks_catch_up(ntr_blocks *blocks, uint64_t position);

#endif
