/* Parts of a call tree: of the chunks of a stream that several threads decode, and of a part of a trace. */
#ifndef NTR_ANALYSIS_TREE_CHUNK_H
#define NTR_ANALYSIS_TREE_CHUNK_H

#include <ntrace/calltree.h>

/* Several threads: each has an open tree, with functions of its own, for the chunk of a stream that it decodes. Trees
 * of chunks are packed and applied, in the order of the stream, to the tree of the whole. They must not be divided in
 * another way. Only one source may have timestamps.
 *
 * ntr_calltree_begin_chunk: a chunk begins; everything before it is forgotten. ntr_calltree_pack, after
 * ntr_calltree_finish: returns the number of bytes of the packed tree, and writes them to `to` (aligned to 8 bytes) if
 * `room` is sufficient.
 *
 * ntr_calltree_apply: `packed` is from a tree of the same process, whose functions still exist. The result is that of
 * ntr_calltree_feed with the events of the chunk. Errors: NTR_E_MEMORY; NTR_E_STATE: what the chunk does to the call
 * stacks is not known without its callers (threads of an operating system, coroutines, code that was entered without a
 * call): nothing has changed, and the events must be fed. */
void ntr_calltree_begin_chunk(ntr_calltree *tree);
size_t ntr_calltree_pack(ntr_calltree *tree, void *to, size_t room);
ntr_status ntr_calltree_apply(ntr_calltree *tree, const void *packed, size_t size);

/* Several threads, and an export that follows the tree of the whole (ntr_export_follows): the frames of a chunk are
 * kept that have `shortest` instructions at least. To be called for an open tree before ntr_calltree_begin_chunk;
 * `shortest` is what ntr_calltree_shortest_frame returned for the tree of the whole at any time before. Errors:
 * NTR_E_INVALID: it is not open; NTR_E_MEMORY. */
ntr_status ntr_calltree_keep_frames(ntr_calltree *tree, uint64_t shortest);
uint64_t ntr_calltree_shortest_frame(const ntr_calltree *tree);

/* The part begins: forgets all nodes and frames, but not the contexts and the times of the sources. */
void ntr_calltree_restart(ntr_calltree *tree);

#endif
