/* What the plugin's files share. There is one plugin in a process, so its state is global. */
#ifndef NTRACE_QEMU_PLUGIN_H
#define NTRACE_QEMU_PLUGIN_H

#include "api.h"
#include "channel/channel.h"

#define COLD      __attribute__((cold, noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)

extern struct channel *channel;
extern qemu_plugin_id_t plugin_id;

/* Nothing is traced any more: another process after fork, no reader, or no room. Callbacks still run. */
extern bool plugin_detached;

/* QEMU was started by the reader itself: with another parent, the reader is gone, even where its parent has not
 * taken note yet. */
extern bool plugin_is_readers_child;

/* The guest is about to have a second thread. Takes effect before its next system call. */
void plugin_become_shared(void);

/* Translate everything anew: what was put into the blocks no longer suffices. */
void plugin_translate_anew(void);

/* Held while the tables of blocks and handlers are used. */
void plugin_lock(void);
void plugin_unlock(void);

/* ---- record.c: what runs ---------------------------------------------------------------------- */

void record_init_lane(unsigned vcpu);

/* Callbacks at the start of a block. The argument is the block's number, but for record_special. */
void record_block_solo(unsigned vcpu, void *number);
void record_block(unsigned vcpu, void *number);
void record_marked_block(unsigned vcpu, void *number); /* and no mark has been passed yet */
void record_special(unsigned vcpu, void *special);

void record_lost(unsigned vcpu, void *nothing); /* there was no room for a number: this thread's trace ends */

/* The argument is how many marks that makes. */
void record_mark(unsigned vcpu, void *passed);
void record_access_mark(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *passed);

/* A block at which more than its number may have to be told. */
struct special {
    uint32_t number;
    bool may_clone;                /* ends in a system call that may make a thread, as far as the block tells */
    const struct handler *handler; /* signal handler that begins here, or NULL */
    uint32_t loop_count;           /* loops that end here */
    uint32_t *loops;
};

/* ---- blocks.c: the table of blocks -------------------------------------------------------------- */

/* What a translation is, before it has a number. */
struct translation {
    uint64_t address;
    uint32_t size;
    uint16_t instructions, marks;
    uint8_t flags;
    uint8_t bytes[4096 + 2];    /* a block ends at the latest behind the end of a page */
    uint16_t mark_at[2048 + 1]; /* see struct channel_block */
};

/* The block's number: the old one when just this was translated before. 0: no room. */
uint32_t blocks_number(const struct translation *translation);

/* Whether any block that begins at this address was translated before. */
bool blocks_known(uint64_t address);

/* Of a block with marks, or a loop: where its executions are counted, and then the passes of its marks. */
uint64_t *blocks_counters(uint32_t number);

/* Whether this block that branches to itself (and is flagged so) may be counted instead of told. */
bool blocks_loop_allowed(const struct translation *loop);

/* The loops that end at `address`, as a new array. */
uint32_t *blocks_loops_ending(uint64_t address, uint32_t *count);

/* ---- calls.c: system calls before they are made --------------------------------------------------- */

bool calls_is_clone(int64_t number);

/* Whether this code ends in a system call that may make a thread or a process, for all that it says itself. */
bool calls_may_clone(const uint8_t *code, uint32_t size);

/* The same for block `number`, which is about to run behind what the lane tells. When in doubt: yes. */
bool calls_clones_now(const struct channel_lane *lane, uint32_t number);

/* ---- faults.c ----------------------------------------------------------------------------------------- */

/* Whether channel->head.faulted tells from now on that a plain access has faulted. To be asked when a block is translated:
 * QEMU has its own handlers by then. */
bool faults_are_seen(void);

/* ---- instrument.c, syscalls.c --------------------------------------------------------------------- */

/* How many counters the translation has: executions, and the marks that are counted; 0: none of that. */
unsigned instrument_counters(const struct translation *translation);

void instrument(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

struct handler {
    uint64_t address;
    uint64_t signals; /* bit n - 1: signal n */
    struct handler *next;
};

/* The signal handler that begins at this address, or NULL. */
const struct handler *syscalls_handler(uint64_t address);

void syscalls_before(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                     uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void syscalls_after(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result);

/* Tell of the files that are mapped when the program starts; called for every translation, works at the first. */
void maps_begin(const struct qemu_plugin_tb *tb);

/* Tell of one more: file descriptor `fd` at `offset` is now at guest address `start`. */
void maps_add(uint64_t start, uint64_t length, int fd, uint64_t offset);

#endif
