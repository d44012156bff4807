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

/* No translation is left. */
static QEMU_ID_CALLBACK(continue_shared) {
    QEMU_IGNORE;
    plugin_become_shared();
    plugin_register(QEMU_OWN);
}

void plugin_expect_threads(void) {
    if (!atomic_load(&channel->head.shared)) qemu_plugin_reset(plugin_id, QEMU_WITH(continue_shared));
}

void plugin_translate_anew(void) {
    qemu_plugin_reset(plugin_id, QEMU_WITH(plugin_register));
}
