/* Ways that came before: from behind one register jump through known blocks to behind the next one, and the message
 * that this made. A tree over the words of the ring that is learned as they come; bounded, and forgotten when it is full or code changes. */
#ifndef CLI_RUN_MESSAGE_CACHE_H
#define CLI_RUN_MESSAGE_CACHE_H

#include "capture/hart.h"

struct run_paths;

struct run_paths *run_paths_new(void); /* NULL: out of memory */
void run_paths_free(struct run_paths *paths);

enum { RUN_MESSAGE_MAX = 8 }; /* bytes */

/* What a way came to. */
struct run_path {
    uint8_t message[RUN_MESSAGE_MAX];
    uint8_t size;
    uint32_t halfwords, instructions;
};

/* The words from `words` to `end` lead from behind a register jump into block `start` to behind the next one. */
void run_paths_learn(struct run_paths *paths, uint32_t start, const uint32_t *words, const uint32_t *end,
                     const struct run_path *path);

/* Write the messages of ways that are known, as long as they are. Returns the first word behind them. Whatever is learned
 * next belongs to the code as it is now. */
const uint32_t *run_paths_take(struct run_harts *harts, struct run_hart *hart, const uint32_t *words,
                               const uint32_t *end);

#endif
