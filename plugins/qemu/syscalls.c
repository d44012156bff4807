/* System calls that change what the plugin has to know: signal handlers, files mapped for execution, execve. */
#include "state.h"
#include "riscv.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum { SIGNAL_NUMBERS = 65, DEFAULT_OR_IGNORE = 1 };

/* Arguments of the system call in progress: QEMU does not report them when it returns. */
static __thread uint64_t argument[6];
static __thread unsigned calling = VCPU_UNKNOWN;

unsigned syscalls_vcpu(void) {
    return calling;
}

/* ---- signal handlers ------------------------------------------------------------------------------ */

/* Handlers are never removed, even when they serve no signal any more. */
static struct signal_handler *handlers;
static uint64_t handler_of[SIGNAL_NUMBERS];

static struct signal_handler *find_handler(uint64_t address) {
    struct signal_handler *handler = handlers;
    while (handler && handler->address != address) handler = handler->next;
    return handler;
}

const struct signal_handler *syscalls_handler(uint64_t address) {
    return find_handler(address);
}

static struct signal_handler *add_handler(uint64_t address) {
    struct signal_handler *handler = malloc(sizeof *handler);

    if (!handler) return NULL;
    *handler = (struct signal_handler){.address = address, .next = handlers};
    handlers = handler;
    if (blocks_known(address)) plugin_translate_anew();
    return handler;
}

static void set_handler(unsigned signal, uint64_t address) {
    uint64_t bit = 1ull << (signal - 1);
    struct signal_handler *handler = find_handler(handler_of[signal]);

    if (handler) handler->signals &= ~bit;
    handler_of[signal] = address;
    if (address <= DEFAULT_OR_IGNORE) return;
    handler = find_handler(address);
    if (!handler) handler = add_handler(address);
    if (handler) handler->signals |= bit;
}

/* rt_sigaction(signal, action, ...): the handler's address is the first member of the structure. It has just been
 * read by QEMU, so the memory is readable. */
static void sigaction_returned(void) {
    const char *action = (const char *)(uintptr_t)(channel->head.guest_base + argument[1]);
    uint64_t address = 0;

    if (!argument[1] || argument[0] < 1 || argument[0] >= SIGNAL_NUMBERS) return;
    memcpy(&address, action, channel->head.xlen / 8); /* both sides are little endian */
    plugin_lock();
    set_handler((unsigned)argument[0], address);
    plugin_unlock();
}

/* ---- names of threads ----------------------------------------------------------------------------- */

/* The name of QEMU's own threads, which those of the program have until they are given one. */
static char given_by_qemu[CHANNEL_NAME];

/* Threads of the program are threads of this process; QEMU names them as the program wants. Another thread can have
 * set the name, and a new thread has that of the thread that made it. */
static void note_name(unsigned vcpu) {
    char name[CHANNEL_NAME] = "";

    if (vcpu >= CHANNEL_THREADS || channel->lanes[vcpu].threads > 1) return;
    if (prctl(PR_GET_NAME, name) || strcmp(name, given_by_qemu) == 0) return;
    memcpy(channel->lanes[vcpu].name, name, sizeof name);
}

/* ---- the calls ------------------------------------------------------------------------------------ */

/* mmap(address, length, protection, flags, file, offset) */
static void mmap_returned(uint64_t start) {
    uint64_t offset = argument[5] * (channel->head.xlen == 32 ? 4096 : 1);

    plugin_lock();
    maps_remove(start, argument[1]);
    if (argument[2] & PROT_EXEC && !(argument[3] & MAP_ANONYMOUS))
        maps_add(start, argument[1], (int)argument[4], offset);
    plugin_unlock();
}

/* mremap(address, length, new length, flags, new address) */
static void mremap_returned(uint64_t to) {
    plugin_lock();
    maps_move(argument[0], argument[1], to, argument[2]);
    plugin_unlock();
}

/* munmap(address, length) */
static void munmap_returned(void) {
    plugin_lock();
    maps_remove(argument[0], argument[1]);
    plugin_unlock();
}

/* Memory that another process may write: QEMU takes care that atomic instructions are atomic there. */
static bool shares_memory(int64_t number) {
    return number == RISCV_SYS_SHMAT || (number == RISCV_SYS_MMAP && argument[3] & MAP_SHARED);
}

/* clone(flags, ...): will QEMU start a thread? It takes vfork for fork, and refuses other combinations of flags. Before
 * the call ends, it discards its translations (instrument.c). Until version 8.2 it reports the vCPU of the thread
 * before the thread runs; later versions do so after both threads may have run. */
static bool starts_thread(int64_t number) {
    if (NTRACE_QEMU_API == 1) return false;
    const uint64_t needed = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
                   allowed = needed | CSIGNAL | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |
                             CLONE_CHILD_SETTID | CLONE_PARENT | CLONE_DETACHED | CLONE_IO,
                   flags = argument[0];
    return number == RISCV_SYS_CLONE && (flags & needed) == needed && !(flags & ~allowed);
}

QEMU_SYSCALL_CALLBACK(syscalls_before) {
    QEMU_IGNORE, (void)a7, (void)a8;
    const uint64_t given[6] = {a1, a2, a3, a4, a5, a6};
    uint64_t mask = channel->head.xlen == 32 ? UINT32_MAX : UINT64_MAX;
    for (int i = 0; i < 6; i++) argument[i] = given[i] & mask;
    calling = vcpu;
    if (!*given_by_qemu) prctl(PR_GET_NAME, given_by_qemu); /* before the first call there is one thread */
    if (number == RISCV_SYS_EXIT || number == RISCV_SYS_EXIT_GROUP) note_name(vcpu);
    bool executes = number == RISCV_SYS_EXECVE || number == RISCV_SYS_EXECVEAT;
    if (executes) replace_program(argument, number == RISCV_SYS_EXECVEAT);
    if (plugin_detached) return;
    if (executes) atomic_store(&channel->head.executing, 1);
    if (shares_memory(number)) plugin_expect_threads(true);
    if (starts_thread(number)) plugin_become_shared();
    if (number == RISCV_SYS_EXIT_GROUP) hidden_exit(argument[0] & 0xff);
    if (number == RISCV_SYS_EXIT_GROUP || (number == RISCV_SYS_EXIT && !atomic_load(&channel->head.shared)))
        atomic_store(&channel->head.status, CHANNEL_EXITED | (argument[0] & 0xff));
}

QEMU_SYSCALL_RETURN_CALLBACK(syscalls_after) {
    QEMU_IGNORE;
    if (plugin_detached) return;
    bool failed = result < 0 && result >= -4095;
    if (failed && NTRACE_QEMU_API > 1 && shares_memory(number)) plugin_expect_threads(false);
    switch (number) {
    case RISCV_SYS_RT_SIGACTION:
        if (!failed) sigaction_returned();
        break;
    case RISCV_SYS_MMAP:
        if (!failed) mmap_returned((uint64_t)result);
        break;
    case RISCV_SYS_MREMAP:
        if (!failed) mremap_returned((uint64_t)result);
        break;
    case RISCV_SYS_MUNMAP:
        if (!failed) munmap_returned();
        break;
    case RISCV_SYS_PRCTL:
        if (!failed && argument[0] == PR_SET_NAME) note_name(vcpu);
        break;
    case RISCV_SYS_FACCESSAT:
    case RISCV_SYS_FACCESSAT2: hidden_returned(argument[1], result); break;
    case RISCV_SYS_EXECVE:
    case RISCV_SYS_EXECVEAT: atomic_store(&channel->head.executing, 0); break;
    default: break;
    }
}
