/* What the drivers of CoreSight devices do when their files are opened and written, for a tree of plain files:
 * preloaded, it answers write() and open() below the folder NTRACE_TREE as the kernel does. The state is in the files
 * themselves, so that all processes see the same.
 *
 * Files in NTRACE_TREE/.driver change what happens: `perf` (perf uses the sink: EBUSY), `memory` (no memory for the
 * buffer), `denied` (nothing can be opened for writing), `read` (the buffer was read already). `log` has every write
 * that was accepted. */
#undef _FILE_OFFSET_BITS /* open and open64 are two functions */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const char devices[] = "/sys/bus/coresight/devices/";
static int inside;

#define SEEN __attribute__((visibility("default")))

static const char *tree(void) {
    const char *root = getenv("NTRACE_TREE");
    return root && *root ? root : NULL;
}

/* The part of a path below the tree, or NULL. */
static const char *below(const char *path, const char *folder) {
    const char *root = tree();
    const size_t length = root ? strlen(root) : 0;
    if (!root || strncmp(path, root, length) != 0 || strncmp(path + length, folder, strlen(folder)) != 0) return NULL;
    return path + length + strlen(folder);
}

static int is_set(const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/.driver/%s", tree(), name);
    return access(path, F_OK) == 0;
}

static long number_in(const char *below_tree) {
    char path[PATH_MAX], text[32] = "";
    long value = -1;
    snprintf(path, sizeof path, "%s%s", tree(), below_tree);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    if (fgets(text, sizeof text, file)) value = strtol(text, NULL, 0);
    fclose(file);
    return value;
}

static int a_sink_is_enabled(void) {
    return number_in("/sys/bus/coresight/devices/tmc_etr0/enable_sink") == 1 ||
           number_in("/sys/bus/coresight/devices/tmc_etf0/enable_sink") == 1;
}

/* Returns 0 or errno for a write of `value` to a file of a device. */
static int judge(const char *device, const char *file, long value) {
    char path[PATH_MAX];
    if (strcmp(file, "buffer_size") == 0) return value <= 0 || value % 4096 ? EINVAL : 0;
    if (strcmp(file, "enable_source") != 0 || !value) return 0;
    snprintf(path, sizeof path, "%s%s/cpu", devices, device);
    const long cpu = number_in(path);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/online", cpu);
    if (number_in(path) == 0) return ENXIO;
    if (!a_sink_is_enabled()) return EINVAL;
    if (is_set("perf")) return EBUSY;
    return is_set("memory") ? ENOMEM : 0;
}

static void keep(const char *device, const char *file, long value) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s/%s", tree(), devices, device, file);
    FILE *out = fopen(path, "w");
    if (out) fprintf(out, strcmp(file, "buffer_size") == 0 ? "%#lx\n" : "%ld\n", value);
    if (out) fclose(out);
    snprintf(path, sizeof path, "%s/.driver/log", tree());
    FILE *log = fopen(path, "a");
    if (log) fprintf(log, "%s/%s %ld\n", device, file, value);
    if (log) fclose(log);
}

SEEN ssize_t write(int fd, const void *bytes, size_t size) {
    ssize_t (*next)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))(uintptr_t)dlsym(RTLD_NEXT, "write");
    char link[64], path[PATH_MAX] = "", device[128], file[128], text[64];
    if (inside || !tree()) return next(fd, bytes, size);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0) return next(fd, bytes, size);
    const char *rest = below(path, devices);
    if (!rest || sscanf(rest, "%127[^/]/%127s", device, file) != 2) return next(fd, bytes, size);
    snprintf(text, sizeof text, "%.*s", (int)(size < 63 ? size : 63), (const char *)bytes);
    inside = 1;
    const int why = judge(device, file, strtol(text, NULL, 0));
    if (!why) keep(device, file, strtol(text, NULL, 0));
    inside = 0;
    errno = why;
    return why ? -1 : (ssize_t)size;
}

static int refuses(const char *path, int flags) {
    if (!tree()) return 0;
    if (below(path, devices) && (flags & O_ACCMODE) != O_RDONLY && is_set("denied")) return EACCES;
    if (below(path, "/dev/tmc_") && is_set("perf")) return EBUSY;
    return below(path, "/dev/tmc_") && is_set("read") ? EINVAL : 0;
}

static int open_next(const char *name, const char *path, int flags, mode_t mode) {
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))(uintptr_t)dlsym(RTLD_NEXT, name);
    const int why = inside ? 0 : refuses(path, flags);
    if (!why) return next(path, flags, mode);
    errno = why;
    return -1;
}

SEEN int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_next("open", path, flags, mode);
}

SEEN int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_next("open64", path, flags, mode);
}
