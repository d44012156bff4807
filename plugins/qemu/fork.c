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

/* What the tables hold when the parent forks. While the child copies them, the parent goes on to translate code and to
 * count. What is in the other tables does not change then; counters do, so their values are copied before the fork. */
static struct snapshot {
    uint32_t blocks, loops, shared;
    uint64_t counters, code, maps; /* used */
    uint64_t *values; /* of the counters, in private memory; NULL: not mapped */
} snapshot;

/* At least one: a mapping of no bytes is an error. */
static size_t size_of_values(void) {
    return (snapshot.counters + 1) * sizeof *snapshot.values;
}

static void take_snapshot(void) {
    const struct channel_head *head = &channel->head;

    snapshot = (struct snapshot){.blocks = atomic_load(&head->blocks),
                                 .loops = atomic_load(&head->loops),
                                 .shared = atomic_load(&head->shared),
                                 .counters = atomic_load(&head->counters),
                                 .code = atomic_load(&head->code),
                                 .maps = atomic_load(&head->maps)};
    void *memory = mmap(NULL, size_of_values(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    snapshot.values = memory;
    memcpy(snapshot.values, channel->counters, snapshot.counters * sizeof *snapshot.values);
}

static void drop_snapshot(void) {
    if (snapshot.values) munmap(snapshot.values, size_of_values());
    snapshot.values = NULL;
}

static void copy_tables(struct channel *to) {
    const struct channel *from = channel;
    const struct channel_head *head = &from->head;

    to->head.magic = head->magic;
    to->head.size = head->size;
    to->head.base = head->base;
    to->head.guest_base = head->guest_base;
    to->head.reader = head->reader;
    to->head.xlen = head->xlen;
    to->head.follow = head->follow;
    to->head.accesses = head->accesses;
    to->head.access_object = head->access_object;
    to->head.access_first = head->access_first;
    to->head.access_last = head->access_last;
    memcpy(to->blocks, from->blocks, snapshot.blocks * sizeof *to->blocks);
    memcpy(to->loops, from->loops, snapshot.loops * sizeof *to->loops);
    memcpy(to->counters, snapshot.values, snapshot.counters * sizeof *to->counters);
    memcpy(to->code, from->code, snapshot.code);
    memcpy(to->maps, from->maps, snapshot.maps);
    atomic_store(&to->head.loops, snapshot.loops);
    atomic_store(&to->head.blocks, snapshot.blocks);
    atomic_store(&to->head.counters, snapshot.counters);
    atomic_store(&to->head.code, snapshot.code);
    atomic_store(&to->head.maps, snapshot.maps);
    atomic_store(&to->head.shared, snapshot.shared);
    atomic_store(&to->head.state, CHANNEL_ATTACHED);
    /* Executions of loops that the parent has counted are the parent's. */
    for (uint32_t i = 0; i < snapshot.loops; i++) {
        struct channel_block *block = &to->blocks[to->loops[i]];
        block->seen = to->counters[block->counters];
    }
}

/* ---- a memory that is read ----------------------------------------------------------------------------------------
 */

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
    int file = snapshot.values ? memfd_create("ntrace", MFD_CLOEXEC) : -1;
    if (file < 0) return false;
    void *memory = resize(file)
                       ? mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0)
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

/* ---- a memory that is not read ------------------------------------------------------------------------------------
 */

static void detach(void) {
    struct channel_head head = channel->head;

    plugin_detached = true;
    if (mmap(channel, sizeof *channel, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        _exit(127); /* it would damage the parent's trace */
    channel->head = head;
    for (uint32_t i = 0; i < atomic_load(&head.lanes); i++) record_init_lane(i);
}

/* ---- pthread_atfork -----------------------------------------------------------------------------------------------
 */

static bool is_followed(void) {
    return !plugin_detached && channel->head.follow & CHANNEL_FOLLOW_FORK;
}

/* Another thread may hold the lock; in the child there is none that would release it. */
static void before(void) {
    plugin_lock();
    if (is_followed()) take_snapshot();
}

static void in_parent(void) {
    drop_snapshot();
    plugin_unlock();
    if (!plugin_detached) atomic_fetch_add(&channel->head.forks, 1);
}

static void in_child(void) {
    plugin_unlock();
    plugin_is_readers_child = false;
    if (!is_followed() || !get_memory()) {
        detach();
    } else {
        record_init_lane(syscalls_vcpu());
        plugin_end_with_reader();
    }
    drop_snapshot();
}

bool fork_watch(void) {
    return pthread_atfork(before, in_parent, in_child) == 0;
}
