#include "io/plugin.h"
#include "options/diagnostics.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NTRACE_PLUGIN_DIR
#define NTRACE_PLUGIN_DIR "/usr/local/lib/ntrace"
#endif

const char *cli_qemu_search(bool machine, char *search, size_t size) {
    const char *debian = getenv("NTRACE_DEBIAN"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"),
               *path = getenv("PATH"), *folder = machine ? "qemu" : "qemu-user";
    char place[PATH_MAX];

    if (debian && *debian)
        snprintf(place, sizeof place, "%s", debian);
    else if (cache && *cache)
        snprintf(place, sizeof place, "%s/ntrace/debian", cache);
    else
        snprintf(place, sizeof place, "%s/.cache/ntrace/debian", home ? home : "");
    const int n = snprintf(search, size, "%s:%s/%s/run", path ? path : "", place, folder);
    if (n < 0 || (size_t)n >= size) snprintf(search, size, "%s/%s/run", place, folder); /* PATH is too long */
    return search;
}

static bool plugin_in(char *path, size_t size, const char *folder, const char *plugin) {
    int n = snprintf(path, size, "%s/%s", folder, plugin);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

/* Sets `folder` to that of the command; "" if it is not known. */
static void find_own_folder(char folder[PATH_MAX]) {
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    folder[n > 0 ? n : 0] = 0;
    if (n > 0) *strrchr(folder, '/') = 0;
}

bool cli_plugin_seen(const char *plugin, char *path, size_t size) {
    char folder[PATH_MAX];

    find_own_folder(folder);
    return (*folder && plugin_in(path, size, folder, plugin)) || plugin_in(path, size, NTRACE_PLUGIN_DIR, plugin);
}

int cli_plugin_find(const char *plugin, char *path, size_t size) {
    char folder[PATH_MAX];

    if (cli_plugin_seen(plugin, path, size)) return CLI_OK;
    find_own_folder(folder);
    return cli_fail("the capture plugin %s was not found in %s or in " NTRACE_PLUGIN_DIR
                    " (is ntrace built with -Dqemu-plugin=enabled?)",
                    plugin, *folder ? folder : "the folder of ntrace");
}
