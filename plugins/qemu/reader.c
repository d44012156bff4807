/* The reader of the channel, as the plugin sees it; and the lock of the plugin's tables. */
#include "shared.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

struct channel *channel;
bool plugin_detached, plugin_is_readers_child;

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
    const struct timespec nap = {.tv_nsec = 200000};
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

/* ---- lock ----------------------------------------------------------------------------------------------------------
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void plugin_lock(void) {
    pthread_mutex_lock(&lock);
}

void plugin_unlock(void) {
    pthread_mutex_unlock(&lock);
}
