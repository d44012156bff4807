#include "state.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

struct channel *channel;
qemu_plugin_id_t plugin_id;
qemu_plugin_simple_cb_t plugin_register;
bool plugin_detached, plugin_is_readers_child;
const char *plugin_root;

/* No code that is translated for one thread is executed any more: QEMU is about to create the second thread, and
 * discards its translations (see instrument.c). The block that led here ended in a system call, so all its marks were
 * passed; they were counted in the way for one thread. */
void plugin_become_shared(void) {
    if (atomic_load(&channel->head.shared)) return;
    atomic_store(&channel->lanes[0].reached, UINT32_MAX);
    atomic_store(&channel->head.shared, 1);
}

/* No translation is left. */
static void continue_shared(qemu_plugin_id_t id) {
    plugin_become_shared();
    plugin_register(id);
}

void plugin_expect_threads(void) {
    if (!atomic_load(&channel->head.shared)) qemu_plugin_reset(plugin_id, continue_shared);
}

void plugin_translate_anew(void) {
    qemu_plugin_reset(plugin_id, plugin_register);
}

/* ---- the reader ---------------------------------------------------------------------------------------------------- */

/* The parent of QEMU is the reader, or a process between them. */
static bool reader_has_ended(void) {
    pid_t reader = (pid_t)channel->head.reader;
    if (plugin_is_readers_child) return getppid() != reader;
    return kill(reader, 0) && errno == ESRCH;
}

bool plugin_given_up(void) {
    if (atomic_load(&channel->head.given_up)) return true;
    if (reader_has_ended()) kill(getpid(), SIGKILL);
    return false;
}

void plugin_nap(void) {
    const struct timespec nap = {.tv_nsec = 50000};
    nanosleep(&nap, NULL);
}

/* No descriptor is used: the guest would see it. */
static void *watch_reader(void *nothing) {
    const struct timespec pause = {.tv_nsec = 200000000};

    (void)nothing;
    while (nanosleep(&pause, NULL), !plugin_detached) {
        if (plugin_given_up()) break;
    }
    return NULL;
}

void plugin_end_with_reader(void) {
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all); /* the thread inherits it: no signal of the guest is delivered to it */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch_reader, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- lock ---------------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void plugin_lock(void) {
    pthread_mutex_lock(&lock);
}

void plugin_unlock(void) {
    pthread_mutex_unlock(&lock);
}
