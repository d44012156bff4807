#include "state.h"

#include <pthread.h>

struct channel *channel;
qemu_plugin_id_t plugin_id;
qemu_plugin_simple_cb_t plugin_register;
bool plugin_detached, plugin_is_readers_child;

/* All vCPUs are stopped and no translation is left. The block that led here ended in a system call, so all its marks
 * were passed; they were counted in the way for one thread. */
static void continue_shared(qemu_plugin_id_t id) {
    atomic_store(&channel->lanes[0].reached, UINT32_MAX);
    atomic_store(&channel->head.shared, 1);
    plugin_register(id);
}

void plugin_become_shared(void) {
    if (!atomic_load(&channel->head.shared)) qemu_plugin_reset(plugin_id, continue_shared);
}

void plugin_translate_anew(void) {
    qemu_plugin_reset(plugin_id, plugin_register);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void plugin_lock(void) {
    pthread_mutex_lock(&lock);
}

void plugin_unlock(void) {
    pthread_mutex_unlock(&lock);
}
