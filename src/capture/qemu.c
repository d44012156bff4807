/* Which QEMU runs RISC-V programs or machines, the capture plugin that goes with its version, and its CPU. */
#include "capture/qemu.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- asking -------------------------------------------------------------------------------------------------------
 */

int ntr_capture_spawn(pid_t *pid, char **arguments, const posix_spawn_file_actions_t *actions) {
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

void ntr_capture_wait(pid_t pid) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void ntr_capture_ask(struct ntr_capture_question *question, const char *qemu, const char *option) {
    char *arguments[] = {(char *)(uintptr_t)qemu, (char *)(uintptr_t)option, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];

    *question = (struct ntr_capture_question){0};
    if (pipe2(ends, O_CLOEXEC)) return;
    bool asked = posix_spawn_file_actions_init(&actions) == 0;
    if (asked) {
        asked = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                ntr_capture_spawn(&question->pid, arguments, &actions) == 0;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    question->file = ends[0];
    if (asked) return;
    close(ends[0]);
    question->pid = 0;
}

void ntr_capture_answer(struct ntr_capture_question *question, char *text, size_t size) {
    size_t used = 0;
    ssize_t n = 1;

    while (question->pid && used + 1 < size && (n > 0 || (n < 0 && errno == EINTR))) {
        n = read(question->file, text + used, size - 1 - used);
        if (n > 0) used += (size_t)n;
    }
    text[used] = 0;
    if (!question->pid) return;
    close(question->file);
    ntr_capture_wait(question->pid);
    question->pid = 0;
}

/* Sets `version`, `major` and `minor`. Returns false when it does not say them. */
static bool ask_version(ntr_capture_qemu *qemu) {
    static const char word[] = " version ";
    struct ntr_capture_question question;
    char *end;

    ntr_capture_ask(&question, qemu->path, "--version");
    ntr_capture_answer(&question, qemu->version, sizeof qemu->version);
    qemu->version[strcspn(qemu->version, "\n")] = 0;
    const char *at = strstr(qemu->version, word);
    if (!at) return false;
    qemu->major = (unsigned)strtoul(at + sizeof word - 1, &end, 10);
    qemu->minor = *end == '.' ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
    return true;
}

bool ntr_capture_qemu_version(const char *qemu, unsigned *major, unsigned *minor) {
    ntr_capture_qemu asked = {0};
    const int n = snprintf(asked.path, sizeof asked.path, "%s", qemu);

    if (n < 0 || (size_t)n >= sizeof asked.path || !ask_version(&asked)) return false;
    *major = asked.major;
    *minor = asked.minor;
    return true;
}

/* Does the user mode QEMU take plugins? Its help has a line for each option. */
static bool has_plugins(const char *qemu) {
    struct ntr_capture_question question;
    char text[16384];

    ntr_capture_ask(&question, qemu, "-h");
    ntr_capture_answer(&question, text, sizeof text);
    return strstr(text, "\n-plugin ") != NULL;
}

/* ---- versions -----------------------------------------------------------------------------------------------------
 */

enum { NO_END = 1000000 };

#define QEMU_VERSION(major, minor) (1000u * (major) + (minor))

/* Which plugin is for which versions (plugins/qemu/api.h). A later QEMU than the last that is known may work: QEMU
 * refuses plugins of interfaces that it does not support any more. */
static const struct known {
    unsigned first, last;
    const char *programs, *machines;
} known[] = {
    {QEMU_VERSION(6, 0), QEMU_VERSION(8, 2), "ntrace-qemu-1.so", NULL},
    {QEMU_VERSION(9, 2), QEMU_VERSION(10, 0), "ntrace-qemu-4.so", "ntrace-qemu-machine-4.so"},
    {QEMU_VERSION(10, 1), QEMU_VERSION(11, 0), "ntrace-qemu-4.so", NULL},
    {QEMU_VERSION(11, 1), NO_END, "ntrace-qemu-7.so", "ntrace-qemu-machine-7.so"},
};

const char *ntr_capture_qemu_supported(bool machine) {
    return machine ? "10.0, or 11.1 or later" : "6.0 to 8.2, or 9.2 or later";
}

static const char *plugin_for(const ntr_capture_qemu *qemu, bool machine) {
    const unsigned version = QEMU_VERSION(qemu->major, qemu->minor);

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (version >= known[i].first && version <= known[i].last)
            return machine ? known[i].machines : known[i].programs;
    return NULL;
}

/* ---- finding ------------------------------------------------------------------------------------------------------
 */

/* Can this QEMU trace? `trusted`: the user has named it, perhaps a script; then QEMU itself has the last word about
 * plugins. If not, the reason is appended to `error`. */
static bool is_good(ntr_capture_qemu *qemu, bool machine, bool trusted) {
    const size_t used = strlen(qemu->error);
    const char *between = used ? "; " : "";
    char *reason = qemu->error + used;
    const size_t room = sizeof qemu->error - used;

    qemu->plugin = NULL;
    if (!ask_version(qemu)) {
        snprintf(reason, room, "%s%s (cannot be executed, or is no QEMU)", between, qemu->path);
        return false;
    }
    qemu->plugin = plugin_for(qemu, machine);
    if (!qemu->plugin) {
        snprintf(reason, room, "%s%s (version %u.%u)", between, qemu->path, qemu->major, qemu->minor);
        return false;
    }
    if (machine || trusted || has_plugins(qemu->path)) return true;
    snprintf(reason, room, "%s%s (version %u.%u, built without plugins)", between, qemu->path, qemu->major,
             qemu->minor);
    return false;
}

/* Tries `name` in each folder of `search`, which has the form of PATH. */
static bool find_in(ntr_capture_qemu *qemu, const char *search, const char *name, bool machine) {
    for (const char *at = search; at && *at;) {
        const size_t length = strcspn(at, ":");
        const int n = snprintf(qemu->path, sizeof qemu->path, "%.*s/%s", (int)length, at, name);
        if (n > 0 && (size_t)n < sizeof qemu->path && access(qemu->path, X_OK) == 0 && is_good(qemu, machine, false))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

bool ntr_capture_qemu_find(ntr_capture_qemu *qemu, const char *given, const char *search, bool machine, unsigned xlen) {
    char name[32], found[sizeof qemu->error];

    *qemu = (ntr_capture_qemu){0};
    snprintf(name, sizeof name, machine ? "qemu-system-riscv%u" : "qemu-riscv%u", xlen);
    if (given) {
        const int n = snprintf(qemu->path, sizeof qemu->path, "%s", given);
        if (n > 0 && (size_t)n < sizeof qemu->path && is_good(qemu, machine, true)) return true;
    } else if (find_in(qemu, search, name, machine)) {
        return true;
    }
    memcpy(found, qemu->error, sizeof found);
    snprintf(qemu->error, sizeof qemu->error,
             "%s: expected version %s%s, found %.600s; install it, or %s it with tools/fetch_qemu%s (installed in "
             "share/ntrace/tools), which changes nothing on this system",
             given ? "--qemu" : name, ntr_capture_qemu_supported(machine), machine ? "" : " with plugins",
             *found ? found : "none in PATH or in the cache", machine ? "fetch" : "build", machine ? "" : " --user");
    return false;
}

/* ---- CPU ----------------------------------------------------------------------------------------------------------
 */

/* Extensions of QEMU's CPUs rv32 and rv64. */
static bool is_plain(const char *name, size_t length) {
    static const char *const plain[] = {"i",     "m",      "a",   "f",   "d",   "c",   "zicsr", "zifencei", "zmmul",
                                        "zaamo", "zalrsc", "zca", "zcd", "zcf", "zba", "zbb",   "zbc",      "zbs"};

    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strlen(plain[i]) == length && memcmp(plain[i], name, length) == 0) return true;
    return false;
}

/* A text like "rv64i2p1_m2p0_zicsr2p0". */
static bool all_plain(const char *arch) {
    for (const char *at = arch + 4; *at; at += *at == '_') {
        const size_t length = strcspn(at, "_");
        size_t name = length;
        while (name && isdigit((unsigned char)at[name - 1])) name--; /* the version: digits p digits */
        if (name && name < length && at[name - 1] == 'p') name--;
        while (name && isdigit((unsigned char)at[name - 1])) name--;
        if (length && !is_plain(at, name)) return false;
        at += length;
    }
    return true;
}

/* The value of Tag_RISCV_arch: a text that begins with rv32 or rv64. The section has no other one. */
static bool section_is_plain(const char *bytes, size_t size) {
    char arch[1024];

    for (size_t i = 0; i + 4 < size; i++) {
        if (memcmp(bytes + i, "rv32", 4) != 0 && memcmp(bytes + i, "rv64", 4) != 0) continue;
        const size_t length = strnlen(bytes + i, size - i);
        if (length >= sizeof arch) return false;
        memcpy(arch, bytes + i, length);
        arch[length] = 0;
        return all_plain(arch);
    }
    return true;
}

enum { ATTRIBUTES = 0x70000003 }; /* type of the section .riscv.attributes */

bool ntr_capture_qemu_plain_cpu(const char *program) {
    const int file = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf_Scn *section = NULL;
    bool plain = true;
    GElf_Shdr header;

    if (file < 0 || elf_version(EV_CURRENT) == EV_NONE) return false;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    while (elf && plain && (section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != ATTRIBUTES) continue;
        const Elf_Data *data = elf_rawdata(section, NULL);
        plain = data && data->d_buf && section_is_plain(data->d_buf, data->d_size);
    }
    plain = plain && elf;
    elf_end(elf);
    close(file);
    return plain;
}
