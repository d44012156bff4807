/* Fork: the translated code of the child writes to the same addresses as that of its parent. The child gets a memory of
 * its own there: one that a reader reads (CHANNEL_FOLLOW_FORK), or private memory that nobody reads.
 *
 * The child's memory begins as a copy of the tables that its translated code refers to: blocks, loops, counters, code
 * and maps. Its lanes are empty. QEMU makes vfork and posix_spawn a fork, so the parent's memory is never shared. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void copy_tables(struct channel *to) {
    const struct channel *from = channel;
    uint32_t blocks = atomic_load(&from->head.blocks), loops = atomic_load(&from->head.loops);
    const struct channel_head *head = &from->head;

    to->head.magic = head->magic;
    to->head.size = head->size;
    to->head.base = head->base;
    to->head.guest_base = head->guest_base;
    to->head.reader = head->reader;
    to->head.xlen = head->xlen;
    to->head.follow = head->follow;
    to->head.accesses = head->accesses;
    to->head.access_first = head->access_first;
    to->head.access_last = head->access_last;
    memcpy(to->blocks, from->blocks, blocks * sizeof *to->blocks);
    memcpy(to->loops, from->loops, loops * sizeof *to->loops);
    memcpy(to->counters, from->counters, atomic_load(&head->counters) * sizeof *to->counters);
    memcpy(to->code, from->code, atomic_load(&head->code));
    memcpy(to->maps, from->maps, atomic_load(&head->maps));
    atomic_store(&to->head.loops, loops);
    atomic_store(&to->head.blocks, blocks);
    atomic_store(&to->head.counters, atomic_load(&head->counters));
    atomic_store(&to->head.code, atomic_load(&head->code));
    atomic_store(&to->head.maps, atomic_load(&head->maps));
    atomic_store(&to->head.shared, atomic_load(&head->shared));
    atomic_store(&to->head.state, CHANNEL_ATTACHED);
    /* Executions of loops that the parent has counted are the parent's. */
    for (uint32_t i = 0; i < loops; i++) {
        struct channel_block *block = &to->blocks[to->loops[i]];
        block->seen = to->counters[block->counters];
    }
}

/* ---- a memory that is read ---------------------------------------------------------------------------------------- */

/* An entry for this process in the parent's list. NULL: the reader reads no more. */
static struct channel_child *take_entry(void) {
    while (!plugin_given_up()) {
        for (unsigned i = 0; i < CHANNEL_CHILDREN; i++) {
            int32_t free = 0;
            if (atomic_compare_exchange_strong(&channel->head.children[i].pid, &free, (int32_t)getpid()))
                return &channel->head.children[i];
        }
        plugin_nap();
    }
    return NULL;
}

/* Wait until the reader has opened the memory. */
static bool hand_over(int file) {
    struct channel_child *entry = take_entry();

    if (!entry) return false;
    atomic_store(&entry->file, file + 1);
    while (atomic_load(&entry->file)) {
        if (plugin_given_up()) return false;
        plugin_nap();
    }
    return true;
}

/* A limit of file sizes applies to shared memory as well. It is lifted for this call. */
static bool resize(int file) {
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_max < sizeof *channel) return false;
    const struct rlimit lifted = {limit.rlim_max, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lifted);
    bool good = ftruncate(file, sizeof *channel) == 0;
    setrlimit(RLIMIT_FSIZE, &limit);
    return good;
}

static bool get_memory(void) {
    int file = memfd_create("ntrace", MFD_CLOEXEC);
    if (file < 0) return false;
    void *memory = resize(file) ? mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0)
                                : MAP_FAILED;
    bool read = memory != MAP_FAILED;
    if (read) {
        copy_tables(memory);
        munmap(memory, sizeof *channel);
        read = hand_over(file) && mmap(channel, sizeof *channel, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0) != MAP_FAILED;
    }
    close(file); /* the guest must not inherit it */
    return read;
}

/* ---- a memory that is not read ------------------------------------------------------------------------------------ */

static void detach(void) {
    struct channel_head head = channel->head;

    plugin_detached = true;
    if (mmap(channel, sizeof *channel, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        _exit(127); /* it would damage the parent's trace */
    channel->head = head;
    for (uint32_t i = 0; i < atomic_load(&head.lanes); i++) record_init_lane(i);
}

/* ---- pthread_atfork ----------------------------------------------------------------------------------------------- */

/* Another thread may hold the lock; in the child there is none that would release it. */
static void before(void) {
    plugin_lock();
}

static void in_parent(void) {
    plugin_unlock();
    if (!plugin_detached) atomic_fetch_add(&channel->head.forks, 1);
}

static void in_child(void) {
    plugin_unlock();
    plugin_is_readers_child = false;
    if (plugin_detached || !(channel->head.follow & CHANNEL_FOLLOW_FORK) || !get_memory()) {
        detach();
    } else {
        record_init_lane(syscalls_vcpu());
        plugin_end_with_reader();
    }
}

bool fork_watch(void) {
    return pthread_atfork(before, in_parent, in_child) == 0;
}
