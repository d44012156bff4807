/* The memory that the capture plugin inside QEMU (plugins/qemu) shares with the capture engine (src/capture): one
 * writer, the plugin, and one reader, the engine.
 *
 * Execution is a sequence of 32-bit words, in one ring for each vCPU: the number of the translated block that is
 * entered, and a few records (CHANNEL_LOOP, CHANNEL_ENTRY, CHANNEL_LOST). A table, which only grows, holds the blocks
 * by number. Everything is in shared memory at all times, so nothing is lost when a signal kills the guest.
 *
 * Example: the words 5 6 5 6 41000003 9 say that blocks 5 and 6 were executed twice, and that a signal arrived after
 * three instructions of the second block 6; its handler begins with block 9.
 *
 * The memory is sparse: only pages that are written to exist. */
#ifndef NTR_CHANNEL_CHANNEL_H
#define NTR_CHANNEL_CHANNEL_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANNEL_MAGIC 0x31326c6e6e616863 /* changes with the layout of the structures below */

#define CHANNEL_THREADS   (1u << 22) /* highest vCPU index, plus 1: Linux has no more threads */
#define CHANNEL_LANE_BITS 12        /* SRC has 12 bits */
#define CHANNEL_LANES     (1u << CHANNEL_LANE_BITS) /* vCPUs that are traced */
#define CHANNEL_BATCH     (1u << 14) /* words; the reader releases the ring in batches */
#define CHANNEL_BATCHES   16u        /* in a ring; one is always free, so that full and empty differ */
#define CHANNEL_RING      (CHANNEL_BATCH * CHANNEL_BATCHES)
#define CHANNEL_BLOCKS    (1u << 24)
#define CHANNEL_LOOPS     (1u << 20)
#define CHANNEL_COUNTERS  (1u << 27)
#define CHANNEL_CODE      (1ull << 31)
#define CHANNEL_MAPS      (1u << 24)

/* Words of a ring: a block number (1 .. CHANNEL_BLOCKS - 1), or a record. */
enum {
    CHANNEL_RECORD = 0x40000000, /* set in all records */
    /* Three words follow: number of a block, low 32 bits of a count, high bits of it with CHANNEL_RECORD. The block was
     * executed so many times, and branched to itself but for the last time. */
    CHANNEL_LOOP = 0x40000000,
    /* The next block is the first one of a signal handler. Low 16 bits: how many instructions of the block before
     * retired, or CHANNEL_ALL. */
    CHANNEL_ENTRY = 0x41000000,
    CHANNEL_ENTRY_FAULT = 0x00010000, /* the handler serves a signal that instructions raise */
    CHANNEL_ENTRY_PC = 0x00020000, /* two words follow, low half first: where the program was interrupted */
    CHANNEL_ALL = 0xffff,
    CHANNEL_LOST = 0x42000000, /* a table is full; this lane ends here */
    /* Four words follow: address and data of a load or store of the block, low halves first. Low bits: log2 of its
       size. */
    CHANNEL_ACCESS = 0x4a000000,
    CHANNEL_ACCESS_SIZE = 0xff,
    CHANNEL_ACCESS_WRITE = 0x100,

    /* Whole machines. The low 16 bits of the first four say how many instructions of the block before retired, or
     * CHANNEL_ALL. CHANNEL_TRAP: the hart traps; six words follow: cause, epc and tval, each low half first.
     * CHANNEL_PART: QEMU left the block and goes on with the next word. CHANNEL_RESET: the hart is reset.
     * CHANNEL_END: the machine has ended. */
    CHANNEL_TRAP = 0x43000000,
    CHANNEL_TRAP_INTERRUPT = 0x00010000,
    CHANNEL_TRAP_AGAIN = 0x00020000, /* nothing retired since the trap before; the low bits are not valid */
    CHANNEL_PART = 0x44000000,
    CHANNEL_RESET = 0x45000000,
    CHANNEL_END = 0x46000000,
    /* From the next block on. Four words follow, each low half first: vsatp and hgatp in a V mode, else satp and 0. */
    CHANNEL_CONTEXT = 0x47000000,
    /* Eight words follow: the task that runs now (address, low half first), its pid and tgid (UINT32_MAX: not known),
     * its name in 16 bytes. */
    CHANNEL_TASK = 0x48000000,
    /* Four words follow: address and hash of a page of user mode (page_hash.h), each low half first. */
    CHANNEL_PAGE = 0x49000000,
    /* With head.clock. Two words follow: the time (CSR time) from here on, low half first. */
    CHANNEL_TIME = 0x4b000000,

    CHANNEL_WORDS = 9, /* of the longest record */
};

/* In channel_lane.fault: an access of the block being executed has faulted, after so many instructions (low 16 bits;
 * CHANNEL_ALL: not known). */
enum { CHANNEL_FAULT = 1u << 16 };

/* Words of the record that begins with this word. */
static inline unsigned channel_record_words(uint32_t word) {
    switch (word & 0xff000000u) {
    case CHANNEL_ENTRY: return word & CHANNEL_ENTRY_PC ? 3 : 1;
    case CHANNEL_LOOP: return 4;
    case CHANNEL_TRAP: return 7;
    case CHANNEL_TIME: return 3;
    case CHANNEL_CONTEXT:
    case CHANNEL_ACCESS:
    case CHANNEL_PAGE: return 5;
    case CHANNEL_TASK: return 9;
    default: return 1;
    }
}

enum {
    CHANNEL_BLOCK_LOOP = 1u << 0, /* branches to itself; its executions are counted, and reported by CHANNEL_LOOP */
    CHANNEL_BLOCK_LAST_TRAPS = 1u << 1, /* the last instruction may trap, and has no mark */
    CHANNEL_BLOCK_LAST_SEEN = 1u << 2, /* the last mark is not counted; it was passed unless lane.fault is set */
};

/* A translated block: straight code. There is a mark behind every instruction that may trap and that lane.fault does
 * not tell: marks[i] is the number of instructions that have retired when mark i is passed. */
struct channel_block {
    uint64_t address;
    uint64_t code; /* offset of its bytes in channel.code; the marks (uint16_t) follow, aligned */
    uint64_t seen; /* loops: executions reported so far */
    uint64_t names; /* without a file in a folder: sizes of the perf map (low half) and of the jitdump of the process
                       (high half) */
    uint32_t size; /* bytes */
    uint32_t counters; /* index in channel.counters, when marks or executions are counted: executions, then passes of
                          each mark */
    uint16_t instructions, marks;
    uint32_t file; /* the line of channel.maps, from 1, whose file is mapped at the address; 0: none */
    uint8_t flags; /* CHANNEL_BLOCK_* */
    uint8_t privilege; /* 0 U, 1 S, 3 M; 4 is added with virtualization. User mode: 0 */
};

enum { CHANNEL_NAME = 16 }; /* bytes of the name of a thread, with NUL */

/* What one thread of a process, or one hart of a machine, writes: its place in its ring, and the state of its blocks.
 */
struct channel_lane {
    /* written by the writer; addresses are those of its mapping */
    _Atomic(uint32_t *) at; /* next word */
    uint32_t *limit; /* end of the batch */
    uint32_t *ring;
    uint64_t batch; /* batches begun */
    uint32_t block; /* with head.accesses: the block being executed */
    _Atomic uint32_t reached; /* with several threads: marks passed in the block being executed */
    _Atomic uint32_t fault; /* CHANNEL_FAULT: an access of the block has faulted; 0: none */
    char name[CHANNEL_NAME]; /* what its only thread has called itself (PR_SET_NAME); "": nothing */
    uint32_t threads; /* that have run here, one after the other */
    /* written by the reader */
    alignas(64) _Atomic uint64_t consumed; /* batches read to their end */
};

/* What the memory is used for, in channel_head.state. A program that replaces itself by another one (execve) starts
 * QEMU again with the same memory: the plugin finds it in use, and waits until the reader has read and cleared it. */
enum {
    CHANNEL_NEW, /* ready for a plugin */
    CHANNEL_ATTACHED, /* a plugin writes */
    CHANNEL_REPLACED, /* another program has begun; its plugin waits for CHANNEL_NEW */
};

/* What the plugin follows, in channel_head.follow. */
enum {
    CHANNEL_FOLLOW_EXEC = 1u << 0, /* programs that the guest executes: otherwise QEMU makes the system call */
    CHANNEL_FOLLOW_FORK = 1u << 1, /* child processes: each gets a memory of its own */
    CHANNEL_FOLLOW_HALT = 1u << 2, /* machines: a hart that stops reports at once what it has retired */
};

enum {
    CHANNEL_CHILDREN = 64,
    CHANNEL_EXITED = 1u << 8, /* in channel_head.status: exit or exit_group was called, with the status in bits 7:0 */
};

/* A child process that waits for its reader. The child has created the memory of its trace. */
struct channel_child {
    _Atomic int32_t pid; /* 0: free */
    _Atomic int32_t
        file; /* descriptor of the memory in the child, plus 1; 0: not ready. The reader sets it to 0, then pid */
};

struct channel_head {
    uint64_t magic, size;
    uint64_t base; /* address of the writer's mapping */
    uint64_t guest_base; /* host address of guest address 0 */
    uint32_t reader; /* process id */
    uint32_t xlen;
    uint32_t machine; /* 1: a whole machine */
    int32_t file; /* the reader's descriptor of this memory */
    uint32_t follow; /* CHANNEL_FOLLOW_* */
    uint32_t clock; /* machines: 1: CHANNEL_TIME is reported */
    uint32_t task_name, task_pid, task_tgid; /* machines: offsets in the task_struct of a Linux kernel; 0: not known */
    uint32_t accesses; /* loads and stores of [access_first, access_last] are recorded */
    uint32_t access_object; /* the reader narrows the range when it knows where an object is; a file that is mapped
                             * widens it again */
    uint64_t access_first, access_last;
    _Atomic uint32_t state; /* CHANNEL_NEW, ... */
    _Atomic uint32_t given_up; /* set by the reader: it reads no more */
    _Atomic uint32_t status; /* CHANNEL_EXITED and the exit status; 0: the process runs, or a signal has ended it */
    _Atomic uint32_t blocks; /* numbers below this one are in use; 0 is no block */
    _Atomic uint32_t loops;
    _Atomic uint32_t lanes; /* vCPU indexes below this have been used */
    _Atomic uint32_t forks; /* child processes */
    _Atomic uint32_t executing; /* an execve is in progress that is not followed */
    struct channel_child children[CHANNEL_CHILDREN];
    _Atomic uint64_t counters, code, maps; /* used */
    _Atomic uint64_t maps_read; /* of `maps`, by the reader: it has copied these files. The guest waits for it */
    _Atomic uint32_t map_is_left; /* the perf map of the process is that of another program, before execve */
    _Atomic uint32_t shared; /* several threads: marks are in lane.reached, loops are not counted */
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

/* Executions of a loop that have not been reported. */
static inline uint64_t channel_pending(const struct channel *channel, const struct channel_block *block) {
    return __atomic_load_n(&channel->counters[block->counters], __ATOMIC_RELAXED) - block->seen;
}

/* How many marks of a block are counted while there is one thread. */
static inline unsigned channel_counted(unsigned marks, unsigned flags) {
    return marks - (flags & CHANNEL_BLOCK_LAST_SEEN ? 1u : 0u);
}

/* How many marks of the block were passed in its last execution in this lane. */
static inline unsigned channel_marks_passed(const struct channel *channel, const struct channel_lane *lane,
                                            const struct channel_block *block) {
    if (atomic_load_explicit(&channel->head.shared, memory_order_relaxed))
        return atomic_load_explicit(&lane->reached, memory_order_relaxed);
    const uint64_t *passes = channel->counters + block->counters;
    unsigned n = 0, counted = channel_counted(block->marks, block->flags);
    while (n < counted && passes[n + 1] == passes[0]) n++;
    return n == counted && !atomic_load(&lane->fault) ? block->marks : n;
}

/* Has an access faulted, and is it known which? */
static inline bool channel_fault_is_placed(const struct channel_lane *lane) {
    uint32_t fault = atomic_load(&lane->fault);
    return fault && (fault & CHANNEL_ALL) != CHANNEL_ALL;
}

/* How many instructions of the block retired in its last execution in this lane, or CHANNEL_ALL. Of a block with
 * CHANNEL_BLOCK_LAST_TRAPS the last instruction may not have retired then. */
static inline unsigned channel_retired(const struct channel *channel, const struct channel_lane *lane,
                                       const struct channel_block *block) {
    if (channel_fault_is_placed(lane)) return atomic_load(&lane->fault) & CHANNEL_ALL;
    unsigned passed = block->marks ? channel_marks_passed(channel, lane, block) : 0;
    /* The instruction in front of the first mark that was not passed has trapped. */
    return passed < block->marks ? channel_marks(channel, block)[passed] - 1u : CHANNEL_ALL;
}

#endif
