/* access: QEMU looks for files of the guest below the root of its libraries (-L) when it opens them, asks for their
 * status or executes them, but not for faccessat. A program that looks for a helper that way (a compiler driver, for
 * its passes) does not find it, and often ends without a word. The first such file is reported when the program ends
 * with an error. */
#include "state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char hidden[PATH_MAX];

void hidden_returned(uint64_t path, int64_t result) {
    char place[PATH_MAX];
    char *name = result == -ENOENT ? memory_read_string(path) : NULL;

    if (!name) return;
    plugin_lock();
    const char *root = *name == '/' && !*hidden ? replace_root() : NULL;
    if (root && snprintf(place, sizeof place, "%s%s", root, name) < (int)sizeof place && access(place, F_OK) == 0)
        memcpy(hidden, place, strlen(place) + 1);
    plugin_unlock();
    free(name);
}

void hidden_exit(unsigned status) {
    if (!status || !*hidden) return;
    const char *root = replace_root();
    fprintf(
        stderr,
        "ntrace run: the program asked for %s, which is below the sysroot, where QEMU does not look for files at 'access'; "
        "start the program by its path below %s\n",
        hidden + strlen(root), root);
}
