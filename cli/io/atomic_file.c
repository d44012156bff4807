#include "io/atomic_file.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the input files */

struct input_file {
    dev_t device;
    ino_t file;
};

static struct input_file *inputs;
static size_t count, capacity;

static bool identify(const char *path, struct input_file *input) {
    struct stat info = {0};

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    *input = (struct input_file){info.st_dev, info.st_ino};
    return true;
}

static bool contains(const struct input_file *input) {
    for (size_t i = 0; i < count; i++)
        if (inputs[i].file == input->file && inputs[i].device == input->device) return true;
    return false;
}

void cli_input_guard_add(const char *path) {
    struct input_file input;

    if (!identify(path, &input) || contains(&input)) return;
    if (count == capacity) {
        size_t larger = capacity ? 2 * capacity : 8;
        struct input_file *grown = realloc(inputs, larger * sizeof *grown);
        if (!grown) return; /* out of memory: opening the output fails, too */
        inputs = grown;
        capacity = larger;
    }
    inputs[count++] = input;
}

bool cli_input_guard_contains(const char *path) {
    struct input_file input;

    return count && identify(path, &input) && contains(&input);
}

/* ---- the output */

struct cli_atomic_file {
    struct cli_atomic_file *next;
    char *path, *temporary;
    size_t size; /* of the buffer of `temporary` */
};

enum { EXIT_UNREADABLE = CLI_FAILED };

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* List of all temporary files, read by the signal handler. Changed only while the signals are blocked. */
static struct cli_atomic_file *volatile temporaries;

static void block_signals(bool on, sigset_t *before) {
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS; i++) sigaddset(&set, signals[i]);
    sigprocmask(on ? SIG_BLOCK : SIG_SETMASK, on ? &set : before, on ? before : NULL);
}

void cli_atomic_file_die(int number) {
    for (const struct cli_atomic_file *file = temporaries; file; file = file->next) unlink(file->temporary);
    signal(number, SIG_DFL);
    raise(number);
}

/* Ends the command from a handler of a signal that it cannot survive. */
static void give_up(const char *message, size_t size) {
    for (const struct cli_atomic_file *file = temporaries; file; file = file->next) unlink(file->temporary);
    if (write(STDERR_FILENO, message, size) < 0) _exit(EXIT_UNREADABLE);
    _exit(EXIT_UNREADABLE);
}

/* Memory of a mapped file that is not in the file any more: an input was truncated, for example rebuilt in place. */
static void on_bus_error(int number) {
    static const char message[] =
        "ntrace: an input file was truncated while it was read; expected files that do not change\n";

    (void)number;
    give_up(message, sizeof message - 1);
}

static uintptr_t stack_top, stack_size;

/* An access below the main thread's stack: the stack is too small for this command, or for an input whose parts are
 * nested deeply. All other wrong accesses end the command with the signal. */
static void on_wrong_access(int number, siginfo_t *info, void *context) {
    static const char message[] =
        "ntrace: the stack is too small; expected 8 MiB ('ulimit -s 8192'), or an input that is nested less deeply\n";
    enum { BELOW = 1 << 20 };
    const uintptr_t at = (uintptr_t)info->si_addr;

    (void)context;
    if (at < stack_top && stack_top - at < stack_size + BELOW) give_up(message, sizeof message - 1);
    signal(number, SIG_DFL); /* the access is repeated when this returns */
}

/* A sanitizer has a handler of its own. */
static void catch_stack_overflow(void) {
    static char other[16384]; /* where the handler runs */
    const stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction old, action = {.sa_sigaction = on_wrong_access, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    if (sigaction(SIGSEGV, NULL, &old) != 0 || old.sa_handler != SIG_DFL) return;
    stack_top = (uintptr_t)__builtin_frame_address(0);
    stack_size = (uintptr_t)limit.rlim_cur;
    if (sigaltstack(&stack, NULL) == 0) sigaction(SIGSEGV, &action, NULL);
}

void cli_atomic_file_catch_faults(void) {
    struct sigaction action = {.sa_handler = on_bus_error};

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    catch_stack_overflow();
}

static void catch_signals(void) {
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction old;
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            signal(signals[i], cli_atomic_file_die);
    }
}

static void release(struct cli_atomic_file *file) {
    if (!file) return;
    free(file->path);
    free(file->temporary);
    free(file);
}

static struct cli_atomic_file *new_file(const char *path) {
    struct cli_atomic_file *file = calloc(1, sizeof *file);
    size_t size = strlen(path) + 32;

    if (!file) return NULL;
    file->path = strdup(path);
    file->temporary = malloc(size);
    if (!file->path || !file->temporary) {
        release(file);
        return NULL;
    }
    file->size = size;
    return file;
}

/* Fails if `path` is an input of this command. Called at open and at finish, because some inputs are opened between. */
static int check_path(const char *path) {
    if (!cli_input_guard_contains(path)) return CLI_OK;
    return cli_fail("%s: is an input of this command; expected another output file", path);
}

const char *cli_atomic_file_target(const char *path, char *real) {
    struct stat info = {0};

    if (lstat(path, &info) != 0) return errno == ENOENT ? path : NULL;
    if (S_ISREG(info.st_mode)) return path;
    if (!S_ISLNK(info.st_mode) || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0) return NULL;
    return realpath(path, real) && lstat(real, &info) == 0 && S_ISREG(info.st_mode) ? real : NULL;
}

/* Makes a new file with a name that cannot be guessed. mkstemp would make it private to the user. */
static int create(struct cli_atomic_file *file) {
    enum { NAMES_TRIED = 100 };
    int fd = -1;

    errno = EEXIST;
    for (int i = 0; i < NAMES_TRIED && fd < 0 && errno == EEXIST; i++) {
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != sizeof number) return -1;
        snprintf(file->temporary, file->size, "%s.%012" PRIx64 ".tmp", file->path, number >> 16);
        fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

int cli_atomic_file_open(struct cli_atomic_file **result, const char *path, int *fd) {
    struct cli_atomic_file *file = new_file(path);
    sigset_t before;

    *result = NULL;
    if (!file) return cli_fail("out of memory");
    if (check_path(path) != CLI_OK) {
        release(file);
        return CLI_FAILED;
    }
    catch_signals();
    block_signals(true, &before);
    *fd = create(file);
    int reason = errno;
    if (*fd >= 0) {
        file->next = temporaries;
        temporaries = *result = file;
    }
    block_signals(false, &before);
    if (*result) return CLI_OK;
    release(file);
    return cli_fail("%s: cannot write: %s", path, strerror(reason));
}

const char *cli_atomic_file_name(const struct cli_atomic_file *file) {
    return file->temporary;
}

static void unlink_entry(const struct cli_atomic_file *file) {
    struct cli_atomic_file *one = temporaries;

    if (one == file) {
        temporaries = file->next;
        return;
    }
    while (one->next != file) one = one->next;
    one->next = file->next;
}

int cli_atomic_file_finish(struct cli_atomic_file *file, int status) {
    sigset_t before;

    if (!file) return status;
    block_signals(true, &before);
    if (status != CLI_FAILED && check_path(file->path) != CLI_OK) status = CLI_FAILED;
    if (status != CLI_FAILED && rename(file->temporary, file->path) != 0)
        status = cli_fail("%s: %s", file->path, strerror(errno));
    if (status == CLI_FAILED) unlink(file->temporary);
    unlink_entry(file);
    block_signals(false, &before);
    release(file);
    return status;
}
