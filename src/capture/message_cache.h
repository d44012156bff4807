/* Message cache: copy the message of a path that was executed before, instead of encoding the path again.
 *
 * A path begins after a register jump, in a known block, passes through blocks that need no message, and ends after
 * the next register jump. Its words in the lane are the numbers of the blocks after its first one. Idea: in a
 * configuration without timestamps, repeated history and implicit returns, the message that the second jump causes
 * depends on the path alone: I-CNT and HIST count what the path executed, U-ADDR is the difference of the two jump
 * targets. Equal words thus make equal bytes.
 *
 * Invariant: the cache is used, and learns, only where nothing has been counted since the last message
 * (ntr_enc_repeatable, `fresh` in block_chain.c); every path was learned with code of the present generation.
 *
 * Example: block 7 is a function with one branch; it was called from the dispatch loop 3 before. The lane holds
 * 3 7 8 3 7 8 3 ...: the path that begins in 7 has the words 8, 3 (block 8 returns to 3), and its message is the
 * IndirectBranchHist of that return. From the second time on the words 8, 3 are looked up and the message is copied.
 *
 * Paths are kept in a tree: its edges are words, its roots are first blocks. The size is fixed; the cache is emptied
 * when it is full, and when code changes. */
#ifndef NTR_CAPTURE_MESSAGE_CACHE_H
#define NTR_CAPTURE_MESSAGE_CACHE_H

#include "capture/state.h"

enum { NTR_CAPTURE_MESSAGE_MAX = 8 }; /* bytes; longer messages are not cached */

/* A message, and what the path that makes it executes. */
struct ntr_capture_message {
    uint8_t bytes[NTR_CAPTURE_MESSAGE_MAX];
    uint8_t size;
    uint32_t halfwords, instructions;
};

/* Returns NULL when there is no memory. */
struct ntr_capture_message_cache *ntr_capture_message_cache_new(const ntr_allocator *allocator);
void ntr_capture_message_cache_free(struct ntr_capture_message_cache *cache, const ntr_allocator *allocator);

/* Stores the message of a path: block `start`, which follows a register jump, and the words [words, end) up to and
 * including the target of the next register jump. */
void ntr_capture_message_cache_learn(struct ntr_capture_message_cache *cache, uint32_t start, const uint32_t *words,
                                     const uint32_t *end, const struct ntr_capture_message *message);

/* Writes the messages of known paths, one after the other. Returns the first word after them (`words`: none is known).
 * Paths learned later belong to the present generation of code. */
const uint32_t *ntr_capture_message_cache_take(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                               const uint32_t *words, const uint32_t *end);

#endif
