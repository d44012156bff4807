/* What the files of the plugin for user mode share. There is one plugin in a process, so its state is global. */
#ifndef NTRACE_QEMU_STATE_H
#define NTRACE_QEMU_STATE_H

#include "api.h"
#include "shared.h"

#include <signal.h>

/* ---- state.c ------------------------------------------------------------------------------------------------------
 */

extern qemu_id plugin_id;
extern QEMU_ID_CALLBACK((*plugin_register)); /* registers all callbacks */

/* Root of the guest's libraries when QEMU has no option -L; may be NULL. */
extern const char *plugin_root;

/* The guest is about to have a second thread. To be called before that thread runs. */
void plugin_become_shared(void);

/* A system call is being made after which QEMU translates as for several threads, and need not discard its translations
 * when the second thread starts. It discards them before the next block, from which blocks get what several threads
 * need. `expects` false: it has failed, and QEMU does not. */
void plugin_expect_threads(bool expects);

/* QEMU has discarded its translations. (qemu_plugin_reset would do it at once, but until QEMU 9.2 it may leave a lock
 * taken: then no other thread can start or end.) */
QEMU_ID_CALLBACK(plugin_discarded);

/* Translate all code again, because what was inserted into the blocks no longer suffices. */
void plugin_translate_anew(void);

/* ---- record.c: words of the lanes ---------------------------------------------------------------------------------
 */

void record_init_lane(unsigned vcpu);

/* The block that this lane executes; 0: none. */
uint32_t record_last_block(const struct channel_lane *lane);

/* Reports the executions of a loop that have not been reported. */
void record_loop(struct channel_lane *lane, uint32_t number);

/* The same of the loop that was executed last, if nothing was reported since. Returns the number of the block that was
 * executed last. */
uint32_t record_pending_loop(struct channel_lane *lane);

/* Callbacks at the start of a block. The argument is the number of the block. */
void record_block_solo(unsigned vcpu, void *number); /* while there is one thread */
void record_block(unsigned vcpu, void *number);
void record_marked_block(unsigned vcpu, void *number); /* also resets the marks passed */
void record_block_with_accesses(unsigned vcpu, void *number); /* the same; accesses of the block are recorded */

void record_lost(unsigned vcpu, void *nothing); /* there was no room for the block: the trace of this thread ends */

/* Callbacks at a mark. The argument is the number of marks passed with this one. */
void record_mark(unsigned vcpu, void *passed);
void record_access_mark(unsigned vcpu, qemu_access info, uint64_t address, void *passed);

/* Callback after a load or store. */
void record_access(unsigned vcpu, qemu_access info, uint64_t address, void *nothing);

/* ---- frames.c: where a signal arrived -----------------------------------------------------------------------------
 */

/* Signals that instructions raise; the guest numbers them like the host. Bit n - 1: signal n. */
#define SIGNALS_RAISED                                                                                                 \
    (1u << (SIGILL - 1) | 1u << (SIGTRAP - 1) | 1u << (SIGBUS - 1) | 1u << (SIGFPE - 1) | 1u << (SIGSEGV - 1))

struct signal_frame {
    uint64_t pc; /* of the instruction that was stopped, or of the next one */
    uint64_t begun_at; /* the same, but of several signals at once: where the program was before all of them */
    bool is_fault; /* an instruction raised the signal */
};

/* x0 to x31 of the guest. */
struct guest_registers {
    uint64_t x[32];
};

/* The first block of the program begins; `env` is the third argument of special_begin_in. */
void frames_begin(uint64_t env);

/* Returns false when they cannot be read. */
bool frames_registers(uint64_t env, struct guest_registers *registers);

/* Can frames be read on this host? */
static inline bool frames_are_known(void) {
#if defined(__x86_64__) || defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/* At the first instruction of a signal handler; `env` is the third argument of special_begin_in. Returns false when
 * there is no frame, because the handler was called like a function. */
bool frames_read(uint64_t env, struct signal_frame *frame);

/* ---- special.c: blocks that need more words than their number
 * --------------------------------------------------------
 */

struct special {
    uint32_t number;
    const struct signal_handler *handler; /* signal handler that begins here, or NULL */
    uint32_t loop_count; /* loops that end where this block begins */
    uint32_t *loops;
};

/* The callback at the start of such a block; the argument is a struct special. It calls the other function, with the
 * address of the guest's registers, or 0. */
void special_begin(unsigned vcpu, void *special);
void special_begin_in(unsigned vcpu, void *special, uint64_t env);

/* ---- memory.c: memory that may not exist ---------------------------------------------------------------------------
 */

/* Read `size` bytes of the guest. Returns false when one of them does not exist. */
bool memory_read_guest(uint64_t address, void *to, size_t size);

/* The same of this process. */
bool memory_read_host(uint64_t address, void *to, size_t size);

/* The string of the guest at this address, to be freed; NULL: there is none. */
char *memory_read_string(uint64_t address);

/* ---- hidden.c: files that the guest does not find ------------------------------------------------------------------
 */

/* The guest has asked for the file by faccessat. */
void hidden_returned(uint64_t path, int64_t result);

/* The guest exits. */
void hidden_exit(unsigned status);

/* ---- faults.c -----------------------------------------------------------------------------------------------------
 */

/* From now on, does lane.fault show that a plain access has faulted? To be called when a block is
 * translated: QEMU has installed its own handlers by then. */
bool faults_are_seen(void);

/* Does it also show which access of the block? */
bool faults_have_positions(void);

/* Translated code is at this address of the host. */
void faults_know_code(uintptr_t address);

/* ---- instrument.c: what is inserted into translated blocks --------------------------------------------------------
 */

QEMU_TB_CALLBACK(instrument);

/* ---- syscalls.c: system calls that change what the plugin has to know ---------------------------------------------
 */

struct signal_handler {
    uint64_t address;
    uint64_t signals; /* bit n - 1: signal n */
    struct signal_handler *next;
};

/* The signal handler that begins at this address, or NULL. */
const struct signal_handler *syscalls_handler(uint64_t address);

/* The vCPU of the calling thread. VCPU_UNKNOWN: it has made no system call. */
#define VCPU_UNKNOWN UINT32_MAX
unsigned syscalls_vcpu(void);

QEMU_SYSCALL_CALLBACK(syscalls_before);
QEMU_SYSCALL_RETURN_CALLBACK(syscalls_after);

/* ---- fork.c: child processes ----------------------------------------------------------------------------------------
 */

/* From now on, the memory of child processes is separate. Returns false when out of memory. */
bool fork_watch(void);

/* ---- replace.c: execve ----------------------------------------------------------------------------------------------
 */

/* At the start, before the guest changes its folder: find the file of its program. */
void replace_begin(void);

/* The guest is about to call execve, or execveat (`at`), with these arguments. Returns when the plugin does not execute
 * the program. */
void replace_program(const uint64_t argument[6], bool at);

/* The root of the guest's libraries (-L), or NULL. */
const char *replace_root(void);

/* ---- maps.c: files mapped for execution ---------------------------------------------------------------------------
 */

/* List the files that are mapped when the program starts. Called for every translation; only the first call works. */
void maps_begin(const struct qemu_plugin_tb *tb);

/* Find the host address of guest address 0. */
void maps_find_base(const struct qemu_plugin_tb *tb);

/* List one more: the file of descriptor `fd`, from `offset` on, is mapped at guest address `start`. Returns when the
 * reader has copied the file, which may be removed or replaced afterwards. */
void maps_add(uint64_t start, uint64_t length, int fd, uint64_t offset);

/* Nothing of what was listed is mapped in this range any more. */
void maps_remove(uint64_t start, uint64_t length);

/* A mapping was moved, or has another length now. */
void maps_move(uint64_t from, uint64_t length, uint64_t to, uint64_t new_length);

/* The sizes of the files that name the code which the process generates, as channel_block.names. */
uint64_t maps_name_sizes(void);

/* The line of the list, from 1, whose file is mapped at the address; 0: none. */
uint32_t maps_file(uint64_t address, bool *memory);

/* ---- vdso.c */

/* Makes an ELF file with the symbols of the vDSO that is in this memory. Returns its open descriptor, or -1 when the
 * memory has no vDSO or the file cannot be made. */
int vdso_file(const uint8_t *bytes, uint64_t size);

#endif
