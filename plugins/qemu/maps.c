/* The list of files that are mapped for execution. The bundle takes symbols and code from these files. */
#include "state.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_line(uint64_t start, uint64_t length, uint64_t offset, const char *path) {
    uint64_t used = atomic_load(&channel->head.maps), room = CHANNEL_MAPS - used;

    if (strchr(path, '\n')) return;
    int n =
        snprintf(channel->maps + used, room, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", start, length, offset, path);
    if (n <= 0 || (uint64_t)n >= room) return;
    atomic_store(&channel->head.maps, used + (uint64_t)n);
    if (!channel->head.access_object) return;
    channel->head.access_first = 0; /* the file may have the object */
    channel->head.access_last = UINT64_MAX;
}

void maps_add(uint64_t start, uint64_t length, int fd, uint64_t offset) {
    char link[32], path[PATH_MAX];

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return;
    path[n] = 0;
    add_line(start, length, offset, path);
}

/* "START-END PERMS OFFSET MAJ:MIN INODE  PATH", host addresses. */
static void add_host_line(char *line) {
    char *path = strchr(line, '/'), *end, *at;
    uint64_t start = strtoull(line, &at, 16);
    uint64_t stop = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    at = strchr(at + (*at == ' '), ' ');
    if (!path || !at || stop <= start || start < channel->head.guest_base) return;
    uint64_t offset = strtoull(at, NULL, 16);
    end = strchr(path, '\n');
    if (end) *end = 0;
    add_line(start - channel->head.guest_base, stop - start, offset, path);
}

void maps_find_base(const struct qemu_plugin_tb *tb) {
    const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
    channel->head.guest_base = (uintptr_t)qemu_plugin_insn_haddr(first) - qemu_plugin_tb_vaddr(tb);
}

void maps_begin(const struct qemu_plugin_tb *tb) {
    static bool begun;
    char line[PATH_MAX + 128];

    if (begun) return;
    begun = true;
    maps_find_base(tb);
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return;
    while (fgets(line, sizeof line, maps)) add_host_line(line);
    fclose(maps);
}
