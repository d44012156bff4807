/* Injects faults, for LD_PRELOAD. FAULTS="KIND:N" in the environment:
 *
 *   alloc:N   the N-th allocation of the program itself fails (after main was entered; once)
 *   write:N   the N-th write finds the disk full, and so does every later one
 *   read:N    the N-th read fails with EIO (once)
 *   kill:N    the process is killed (SIGKILL) at the N-th large write, rename, link or unlink
 *   short     reads give at most 7 bytes, writes take at most 5
 *   eintr     every other read and write is interrupted by a signal
 *   count     nothing fails
 *
 * With FAULTS_COUNT=FILE the numbers of allocations, writes, reads, and calls at which it can be killed are written to
 * FILE. Writes to standard error do not fail, so that messages arrive. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
int __libc_start_main(int (*run)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

enum { LARGE = 4096 }; /* bytes */
enum kind { ALLOC, WRITE, READ, KILL, KINDS };

static bool armed, is_short, interrupts;
static unsigned long at[KINDS], count[KINDS];
static unsigned turn;
static int (*real_main)(int, char **, char **);

static bool due(enum kind kind, bool for_ever) {
    if (!armed) return false;
    unsigned long number = ++count[kind];
    return at[kind] && (for_ever ? number >= at[kind] : number == at[kind]);
}

/* ---- memory */

void *malloc(size_t size) {
    if (due(ALLOC, false)) return errno = ENOMEM, NULL;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    if (due(ALLOC, false)) return errno = ENOMEM, NULL;
    return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size) {
    if (size && due(ALLOC, false)) return errno = ENOMEM, NULL;
    return __libc_realloc(block, size);
}

/* ---- files */

static void *next(const char *name) {
    bool was = armed;
    armed = false;
    void *found = dlsym(RTLD_NEXT, name);
    armed = was;
    return found;
}

#define NEXT(name) ((__typeof__(&name))(size_t)next(#name))

static void kill_here(void) {
    if (due(KILL, false)) kill(getpid(), SIGKILL);
}

/* Whether the call fails; sets errno. May make *size smaller. */
static bool hurt(enum kind kind, int fd, size_t *size) {
    if (!armed || fd == STDERR_FILENO) return false;
    if (interrupts && turn++ % 2 == 0) return errno = EINTR, true;
    if (is_short && *size > (kind == READ ? 7u : 5u)) *size = kind == READ ? 7 : 5;
    if (!due(kind, kind == WRITE)) return false;
    errno = kind == READ ? EIO : ENOSPC;
    return true;
}

ssize_t write(int fd, const void *data, size_t size) {
    if (size >= LARGE) kill_here();
    return hurt(WRITE, fd, &size) ? -1 : NEXT(write)(fd, data, size);
}

ssize_t read(int fd, void *data, size_t size) {
    return hurt(READ, fd, &size) ? -1 : NEXT(read)(fd, data, size);
}

/* Databases write with these functions; they would treat a short write as ENOSPC. */
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    size_t all = size;
    if (hurt(WRITE, fd, &all)) return -1;
    return NEXT(pwrite64)(fd, data, size, offset);
}

int rename(const char *from, const char *to) {
    kill_here();
    return NEXT(rename)(from, to);
}

int link(const char *from, const char *to) {
    kill_here();
    return NEXT(link)(from, to);
}

int unlink(const char *path) {
    kill_here();
    return NEXT(unlink)(path);
}

/* ---- the program */

static void leave_counts(void) {
    const char *path = getenv("FAULTS_COUNT");
    armed = false;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%lu %lu %lu %lu\n", count[ALLOC], count[WRITE], count[READ], count[KILL]);
    fclose(file);
}

static int begin(int argc, char **argv, char **environment) {
    static const char *const names[KINDS] = {"alloc:", "write:", "read:", "kill:"};
    const char *faults = getenv("FAULTS");
    for (int kind = 0; faults && kind < KINDS; kind++)
        if (strncmp(faults, names[kind], strlen(names[kind])) == 0)
            at[kind] = strtoul(faults + strlen(names[kind]), NULL, 10);
    is_short = faults && strcmp(faults, "short") == 0;
    interrupts = faults && strcmp(faults, "eintr") == 0;
    unsetenv("LD_PRELOAD"); /* programs that are started are not hurt */
    atexit(leave_counts);
    armed = faults != NULL;
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*run)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
    real_main = run;
    return NEXT(__libc_start_main)(begin, argc, argv, init, fini, rtld_fini, stack_end);
}
