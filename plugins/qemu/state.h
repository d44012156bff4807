/* What the plugin's files share. There is one plugin in a process, so its state is global. */
#ifndef NTRACE_QEMU_STATE_H
#define NTRACE_QEMU_STATE_H

#include "api.h"
#include "channel/channel.h"

#include <signal.h>

#define COLD      __attribute__((cold, noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)

/* ---- state.c ------------------------------------------------------------------------------------------------------
 */

extern struct channel *channel;
extern qemu_plugin_id_t plugin_id;
extern qemu_plugin_simple_cb_t plugin_register; /* registers all callbacks */

/* Tracing has ended: this process is a child after fork, the reader has ended, or there is no room. Callbacks still
 * run. */
extern bool plugin_detached;

/* QEMU was started by the reader itself. When its parent is another process then, the reader has ended, even if no
 * process has waited for it yet. */
extern bool plugin_is_readers_child;

/* Root of the guest's libraries when QEMU has no option -L; may be NULL. */
extern const char *plugin_root;

/* The reader reads no more. When it has ended, this process is killed. */
bool plugin_given_up(void);

/* Sleep for a moment, while something is awaited from the reader. */
void plugin_nap(void);

/* From now on, this process is killed soon after the reader has ended, because nothing reads its trace any more. */
void plugin_end_with_reader(void);

/* The guest is about to have a second thread. To be called before that thread runs. */
void plugin_become_shared(void);

/* A system call is being made after which QEMU translates as for several threads, and need not discard its translations
 * when the second thread starts. From the end of the call on, blocks get what several threads need. */
void plugin_expect_threads(void);

/* Translate all code again, because what was inserted into the blocks no longer suffices. */
void plugin_translate_anew(void);

/* To be held while the tables of blocks and handlers are used. */
void plugin_lock(void);
void plugin_unlock(void);

/* ---- record.c: words of the lanes ---------------------------------------------------------------------------------
 */

void record_init_lane(unsigned vcpu);

/* Callbacks at the start of a block. The argument is the number of the block, but for record_special. */
void record_block_solo(unsigned vcpu, void *number); /* while there is one thread */
void record_block(unsigned vcpu, void *number);
void record_marked_block(unsigned vcpu, void *number); /* also resets the marks passed */
void record_special(unsigned vcpu, void *special, uint64_t env); /* called by frames_record_special */

void record_lost(unsigned vcpu, void *nothing); /* there was no room for the block: the trace of this thread ends */

/* Callbacks at a mark. The argument is the number of marks passed with this one. */
void record_mark(unsigned vcpu, void *passed);
void record_access_mark(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *passed);

/* A block that may need more words than its number. */
struct special {
    uint32_t number;
    const struct signal_handler *handler; /* signal handler that begins here, or NULL */
    uint32_t loop_count;                  /* loops that end where this block begins */
    uint32_t *loops;
};

/* ---- blocks.c: the table of blocks --------------------------------------------------------------------------------
 */

/* A translated block that has no number yet. */
struct translation {
    uint64_t address;
    uint32_t size;
    uint16_t instructions, marks;
    uint8_t flags;
    uint8_t bytes[4096 + 2];    /* a block ends behind the end of a page at the latest */
    uint16_t mark_at[2048 + 1]; /* see struct channel_block */
};

/* The number of the block; an equal translation has the same number. 0: no room. */
uint32_t blocks_number(const struct translation *translation);

/* Was any block that begins at this address translated before? */
bool blocks_known(uint64_t address);

/* How many counters the translation has: one for executions and one for each mark that is counted; or none. */
unsigned blocks_counter_count(const struct translation *translation);

/* The counters of a block: executions, then passes of each mark. */
uint64_t *blocks_counters(uint32_t number);

/* May executions of this block, which branches to itself, be counted instead of recorded? */
bool blocks_loop_allowed(const struct translation *loop);

/* The loops that end at `address`, as a new array. */
uint32_t *blocks_loops_ending(uint64_t address, uint32_t *count);

/* ---- frames.c: where a signal arrived -----------------------------------------------------------------------------
 */

/* Signals that instructions raise; the guest numbers them like the host. Bit n - 1: signal n. */
#define SIGNALS_RAISED                                                                                                 \
    (1u << (SIGILL - 1) | 1u << (SIGTRAP - 1) | 1u << (SIGBUS - 1) | 1u << (SIGFPE - 1) | 1u << (SIGSEGV - 1))

struct signal_frame {
    uint64_t pc;   /* of the instruction that was stopped, or of the next one */
    bool is_fault; /* an instruction raised the signal */
};

/* Can frames be read on this host? */
bool frames_are_known(void);

/* The callback at the start of a block that is special. */
void frames_record_special(unsigned vcpu, void *special);

/* At the first instruction of a signal handler; `env` is the third argument of record_special. Returns false when there
 * is no frame, because the handler was called like a function. */
bool frames_read(uint64_t env, struct signal_frame *frame);

/* ---- memory.c: memory that may not exist ---------------------------------------------------------------------------
 */

/* Read `size` bytes of the guest. Returns false when one of them does not exist. */
bool memory_read_guest(uint64_t address, void *to, size_t size);

/* The same of this process. */
bool memory_read_host(uint64_t address, void *to, size_t size);

/* ---- faults.c -----------------------------------------------------------------------------------------------------
 */

/* From now on, does channel->head.faulted show that a plain access has faulted? To be called when a block is
 * translated: QEMU has installed its own handlers by then. */
bool faults_are_seen(void);

/* ---- instrument.c: what is inserted into translated blocks --------------------------------------------------------
 */

void instrument(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

/* ---- syscalls.c: system calls that change what the plugin has to know ---------------------------------------------
 */

struct signal_handler {
    uint64_t address;
    uint64_t signals; /* bit n - 1: signal n */
    struct signal_handler *next;
};

/* The signal handler that begins at this address, or NULL. */
const struct signal_handler *syscalls_handler(uint64_t address);

/* The vCPU of the calling thread, which has made a system call. */
unsigned syscalls_vcpu(void);

void syscalls_before(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                     uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void syscalls_after(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result);

/* ---- fork.c: child processes ----------------------------------------------------------------------------------------
 */

/* From now on, the memory of child processes is separate. Returns false when out of memory. */
bool fork_watch(void);

/* ---- replace.c: execve ----------------------------------------------------------------------------------------------
 */

/* The guest is about to call execve, or execveat (`at`), with these arguments. Returns when the plugin does not execute
 * the program. */
void replace_program(const uint64_t argument[6], bool at);

/* ---- maps.c: files mapped for execution ---------------------------------------------------------------------------
 */

/* List the files that are mapped when the program starts. Called for every translation; only the first call works. */
void maps_begin(const struct qemu_plugin_tb *tb);

/* Find the host address of guest address 0. */
void maps_find_base(const struct qemu_plugin_tb *tb);

/* List one more: the file of descriptor `fd`, from `offset` on, is mapped at guest address `start`. */
void maps_add(uint64_t start, uint64_t length, int fd, uint64_t offset);

#endif
