/* The list of files that are mapped for execution. The bundle takes symbols and code from these files.
 *
 * The list only grows. What is mapped now is in `ranges`, so that a block has the file from which it was translated:
 * a library may be loaded where another one was. */
#include "state.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is mapped now */

struct mapped_range {
    uint64_t start, end;
    uint32_t line;
    bool memory; /* the file has no name in a folder: what a program generates in it is named like that in memory */
};

static struct mapped_range *ranges;
static size_t range_count, range_capacity;
static uint32_t lines;

static void add_range(uint64_t start, uint64_t end, uint32_t line, bool memory) {
    if (range_count == range_capacity) {
        size_t capacity = range_capacity ? 2 * range_capacity : 64;
        struct mapped_range *larger = realloc(ranges, capacity * sizeof *larger);
        if (!larger) return;
        ranges = larger;
        range_capacity = capacity;
    }
    ranges[range_count++] = (struct mapped_range){start, end, line, memory};
}

void maps_remove(uint64_t start, uint64_t length) {
    const uint64_t end = start + length;

    for (size_t i = 0; i < range_count; i++) {
        struct mapped_range *r = &ranges[i];
        const struct mapped_range before = *r;
        if (end <= r->start || start >= r->end) continue;
        if (start > before.start) { /* the part in front of it stays */
            r->end = start;
            if (end < before.end) add_range(end, before.end, before.line, before.memory);
        } else if (end < before.end) {
            r->start = end;
        } else {
            *r = ranges[--range_count];
            i--;
        }
    }
}

uint32_t maps_file(uint64_t address, bool *memory) {
    *memory = false;
    for (size_t i = range_count; i-- > 0;) {
        if (address < ranges[i].start || address >= ranges[i].end) continue;
        *memory = ranges[i].memory;
        return ranges[i].line;
    }
    return 0;
}

/* ---- the list */

/* The reader copies the file while it is known to be the one that is mapped. */
static void wait_for_reader(void) {
    while (atomic_load(&channel->head.maps_read) < atomic_load(&channel->head.maps) && !plugin_given_up()) plugin_nap();
}

/* ---- names of generated code: a perf map, and a jitdump file, which is mapped for execution so that it is found */

static char dump_path[PATH_MAX];

static void note_dump(const char *path) {
    const char *name = strrchr(path, '/');
    const size_t length = name ? strlen(name) : 0;

    if (length > 10 && strncmp(name, "/jit-", 5) == 0 && strcmp(name + length - 5, ".dump") == 0)
        snprintf(dump_path, sizeof dump_path, "%s", path);
}

static uint64_t size_of(const char *path) {
    struct stat about;
    return *path && stat(path, &about) == 0 && about.st_size <= UINT32_MAX ? (uint64_t)about.st_size : 0;
}

/* The perf map that another program of this process has left, before execve. */
static struct stat left_map;
static bool map_is_left;

static void perf_map_path(char path[32]) {
    snprintf(path, 32, "/tmp/perf-%d.map", getpid());
}

static void note_left_map(void) {
    char path[32];

    perf_map_path(path);
    map_is_left = stat(path, &left_map) == 0;
    atomic_store(&channel->head.map_is_left, map_is_left);
}

/* A map that is written anew, or to which something is added, is that of this program. */
static bool is_left(const char *path) {
    struct stat about;

    map_is_left = map_is_left && stat(path, &about) == 0 && about.st_ino == left_map.st_ino &&
                  about.st_size == left_map.st_size && about.st_mtim.tv_sec == left_map.st_mtim.tv_sec &&
                  about.st_mtim.tv_nsec == left_map.st_mtim.tv_nsec;
    atomic_store(&channel->head.map_is_left, map_is_left);
    return map_is_left;
}

uint64_t maps_name_sizes(void) {
    char path[32];

    perf_map_path(path);
    return size_of(dump_path) << 32 | (is_left(path) ? 0 : size_of(path));
}

static void add_line(uint64_t start, uint64_t length, uint64_t offset, const char *path) {
    uint64_t used = atomic_load(&channel->head.maps), room = CHANNEL_MAPS - used;
    char shown[4 * PATH_MAX + 1], *at = shown;

    for (const char *from = path; *from && at + 5 < shown + sizeof shown; from++) /* as /proc/PID/maps writes it */
        at = *from == '\n' ? stpcpy(at, "\\012") : (*at = *from, at + 1);
    *at = 0;
    int n =
        snprintf(channel->maps + used, room, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", start, length, offset, shown);
    if (n <= 0 || (uint64_t)n >= room) return;
    atomic_store(&channel->head.maps, used + (uint64_t)n);
    add_range(start, start + length, ++lines, strncmp(path, "/memfd:", 7) == 0);
    note_dump(path);
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
    wait_for_reader();
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

/* QEMU 8.2 and later give the program a vDSO, in memory without a name. The reader gets it as a file that is open.
 * `line`: of /proc/PID/maps. */
static void add_vdso(const char *line) {
    char *at;
    const uint64_t start = strtoull(line, &at, 16), stop = *at == '-' ? strtoull(at + 1, &at, 16) : 0;

    if (strncmp(at, " r--p ", 6) != 0 || strchr(at, '/') || strchr(at, '[') || start < channel->head.guest_base) return;
    const int fd = vdso_file((const uint8_t *)start, stop - start); // NOLINT(performance-no-int-to-ptr)
    if (fd < 0) return;
    add_line(start - channel->head.guest_base, stop - start, 0, "/memfd:[vdso] (deleted)");
    wait_for_reader();
    close(fd);
}

/* The files that are mapped from `start` to `end`, guest addresses. `begins`: the program has not begun, so that no
 * thread of it unmaps what is read here. */
static void add_host_lines(uint64_t start, uint64_t end, bool begins) {
    char line[PATH_MAX + 128];
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return;
    while (fgets(line, sizeof line, maps)) {
        const uint64_t first = strtoull(line, NULL, 16) - channel->head.guest_base;
        if (first < start || first >= end) continue;
        if (begins) add_vdso(line);
        add_host_line(line);
    }
    fclose(maps);
}

void maps_find_base(const struct qemu_plugin_tb *tb) {
    const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
    channel->head.guest_base = (uintptr_t)qemu_plugin_insn_haddr(first) - qemu_plugin_tb_vaddr(tb);
}

void maps_begin(const struct qemu_plugin_tb *tb) {
    static bool begun;

    if (begun) return;
    begun = true;
    note_left_map();
    maps_find_base(tb);
    add_host_lines(0, UINT64_MAX, true);
    wait_for_reader();
}

/* mremap: files that were mapped for execution at the old address are so at the new one. */
void maps_move(uint64_t from, uint64_t length, uint64_t to, uint64_t new_length) {
    bool has_code = false;

    for (size_t i = 0; i < range_count; i++) has_code |= from < ranges[i].end && ranges[i].start < from + length;
    if (to == from) {
        if (new_length < length) maps_remove(from + new_length, length - new_length);
        return;
    }
    maps_remove(from, length);
    maps_remove(to, new_length);
    if (!has_code) return;
    add_host_lines(to, to + new_length, false);
    wait_for_reader();
}
