/* Injects faults, for LD_PRELOAD. FAULTS="KIND:N" in the environment:
 *
 *   alloc:N   the N-th allocation of the program itself fails (after main was entered; once)
 *   write:N   the N-th write finds the disk full, and so does every later one
 *   read:N    the N-th read fails with EIO (once)
 *   lib:N     the N-th call of a function of libdw, libelf, jansson, zstd or libarchive by ntrace fails (once), see
 * LIBRARY kill:N    the process is killed (SIGKILL) at the N-th large write, rename, link or unlink short     reads
 * give at most 7 bytes, writes take at most 5 eintr     every other read and write is interrupted by a signal count
 * nothing fails
 *
 * With FAULTS_COUNT=FILE the numbers of allocations, writes, reads, calls at which it can be killed, and calls of
 * libraries are written to FILE. Writes to standard error do not fail, so that messages arrive. */
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
enum kind { ALLOC, WRITE, READ, KILL, CALL, KINDS };

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

/* libdw 0.188 does not look whether it got the table of abbreviations of a unit, and reads it. */
static bool is_libdw(void *caller) {
    Dl_info found;
    return armed && dladdr(caller, &found) && strstr(found.dli_fname, "/libdw.so");
}

void *malloc(size_t size) {
    if (!is_libdw(__builtin_return_address(0)) && due(ALLOC, false)) return errno = ENOMEM, NULL;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    if (!is_libdw(__builtin_return_address(0)) && due(ALLOC, false)) return errno = ENOMEM, NULL;
    return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size) {
    if (size && !is_libdw(__builtin_return_address(0)) && due(ALLOC, false)) return errno = ENOMEM, NULL;
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

/* ---- libraries: functions whose failure can be told apart from "there is no more", and what they return when they
 * fail. All arguments are integers and pointers; a function with fewer than 8 ignores the rest. Calls of the libraries
 * among themselves do not fail. */

typedef long any_function(long, long, long, long, long, long, long, long);

static bool library_fails(void *caller) {
    Dl_info info;
    if (!armed || !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "ntrace")) return false;
    if (!due(CALL, false)) return false;
    const char *trace = getenv("FAULTS_TRACE");
    if (trace && dladdr(caller, &info)) fprintf(stderr, "# fails in %s\n", info.dli_sname ? info.dli_sname : "?");
    return true;
}

#define LIBRARY(name, failure)                                                                                         \
    long name(long a, long b, long c, long d, long e, long f, long g, long h);                                         \
    long name(long a, long b, long c, long d, long e, long f, long g, long h) {                                        \
        static any_function *real;                                                                                     \
        if (library_fails(__builtin_return_address(0))) {                                                              \
            if (getenv("FAULTS_TRACE")) fputs("# " #name "\n", stderr);                                                \
            return failure;                                                                                            \
        }                                                                                                              \
        if (!real) real = (any_function *)(size_t)next(#name);                                                         \
        return real(a, b, c, d, e, f, g, h);                                                                           \
    }

LIBRARY(dwarf_get_units, -1)
LIBRARY(dwarf_child, -1)
LIBRARY(dwarf_siblingof, -1)
LIBRARY(dwarf_getsrclines, -1)
LIBRARY(dwarf_getsrcfiles, -1)
LIBRARY(dwarf_ranges, -1)
LIBRARY(dwarf_lineaddr, -1)
LIBRARY(dwarf_lineno, -1)
LIBRARY(dwarf_linecol, -1)
LIBRARY(dwarf_linebeginstatement, -1)
LIBRARY(dwarf_lineendsequence, -1)
LIBRARY(dwarf_onesrcline, 0)
LIBRARY(dwfl_begin, 0)
LIBRARY(dwfl_report_elf, 0)
LIBRARY(dwfl_report_end, -1)
LIBRARY(dwfl_module_getdwarf, 0)
LIBRARY(dwfl_module_getelf, 0)
LIBRARY(elf_begin, 0)
LIBRARY(elf_memory, 0)
LIBRARY(elf_getdata, 0)
LIBRARY(elf_getphdrnum, -1)
LIBRARY(elf_getshdrnum, -1)
LIBRARY(elf_getshdrstrndx, -1)
LIBRARY(gelf_getehdr, 0)
LIBRARY(gelf_getshdr, 0)
LIBRARY(gelf_getphdr, 0)
LIBRARY(gelf_getsym, 0)
LIBRARY(gelf_getsymshndx, 0)
LIBRARY(gelf_getrela, 0)
LIBRARY(json_loads, 0)
LIBRARY(json_loadb, 0)
LIBRARY(json_load_callback, 0)
LIBRARY(ZSTD_decompressStream, -1)
LIBRARY(ZSTD_compressStream2, -1)
LIBRARY(ZSTD_createDStream, 0)
LIBRARY(archive_read_next_header, -30)
LIBRARY(archive_read_data, -30)

/* ---- the program */

static void leave_counts(void) {
    const char *path = getenv("FAULTS_COUNT");
    armed = false;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%lu %lu %lu %lu %lu\n", count[ALLOC], count[WRITE], count[READ], count[KILL], count[CALL]);
    fclose(file);
}

static int begin(int argc, char **argv, char **environment) {
    static const char *const names[KINDS] = {"alloc:", "write:", "read:", "kill:", "lib:"};
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
