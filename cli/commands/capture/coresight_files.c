#include "commands/capture/coresight_files.h"
#include "options/diagnostics.h"
#include "options/options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char device_folder[] = "/sys/bus/coresight/devices";

enum { FILE_STEP = 1 << 16, FILE_MAX = 1 << 30 };

/* ---- files */

static bool path_of(const struct linux_devices *d, const char *device, const char *file, char path[PATH_MAX]) {
    const int size = snprintf(path, PATH_MAX, "%s%s/%s/%s", d->root, device_folder, device, file);
    return size > 0 && size < PATH_MAX;
}

static bool read_line(const char *path, char *text, size_t size) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

    if (fd >= 0) close(fd);
    if (got < 0) return false;
    text[got] = 0;
    text[strcspn(text, "\n")] = 0;
    return true;
}

/* Returns 0, or errno. */
static int write_line(const char *path, const char *text) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0) return errno;
    const ssize_t put = write(fd, text, strlen(text));
    const int why = put < 0 ? errno : 0;
    return close(fd) == 0 || why ? why : errno;
}

bool linux_read_text(const struct linux_devices *d, const char *device, const char *file, char *text, size_t size) {
    char path[PATH_MAX];
    return path_of(d, device, file, path) && read_line(path, text, size);
}

/* The kernel writes numbers as 5, 0x5, or without prefix but hexadecimal: only 0 to 9 and 0x... are used here. */
bool linux_read_number(const struct linux_devices *d, const char *device, const char *file, uint64_t *value) {
    char text[32];
    return linux_read_text(d, device, file, text, sizeof text) && cli_parse_number(text, value);
}

int linux_write(const struct linux_devices *d, const char *device, const char *file, const char *text) {
    char path[PATH_MAX];
    return path_of(d, device, file, path) ? write_line(path, text) : ENAMETOOLONG;
}

uint8_t *linux_read_file(const char *root, const char *path, size_t *size) {
    char name[PATH_MAX];
    uint8_t *bytes = NULL;
    size_t capacity = 0;
    ssize_t got = 0;

    *size = 0;
    snprintf(name, sizeof name, "%s%s", root, path);
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        cli_fail("%s: %s", path, strerror(errno));
        return NULL;
    }
    do {
        if (*size + FILE_STEP > capacity) {
            capacity = 2 * capacity + FILE_STEP;
            uint8_t *grown = capacity > FILE_MAX ? NULL : realloc(bytes, capacity);
            if (!grown) {
                cli_fail("%s: larger than 1 GiB, or out of memory", path);
                free(bytes);
                close(fd);
                return NULL;
            }
            bytes = grown;
        }
        got = read(fd, bytes + *size, FILE_STEP);
        if (got > 0) *size += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0) {
        cli_fail("%s: %s", path, strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    close(fd);
    return bytes;
}

/* ---- devices */

static bool is_online(const char *root, unsigned cpu) {
    char path[PATH_MAX], text[8];

    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%u/online", root, cpu);
    return !read_line(path, text, sizeof text) || text[0] != '0'; /* a CPU that cannot go offline has no such file */
}

static void add_encoder(struct linux_devices *d, const char *name, uint64_t enabled) {
    struct linux_encoder *one = &d->encoders[d->encoder_count];
    uint64_t cpu;

    if (d->encoder_count == LINUX_ENCODERS || !linux_read_number(d, name, "cpu", &cpu) || cpu > UINT16_MAX) return;
    *one =
        (struct linux_encoder){.cpu = (unsigned)cpu, .enabled = enabled, .online = is_online(d->root, (unsigned)cpu)};
    snprintf(one->name, sizeof one->name, "%.*s", LINUX_NAME - 1, name);
    d->encoder_count++;
}

static void add_sink(struct linux_devices *d, const char *name, uint64_t enabled) {
    if (d->sink_count == LINUX_SINKS) return;
    d->sinks[d->sink_count] = (struct linux_sink){.enabled = enabled};
    snprintf(d->sinks[d->sink_count++].name, LINUX_NAME, "%.*s", LINUX_NAME - 1, name);
}

static int by_cpu(const void *a, const void *b) {
    const struct linux_encoder *one = a, *other = b;
    return (one->cpu > other->cpu) - (one->cpu < other->cpu);
}

int linux_devices_find(struct linux_devices *d, const char *root) {
    char path[PATH_MAX];
    uint64_t enabled;

    *d = (struct linux_devices){.root = root ? root : "", .keeper = -1};
    snprintf(path, sizeof path, "%s%s", d->root, device_folder);
    DIR *folder = opendir(path);
    if (!folder)
        return cli_fail(
            "%s: %s: expected a kernel with CONFIG_CORESIGHT, CORESIGHT_LINK_AND_SINK_TMC and RVTRACE_ENCODER",
            device_folder, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || strlen(entry->d_name) >= LINUX_NAME) continue;
        if (linux_read_number(d, entry->d_name, "enable_source", &enabled))
            add_encoder(d, entry->d_name, enabled);
        else if (linux_read_number(d, entry->d_name, "enable_sink", &enabled))
            add_sink(d, entry->d_name, enabled);
    }
    closedir(folder);
    qsort(d->encoders, d->encoder_count, sizeof d->encoders[0], by_cpu);
    if (!d->sink_count)
        return cli_fail("%s: no device has a file enable_sink: is the driver of the ETR there?", device_folder);
    return CLI_OK;
}

/* ---- what was there before */

int linux_save(struct linux_devices *d, const char *device, const char *file) {
    struct linux_saved *one = &d->saved[d->saved_count];

    if (d->saved_count == LINUX_SAVED || !path_of(d, device, file, one->path)) return cli_fail("too many devices");
    if (!read_line(one->path, one->text, sizeof one->text))
        return cli_fail("%s/%s: cannot be read: %s", device, file, strerror(errno));
    d->saved_count++;
    return CLI_OK;
}

static bool has_text(const struct linux_saved *one) {
    char now[32];
    return read_line(one->path, now, sizeof now) && strcmp(now, one->text) == 0;
}

/* Returns how many files could not be written back. */
static int write_back(const struct linux_devices *d) {
    int failed = 0;

    for (size_t i = 0; i < d->saved_count; i++) {
        const struct linux_saved *one = &d->saved[i];
        if (!has_text(one) && write_line(one->path, one->text) != 0) failed++;
    }
    return failed;
}

/* The keeper waits for a byte, or for the end of the capture's process. */
static void __attribute__((noreturn)) keep(const struct linux_devices *d, int from) {
    char byte;

    setsid(); /* an interrupt of the terminal is for the capture */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    while (read(from, &byte, 1) < 0 && errno == EINTR) continue;
    _exit(write_back(d) ? 1 : 0);
}

int linux_keep(struct linux_devices *d) {
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) return cli_fail("%s", strerror(errno));
    d->keeper_pid = fork();
    if (d->keeper_pid < 0) return cli_fail("%s", strerror(errno));
    if (d->keeper_pid == 0) {
        close(ends[1]);
        keep(d, ends[0]);
    }
    close(ends[0]);
    d->keeper = ends[1];
    return CLI_OK;
}

int linux_restore(struct linux_devices *d) {
    int status = 0;

    if (d->keeper < 0) return CLI_OK;
    close(d->keeper);
    d->keeper = -1;
    while (waitpid(d->keeper_pid, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return CLI_OK;
    for (size_t i = 0; i < d->saved_count; i++)
        if (!has_text(&d->saved[i])) cli_note("%s could not be set back to %s", d->saved[i].path, d->saved[i].text);
    return CLI_DEFECTS;
}

/* ---- reasons */

static const struct linux_encoder *encoder_named(const struct linux_devices *d, const char *name) {
    for (size_t i = 0; i < d->encoder_count; i++)
        if (strcmp(d->encoders[i].name, name) == 0) return &d->encoders[i];
    return NULL;
}

int linux_explain(const struct linux_devices *d, const char *device, const char *file, const char *text, int why) {
    const struct linux_encoder *encoder = encoder_named(d, device);

    if (why == EACCES || why == EPERM) return cli_fail("%s/%s: %s: run as root", device, file, strerror(why));
    if (encoder && (why == ENXIO || why == ENODEV || !encoder->online))
        return cli_fail("%s/%s: %s: CPU %u is offline; echo 1 > /sys/devices/system/cpu/cpu%u/online", device, file,
                        strerror(why), encoder->cpu, encoder->cpu);
    if (why == EBUSY)
        return cli_fail("%s/%s: %s: perf or another capture uses the sink or the encoder; end it first", device, file,
                        strerror(why));
    if (why == ENOMEM)
        return cli_fail("%s/%s: %s: the kernel has no memory for the buffer; give a smaller --buffer", device, file,
                        strerror(why));
    if (why == EINVAL && strcmp(file, "buffer_size") == 0)
        return cli_fail("%s/buffer_size: %s refused: expected a multiple of the page size", device, text);
    if (why == EINVAL && encoder)
        return cli_fail("%s/%s: %s: no enabled sink is reached from this encoder", device, file, strerror(why));
    return cli_fail("%s/%s: writing %s: %s", device, file, text, strerror(why));
}
