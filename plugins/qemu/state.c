#include "state.h"

qemu_id plugin_id;
QEMU_ID_CALLBACK((*plugin_register));
const char *plugin_root;

/* No code that is translated for one thread is executed any more: QEMU is about to create the second thread, and
 * discards its translations (see instrument.c). The block that led here ended in a system call, so all its marks were
 * passed; they were counted in the way for one thread. */
void plugin_become_shared(void) {
    if (atomic_load(&channel->head.shared)) return;
    atomic_store(&channel->lanes[0].reached, UINT32_MAX);
    atomic_store(&channel->head.shared, 1);
}

static bool expects_threads;

/* No translation is left. */
QEMU_ID_CALLBACK(plugin_discarded) {
    QEMU_IGNORE;
    if (expects_threads) plugin_become_shared();
}

void plugin_expect_threads(bool expects) {
    expects_threads = expects;
}

void plugin_translate_anew(void) {
    qemu_plugin_reset(plugin_id, QEMU_WITH(plugin_register));
}
