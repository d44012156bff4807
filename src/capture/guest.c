#include "capture/guest.h"
#include "base/allocator.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the command line of QEMU -------------------------------------------------------------------------------------
 */

struct arguments {
    char **items; /* ends with NULL */
    size_t count;
};

static void add(struct arguments *arguments, const char *argument) {
    arguments->items[arguments->count++] = (char *)(uintptr_t)argument; /* exec takes char *, and does not write */
}

static void add_pair(struct arguments *arguments, const char *name, const char *value) {
    if (!value) return;
    add(arguments, name);
    add(arguments, value);
}

const char *ntr_capture_guest_root(const ntr_capture_config *config) {
    if (config->sysroot) return config->sysroot;
    return access(NTR_CAPTURE_SYSROOT, X_OK) == 0 ? NTR_CAPTURE_SYSROOT : NULL;
}

static const char *sysroot_of(const ntr_capture_config *config, const struct ntr_capture_elf *elf) {
    return config->sysroot || elf->is_dynamic ? ntr_capture_guest_root(config) : NULL;
}

/* The program that was found for command[0], under the name that it has for itself. */
static void add_program(struct arguments *arguments, const char *command, const struct channel_program *program) {
    if (!*program->path) {
        add(arguments, command);
        return;
    }
    add_pair(arguments, "-0", program->count ? program->words[0] : command);
    add(arguments, program->path);
    for (unsigned i = 1; i < program->count; i++) add(arguments, program->words[i]);
}

static bool make_arguments(struct arguments *arguments, const ntr_capture_config *config,
                           const struct ntr_capture_elf *elf, const struct channel_program *program,
                           const char *plugin) {
    enum { OWN = 10 + 2 * CHANNEL_SCRIPTS }; /* QEMU, four options with their values, words of a script, NULL */
    size_t count = 0;

    while (config->command[count]) count++;
    *arguments = (struct arguments){
        .items = ntr_alloc(config->allocator, OWN + config->qemu_option_count + count, sizeof(char *))};
    if (!arguments->items) return false;
    add(arguments, config->qemu ? config->qemu : elf->xlen == 32 ? "qemu-riscv32" : "qemu-riscv64");
    add_pair(arguments, "-L", sysroot_of(config, elf));
    add_pair(arguments, "-cpu", config->cpu);
    for (size_t i = 0; i < config->qemu_option_count; i++) add(arguments, config->qemu_options[i]);
    add_pair(arguments, "-plugin", plugin);
    add_program(arguments, config->command[0], program);
    for (size_t i = 1; i < count; i++) add(arguments, config->command[i]);
    return true;
}

/* "PATH,channel=/proc/PID/fd/N,root=DIR" */
static ntr_status plugin_argument(const ntr_capture_config *config, int memory, char *out, size_t size,
                                  struct ntr_capture_reason *reason) {
    const char *plugin = config->plugin, *root = ntr_capture_guest_root(config);
    char path[PATH_MAX];

    if (!plugin) return ntr_capture_fail(reason, NTR_E_INVALID, "the capture plugin is missing");
    if (!realpath(plugin, path)) return ntr_capture_fail_errno(reason, plugin);
    if (strchr(path, ','))
        return ntr_capture_fail(reason, NTR_E_INVALID, "%s: QEMU takes no plugin with a comma in its path", path);
    if (root && strchr(root, ',')) root = NULL;
    snprintf(out, size, "%s,channel=/proc/%d/fd/%d%s%s", path, (int)getpid(), memory, root ? ",root=" : "",
             root ? root : "");
    return NTR_OK;
}

/* ---- starting -----------------------------------------------------------------------------------------------------
 */

/* Signals that a caller may ignore for its own output have their default action in the guest. Returns an errno. */
static int spawn(pid_t *pid, char **arguments, const posix_spawn_file_actions_t *actions) {
    posix_spawnattr_t attributes;
    sigset_t defaults;

    int failed = posix_spawnattr_init(&attributes);
    if (failed) return failed;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    failed = posix_spawnp(pid, arguments[0], actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

static ntr_status start(struct ntr_capture_guest *guest, char **arguments, struct ntr_capture_reason *reason) {
    pid_t pid;
    int failed = spawn(&pid, arguments, NULL);

    if (failed == ENOENT)
        return ntr_capture_fail(reason, NTR_E_IO, "%s: not found; Debian's package qemu-user has it", arguments[0]);
    if (failed) return ntr_capture_fail(reason, NTR_E_IO, "%s: %s", arguments[0], strerror(failed));
    guest->pid = pid;
    return NTR_OK;
}

static void ask_version(struct ntr_capture_guest *guest, char *qemu);

ntr_status ntr_capture_guest_spawn(struct ntr_capture_guest *guest, char **arguments,
                                   struct ntr_capture_reason *reason) {
    *guest = (struct ntr_capture_guest){0};
    ntr_status status = start(guest, arguments, reason);
    if (status == NTR_OK) ask_version(guest, arguments[0]);
    return status;
}

/* Start `QEMU --version` with its output in a pipe. It runs beside the guest, and its output is read at the end.
 * Without it, the version is not known. */
static void ask_version(struct ntr_capture_guest *guest, char *qemu) {
    char option[] = "--version", *arguments[] = {qemu, option, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC)) return;
    bool asked = posix_spawn_file_actions_init(&actions) == 0;
    if (asked) {
        asked = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                spawn(&guest->version_pid, arguments, &actions) == 0;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    guest->version_file = ends[0];
    if (asked) return;
    close(ends[0]);
    guest->version_pid = 0;
}

ntr_status ntr_capture_guest_start(struct ntr_capture_guest *guest, const ntr_capture_config *config,
                                   const struct ntr_capture_elf *elf, const struct channel_program *program, int memory,
                                   struct ntr_capture_reason *reason) {
    char plugin[2 * PATH_MAX + 64];
    struct arguments arguments;

    *guest = (struct ntr_capture_guest){0};
    ntr_status status = plugin_argument(config, memory, plugin, sizeof plugin, reason);
    if (status != NTR_OK) return status;
    if (!make_arguments(&arguments, config, elf, program, plugin)) return ntr_capture_fail_memory(reason);
    status = start(guest, arguments.items, reason);
    if (status == NTR_OK) ask_version(guest, arguments.items[0]);
    ntr_dealloc(config->allocator, arguments.items);
    return status;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

ntr_status ntr_capture_guest_adopt(struct ntr_capture_guest *guest, pid_t pid, struct ntr_capture_reason *reason) {
    *guest = (struct ntr_capture_guest){.handle = (int)syscall(SYS_pidfd_open, pid, 0)};
    if (guest->handle < 0) return ntr_capture_fail_errno(reason, "pidfd_open");
    guest->pid = guest->adopted = pid;
    return NTR_OK;
}

/* The handle of a process is readable once the process has ended. */
static void poll_adopted(struct ntr_capture_guest *guest) {
    struct pollfd handle = {.fd = guest->handle, .events = POLLIN};
    guest->ended = poll(&handle, 1, 0) == 1;
}

void ntr_capture_guest_poll(struct ntr_capture_guest *guest) {
    siginfo_t about = {0};

    if (guest->adopted) {
        if (!guest->ended) poll_adopted(guest);
        return;
    }
    if (guest->ended || waitid(P_PID, (id_t)guest->pid, &about, WEXITED | WNOHANG | WNOWAIT)) return;
    if (about.si_pid != guest->pid) return;
    guest->ended = true;
    guest->signal = about.si_code == CLD_EXITED ? 0 : about.si_status;
    guest->status = guest->signal ? 128 + guest->signal : about.si_status;
}

void ntr_capture_guest_kill(struct ntr_capture_guest *guest) {
    if (guest->pid && !guest->ended && !guest->adopted) kill(guest->pid, SIGKILL);
}

static pid_t wait_for(pid_t pid) {
    pid_t got;
    do got = waitpid(pid, NULL, 0);
    while (got < 0 && errno == EINTR);
    return got;
}

static void read_version(struct ntr_capture_guest *guest) {
    size_t size = 0;
    ssize_t n = 1;

    while (size + 1 < sizeof guest->version && n > 0) {
        n = read(guest->version_file, guest->version + size, sizeof guest->version - 1 - size);
        if (n > 0) size += (size_t)n;
        if (n < 0 && errno == EINTR) n = 1;
    }
    guest->version[strcspn(guest->version, "\n")] = 0;
}

void ntr_capture_guest_version(struct ntr_capture_guest *guest) {
    if (!guest->version_pid) return;
    read_version(guest);
    close(guest->version_file);
    wait_for(guest->version_pid);
    guest->version_pid = 0;
}

bool ntr_capture_qemu_version(const char *qemu, unsigned *major, unsigned *minor) {
    struct ntr_capture_guest guest = {0};
    static const char word[] = " version ";
    char *end;

    ask_version(&guest, (char *)(uintptr_t)qemu);
    ntr_capture_guest_version(&guest);
    const char *at = strstr(guest.version, word);
    if (!at) return false;
    *major = (unsigned)strtoul(at + sizeof word - 1, &end, 10);
    *minor = *end == '.' ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
    return true;
}

void ntr_capture_guest_reap(struct ntr_capture_guest *guest) {
    if (guest->pid && guest->adopted)
        close(guest->handle);
    else if (guest->pid)
        wait_for(guest->pid);
    guest->pid = 0;
    ntr_capture_guest_version(guest);
}
