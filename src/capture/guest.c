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

/* -cpu. QEMU's default is `max` since version 9. */
static const char *cpu_of(const ntr_capture_config *config, const struct ntr_capture_elf *elf,
                          const struct channel_program *program, const ntr_capture_qemu *qemu) {
    if (config->cpu || qemu->major < 9) return config->cpu;
    const char *path = *program->path ? program->path : config->command[0];
    return !ntr_capture_qemu_plain_cpu(path) ? NULL : elf->xlen == 32 ? "rv32" : "rv64";
}

static bool make_arguments(struct arguments *arguments, const ntr_capture_config *config,
                           const struct ntr_capture_elf *elf, const struct channel_program *program,
                           const ntr_capture_qemu *qemu, const char *plugin) {
    enum { OWN = 10 + 2 * CHANNEL_SCRIPTS }; /* QEMU, four options with their values, words of a script, NULL */
    size_t count = 0;

    while (config->command[count]) count++;
    *arguments = (struct arguments){
        .items = ntr_alloc(config->allocator, OWN + config->qemu_option_count + count, sizeof(char *))};
    if (!arguments->items) return false;
    add(arguments, qemu->path);
    add_pair(arguments, "-L", sysroot_of(config, elf));
    add_pair(arguments, "-cpu", cpu_of(config, elf, program, qemu));
    for (size_t i = 0; i < config->qemu_option_count; i++) add(arguments, config->qemu_options[i]);
    add_pair(arguments, "-plugin", plugin);
    add_program(arguments, config->command[0], program);
    for (size_t i = 1; i < count; i++) add(arguments, config->command[i]);
    return true;
}

/* The QEMU that is used. If both it and the plugin are given, they are taken as they are. */
static ntr_status choose_qemu(ntr_capture_qemu *qemu, const ntr_capture_config *config,
                              const struct ntr_capture_elf *elf, struct ntr_capture_reason *reason) {
    if (!config->plugin && !config->plugin_dir)
        return ntr_capture_fail(reason, NTR_E_INVALID, "the folder of the capture plugins is missing");
    if (ntr_capture_qemu_find(qemu, config->qemu, config->qemu_search, false, elf->xlen)) return NTR_OK;
    if (!config->plugin) return ntr_capture_fail(reason, NTR_E_IO, "%s", qemu->error);
    if (!config->qemu) qemu->version[0] = 0; /* of another one */
    snprintf(qemu->path, sizeof qemu->path, "%s",
             config->qemu      ? config->qemu
             : elf->xlen == 32 ? "qemu-riscv32"
                               : "qemu-riscv64");
    return NTR_OK;
}

/* "PATH,channel=/proc/PID/fd/N,root=DIR" */
static ntr_status plugin_argument(const ntr_capture_config *config, const ntr_capture_qemu *qemu, int memory, char *out,
                                  size_t size, struct ntr_capture_reason *reason) {
    const char *root = ntr_capture_guest_root(config);
    char path[PATH_MAX], plugin[PATH_MAX];

    snprintf(plugin, sizeof plugin, "%s%s%s", config->plugin ? config->plugin : config->plugin_dir,
             config->plugin ? "" : "/", config->plugin ? "" : qemu->plugin);
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

static ntr_status start(struct ntr_capture_guest *guest, char **arguments, struct ntr_capture_reason *reason) {
    pid_t pid;
    int failed = ntr_capture_spawn(&pid, arguments, NULL);

    if (failed == ENOENT)
        return ntr_capture_fail(reason, NTR_E_IO, "%s: not found; Debian's package qemu-user has it", arguments[0]);
    if (failed) return ntr_capture_fail(reason, NTR_E_IO, "%s: %s", arguments[0], strerror(failed));
    guest->pid = pid;
    return NTR_OK;
}

ntr_status ntr_capture_guest_spawn(struct ntr_capture_guest *guest, char **arguments,
                                   struct ntr_capture_reason *reason) {
    *guest = (struct ntr_capture_guest){0};
    ntr_status status = start(guest, arguments, reason);
    if (status == NTR_OK) ntr_capture_ask(&guest->question, arguments[0], "--version");
    return status;
}

ntr_status ntr_capture_guest_start(struct ntr_capture_guest *guest, const ntr_capture_config *config,
                                   const struct ntr_capture_elf *elf, const struct channel_program *program, int memory,
                                   struct ntr_capture_reason *reason) {
    char plugin[2 * PATH_MAX + 64];
    struct arguments arguments;
    ntr_capture_qemu qemu = {0};

    *guest = (struct ntr_capture_guest){0};
    ntr_status status = choose_qemu(&qemu, config, elf, reason);
    if (status == NTR_OK) status = plugin_argument(config, &qemu, memory, plugin, sizeof plugin, reason);
    if (status != NTR_OK) return status;
    if (!make_arguments(&arguments, config, elf, program, &qemu, plugin)) return ntr_capture_fail_memory(reason);
    status = start(guest, arguments.items, reason);
    memcpy(guest->version, qemu.version, sizeof guest->version);
    if (status == NTR_OK && !*qemu.version) ntr_capture_ask(&guest->question, arguments.items[0], "--version");
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

void ntr_capture_guest_version(struct ntr_capture_guest *guest) {
    if (!guest->question.pid) return;
    ntr_capture_answer(&guest->question, guest->version, sizeof guest->version);
    guest->version[strcspn(guest->version, "\n")] = 0;
}

void ntr_capture_guest_reap(struct ntr_capture_guest *guest) {
    if (guest->pid && guest->adopted)
        close(guest->handle);
    else if (guest->pid)
        ntr_capture_wait(guest->pid);
    guest->pid = 0;
    ntr_capture_guest_version(guest);
}
