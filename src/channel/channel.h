/* The memory that the plugin inside QEMU shares with `ntrace run`: one writer (the plugin), one reader.
 *
 * What runs is told as 32-bit words in one ring per vCPU: the number of the translated block that is being
 * entered, and a few records (CHANNEL_LOOP, CHANNEL_ENTRY). What the numbers mean stands in a table that
 * only grows. Everything is in shared memory at all times: a guest killed by any signal loses nothing.
 *
 * The memory is mapped sparsely; only what is touched exists. */
#ifndef NTRACE_QEMU_CHANNEL_H
#define NTRACE_QEMU_CHANNEL_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANNEL_MAGIC 0x32316c6e6e616863 /* changes with the layout */

#define CHANNEL_THREADS  (1u << 22) /* vCPU indexes there can be: Linux has no more threads */
#define CHANNEL_LANES    4096u      /* vCPUs that are traced: SRC has 12 bits */
#define CHANNEL_BATCH    (1u << 14) /* words published to the reader's bookkeeping at once */
#define CHANNEL_BATCHES  16u        /* in a ring; one is always left free, so that full and empty differ */
#define CHANNEL_RING     (CHANNEL_BATCH * CHANNEL_BATCHES)
#define CHANNEL_BLOCKS   (1u << 24)
#define CHANNEL_LOOPS    (1u << 20)
#define CHANNEL_COUNTERS (1u << 27)
#define CHANNEL_CODE     (1ull << 31)
#define CHANNEL_MAPS     (1u << 24)

/* Words of a ring: a block number (1 .. CHANNEL_BLOCKS - 1), or a record. */
enum {
    CHANNEL_RECORD = 0x40000000, /* what all records have */
    /* Then three words: block number, count (low 32 bits, high ones with CHANNEL_RECORD): that block ran so many
     * times, one after the other. */
    CHANNEL_LOOP = 0x40000000,
    /* The next block is where a signal handler begins. Low 16 bits: how many instructions of the block before
     * retired, or CHANNEL_ALL. */
    CHANNEL_ENTRY = 0x41000000,
    CHANNEL_ENTRY_FAULT = 0x00010000, /* the handler serves signals that instructions raise */
    CHANNEL_ALL = 0xffff,
    CHANNEL_LOST = 0x42000000, /* what follows in this lane is not told: a table is full */
};

enum {
    CHANNEL_BLOCK_LOOP = 1u << 0,       /* branches to itself; its executions are counted, not told one by one */
    CHANNEL_BLOCK_LAST_TRAPS = 1u << 1, /* the last instruction may trap, and no mark tells whether it did */
    CHANNEL_BLOCK_LAST_SEEN = 1u << 2,  /* the last mark is not counted: only a fault that is seen keeps it from being passed */
};

/* One translated block: straight code. A mark stands behind every instruction that may trap: marks[i] is the
 * number of instructions that have retired when mark i is passed. */
struct channel_block {
    uint64_t address;
    uint64_t code;     /* place of its bytes in `code`; the marks (uint16_t) follow, aligned */
    uint64_t seen;     /* loops: executions told so far */
    uint32_t size;     /* bytes */
    uint32_t counters; /* in `counters`, if it counts marks or is a loop: executions, then passes of each mark */
    uint16_t instructions, marks;
    uint8_t flags; /* CHANNEL_BLOCK_* */
};

struct channel_lane {
    /* the writer's */
    _Atomic(uint32_t *) at; /* next word, an address in the writer's mapping */
    uint32_t *limit;        /* end of the batch */
    uint32_t *ring;
    uint64_t batch;           /* batches begun */
    _Atomic uint32_t reached; /* several harts: marks passed in the block being executed */
    /* the reader's */
    alignas(64) _Atomic uint64_t consumed; /* batches read to their end */
};

struct channel_head {
    uint64_t magic, size;
    uint64_t base;       /* of the writer's mapping */
    uint64_t guest_base; /* host address of guest address 0 */
    uint32_t reader;     /* process id */
    uint32_t xlen;
    _Atomic uint32_t attached;
    _Atomic uint32_t blocks; /* numbers below this are in use; 0 is none */
    _Atomic uint32_t loops;
    _Atomic uint32_t lanes;                /* vCPU indexes below this have been used */
    _Atomic uint32_t forks;                /* processes that left */
    _Atomic uint32_t executing;            /* inside execve */
    _Atomic uint64_t counters, code, maps; /* used */
    _Atomic uint32_t faulted;              /* one hart: a plain access has, in the block that runs */
    _Atomic uint32_t shared;               /* several harts: marks are told by `reached`, loops are not counted */
};

struct channel {
    struct channel_head head;
    struct channel_lane lanes[CHANNEL_THREADS];
    alignas(4096) uint32_t rings[CHANNEL_LANES][CHANNEL_RING];
    struct channel_block blocks[CHANNEL_BLOCKS];
    uint32_t loops[CHANNEL_LOOPS]; /* their block numbers */
    uint64_t counters[CHANNEL_COUNTERS];
    uint8_t code[CHANNEL_CODE];
    char
        maps[CHANNEL_MAPS]; /* "START LENGTH OFFSET PATH\n": files mapped for execution, guest addresses, hexadecimal */
};

static inline const uint16_t *channel_marks(const struct channel *channel, const struct channel_block *block) {
    return (const uint16_t *)(const void *)(channel->code + ((block->code + block->size + 1) & ~(uint64_t)1));
}

/* Executions of a loop that have not been told. */
static inline uint64_t channel_pending(const struct channel *channel, const struct channel_block *block) {
    return __atomic_load_n(&channel->counters[block->counters], __ATOMIC_RELAXED) - block->seen;
}

/* How many of a block's marks are counted, while there is one hart. */
static inline unsigned channel_counted(unsigned marks, unsigned flags) {
    return marks - (flags & CHANNEL_BLOCK_LAST_SEEN ? 1u : 0u);
}

/* How many marks of the block were passed in its last execution, on this lane. */
static inline unsigned channel_marks_passed(const struct channel *channel, const struct channel_lane *lane,
                                            const struct channel_block *block) {
    if (atomic_load_explicit(&channel->head.shared, memory_order_relaxed))
        return atomic_load_explicit(&lane->reached, memory_order_relaxed);
    const uint64_t *passes = channel->counters + block->counters;
    unsigned n = 0, counted = channel_counted(block->marks, block->flags);
    while (n < counted && passes[n + 1] == passes[0]) n++;
    return n == counted && !atomic_load(&channel->head.faulted) ? block->marks : n;
}

/* Instructions of the block that retired in its last execution on this lane, or CHANNEL_ALL (the last one of a
 * CHANNEL_BLOCK_LAST_TRAPS block not being known). */
static inline unsigned channel_retired(const struct channel *channel, const struct channel_lane *lane,
                                       const struct channel_block *block) {
    unsigned passed = block->marks ? channel_marks_passed(channel, lane, block) : 0;
    /* The trap came between two marks, so from the instruction in front of the second one. */
    return passed < block->marks ? channel_marks(channel, block)[passed] - 1u : CHANNEL_ALL;
}

#endif
