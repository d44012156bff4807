#include "capture/guest.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSROOT "/usr/riscv64-linux-gnu" /* where Debian's cross packages put RISC-V libraries */
#define PLUGIN  "ntrace-qemu.so"

#ifndef NTRACE_PLUGIN_DIR
#define NTRACE_PLUGIN_DIR "/usr/local/lib/ntrace"
#endif

const struct cli_option run_guest_rows[] = {
    CLI_STRING('L', "sysroot", "DIR", struct run_guest_options, sysroot,
               "where dynamic programs find their libraries (default " SYSROOT " when it exists)"),
    CLI_STRING(0, "cpu", "MODEL", struct run_guest_options, cpu, "QEMU's CPU model, like rv64,zba=false"),
    CLI_STRING(0, "qemu", "FILE", struct run_guest_options, qemu,
               "QEMU user mode (default qemu-riscv64 or qemu-riscv32, as the program needs)"),
    CLI_LIST(0, "qemu-option", "OPTION", struct run_guest_options, qemu_options,
             "one more option for QEMU; repeatable"),
    CLI_STRING(0, "plugin", "FILE", struct run_guest_options, plugin,
               "capture plugin (default: the one beside ntrace, or the installed one)"),
    {0},
};

/* ---- signals: ntrace outlives the program ------------------------------------------------------------ */

static volatile sig_atomic_t guest_pid;

/* From the terminal, the program gets the signal as well; from elsewhere it is passed on. */
static void pass_on(int signal, siginfo_t *info, void *context) {
    int kept = errno;

    (void)context;
    if (guest_pid > 0 && info->si_code != SI_KERNEL) kill((pid_t)guest_pid, signal);
    errno = kept;
}

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
#define PASSED_ON (sizeof passed_on / sizeof passed_on[0])

static void catch_signals(void) {
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < PASSED_ON; i++) sigaction(passed_on[i], &action, NULL);
}

/* ---- where things are ---------------------------------------------------------------------------------- */

static bool plugin_in(char *path, size_t size, const char *folder) {
    int n = snprintf(path, size, "%s/" PLUGIN, folder);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

static int find_plugin(const char *given, char *path, size_t size) {
    char folder[PATH_MAX];

    if (given) return realpath(given, path) ? CLI_OK : cli_fail("%s: %s", given, strerror(errno));
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (n > 0) {
        folder[n] = 0;
        *strrchr(folder, '/') = 0;
        if (plugin_in(path, size, folder)) return CLI_OK;
    }
    if (plugin_in(path, size, NTRACE_PLUGIN_DIR)) return CLI_OK;
    return cli_fail("the capture plugin " PLUGIN " is neither in %s nor in " NTRACE_PLUGIN_DIR
                    " (was ntrace built with -Dqemu-plugin=enabled?)",
                    n > 0 ? folder : "the folder of ntrace");
}

/* ---- starting -------------------------------------------------------------------------------------------- */

/* Words of the command line; the last stays NULL. */
struct words {
    const char *word[64];
    size_t count;
    bool full;
};

static void add(struct words *words, const char *word) {
    if (words->count + 1 < sizeof words->word / sizeof words->word[0])
        words->word[words->count++] = word;
    else
        words->full = true;
}

static void add_pair(struct words *words, const char *name, const char *value) {
    if (!value) return;
    add(words, name);
    add(words, value);
}

static char **join(const struct words *words, char **operands) {
    size_t n = 0;
    while (operands[n]) n++;
    char **all = calloc(words->count + n + 1, sizeof *all);
    if (!all) return NULL;
    memcpy(all, words->word, words->count * sizeof *all);
    memcpy(all + words->count, operands, n * sizeof *all);
    return all;
}

/* In the child, up to exec. What goes wrong is written to `report`. */
static void become(char **command, int report) {
    for (size_t i = 0; i < PASSED_ON; i++) signal(passed_on[i], SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(command[0], command);
    int why = errno;
    if (write(report, &why, sizeof why) < 0) _exit(126);
    _exit(127);
}

static int spawn(struct run_guest *guest, char **command) {
    int report[2], why = 0;

    if (pipe2(report, O_CLOEXEC)) return cli_fail("pipe: %s", strerror(errno));
    fflush(NULL);
    guest->pid = fork();
    if (guest->pid == 0) become(command, report[1]);
    close(report[1]);
    guest_pid = guest->pid;
    ssize_t n = guest->pid < 0 ? -1 : read(report[0], &why, sizeof why);
    if (guest->pid < 0) why = errno;
    close(report[0]);
    if (n == 0) return CLI_OK;
    if (guest->pid > 0) waitpid(guest->pid, NULL, 0);
    return why == ENOENT ? cli_fail("%s: not found; Debian's package qemu-user has it", command[0])
                         : cli_fail("%s: %s", command[0], strerror(why));
}

/* QEMU takes its time to answer, so it is asked while the program runs. */
static FILE *ask_version(const char *qemu) {
    char command[PATH_MAX + 32];

    if (strpbrk(qemu, "'\\")) return NULL;
    snprintf(command, sizeof command, "'%s' --version 2>/dev/null", qemu);
    return popen(command, "re");
}

int run_guest_start(struct run_guest *guest, const struct run_guest_options *options, char **operands, unsigned xlen,
                    bool is_dynamic, int channel) {
    char plugin[PATH_MAX], argument[PATH_MAX + 64], qemu[16];
    struct words words = {0};

    *guest = (struct run_guest){0};
    if (find_plugin(options->plugin, plugin, sizeof plugin) != CLI_OK) return CLI_FAILED;
    if (strchr(plugin, ',')) return cli_fail("%s: QEMU takes no plugin with a comma in its path", plugin);
    snprintf(qemu, sizeof qemu, "qemu-riscv%s", xlen == 32 ? "32" : "64");
    snprintf(argument, sizeof argument, "%s,channel=/proc/%d/fd/%d", plugin, (int)getpid(), channel);
    add(&words, options->qemu ? options->qemu : qemu);
    add_pair(&words, "-L",
             options->sysroot                           ? options->sysroot
             : is_dynamic && access(SYSROOT, X_OK) == 0 ? SYSROOT
                                                        : NULL);
    add_pair(&words, "-cpu", options->cpu);
    for (size_t i = 0; i < options->qemu_options.count; i++) add(&words, options->qemu_options.items[i].value);
    add_pair(&words, "-plugin", argument);
    if (words.full) return cli_fail("too many --qemu-option");
    char **command = join(&words, operands);
    if (!command) return cli_fail("out of memory");
    catch_signals();
    int status = spawn(guest, command);
    if (status == CLI_OK) guest->answer = ask_version(command[0]);
    free(command);
    return status;
}

void run_guest_poll(struct run_guest *guest) {
    int status;

    if (guest->ended || waitpid(guest->pid, &status, WNOHANG) != guest->pid) return;
    guest_pid = 0;
    guest->ended = true;
    guest->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    guest->status = guest->signal ? 128 + guest->signal : WEXITSTATUS(status);
}

void run_guest_kill(struct run_guest *guest) {
    if (!guest->ended) kill(guest->pid, SIGKILL);
}

void run_guest_end(struct run_guest *guest) {
    if (!guest->answer) return;
    if (!fgets(guest->version, sizeof guest->version, guest->answer)) guest->version[0] = 0;
    pclose(guest->answer);
    guest->answer = NULL;
    guest->version[strcspn(guest->version, "\n")] = 0;
}
