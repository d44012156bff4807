/* The first program of a Linux guest. It makes processes that compute, read and call the kernel, then asks the kernel
 * about them: processes and their times, interrupts, context switches, symbols. What it prints is compared with the
 * answers of ntrace.
 *
 * Tracing ends at `answers_end`, when all has been read and nothing is printed yet. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXTS = 256, CALLS = 512, ROOM = 1 << 16 };

static char *texts[TEXTS];
static unsigned text_count, calls[CALLS];
static int ready[2];

/* ---- processes ----------------------------------------------------------------------------------------------------
 */

static __attribute__((noinline)) uint64_t spin(uint64_t n) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) sum = sum * 6364136223846793005u + i;
    return sum;
}

static void work_a(void) {
    if (spin(60000000) == 1) puts("");
}

static void work_b(void) {
    if (spin(40000000) == 1) puts("");
}

static void work_c(void) {
    static char buffer[1 << 16];
    int zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 12000; i++)
        if (read(zero, buffer, sizeof buffer) < 0) _exit(1);
    close(zero);
}

/* Stays, so that the kernel can be asked about it. */
static void start(const char *name, void (*work)(void)) {
    char byte = 0;

    if (fork()) return;
    prctl(PR_SET_NAME, name);
    work();
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
}

/* ---- counting system calls, as strace -c does ---------------------------------------------------------------------
 */

static void make_calls(void) {
    struct rusage usage;
    struct tms times_now;
    struct utsname name;
    struct stat about;
    char path[64];

    for (int i = 0; i < 300; i++) {
        getpriority(PRIO_PROCESS, 0);
        if (i % 2) getrusage(RUSAGE_SELF, &usage);
        if (i % 3 == 0) times(&times_now);
        if (i % 5 == 0) uname(&name);
        if (i % 7 == 0 && !getcwd(path, sizeof path)) _exit(1);
        if (i % 11 == 0) stat("/nowhere", &about);
        if (i % 13 == 0) syscall(250); /* there is no such call */
    }
}

static void count_calls(void) {
    struct __ptrace_syscall_info info;
    pid_t child = fork();
    int status;

    if (!child) {
        prctl(PR_SET_NAME, "calls");
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        make_calls();
        _exit(0);
    }
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD);
    for (;;) {
        ptrace(PTRACE_SYSCALL, child, 0, 0);
        if (waitpid(child, &status, 0) < 0 || WIFEXITED(status)) break;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY &&
            info.entry.nr < CALLS)
            calls[info.entry.nr]++;
    }
}

/* ---- the kernel's answers -----------------------------------------------------------------------------------------
 */

static void keep(const char *name) {
    char *text = malloc(ROOM);
    int file = open(name, O_RDONLY);
    ssize_t n = file < 0 || !text || text_count == TEXTS ? -1 : read(file, text, ROOM - 1);

    if (file >= 0) close(file);
    if (n < 0) return;
    text[n] = 0;
    texts[text_count++] = text;
}

static uint64_t hash(uint64_t sum, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3u;
    return sum;
}

/* FNV-1a over /proc/kallsyms. */
static uint64_t hash_symbols(void) {
    static char buffer[ROOM];
    uint64_t sum = 0xcbf29ce484222325u;
    int file = open("/proc/kallsyms", O_RDONLY);

    for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0;) sum = hash(sum, buffer, (size_t)n);
    close(file);
    return sum;
}

/* /proc/stat and /proc/interrupts of one moment: again when an interrupt or a context switch came before the end of
 * both. */
static void keep_counts(void) {
    for (bool same = false; !same; text_count -= same ? 1 : 3) {
        keep("/proc/stat");
        keep("/proc/interrupts");
        keep("/proc/stat");
        same = strcmp(texts[text_count - 3], texts[text_count - 1]) == 0;
    }
}

__attribute__((noinline)) void answers_end(void) {
    __asm__ volatile("nop" ::: "memory");
}

int main(void) {
    char byte, name[64];
    uint64_t symbols;

    mount("proc", "/proc", "proc", 0, NULL);
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    if (pipe(ready)) return 1;
    symbols = hash_symbols();
    count_calls();
    start("spin-a", work_a);
    start("spin-b", work_b);
    start("read-c", work_c);
    for (int i = 0; i < 3; i++)
        if (read(ready[0], &byte, 1) != 1) return 1;
    for (int pid = 1; pid < 200; pid++) {
        snprintf(name, sizeof name, "/proc/%d/stat", pid);
        keep(name);
    }
    keep_counts();
    answers_end();
    for (unsigned i = 0; i < text_count; i++) printf("%s%s", i + 2 == text_count ? "\n" : "", texts[i]);
    for (unsigned i = 0; i < CALLS; i++)
        if (calls[i]) printf("call %u %u\n", i, calls[i]);
    printf("symbols %016lx\nend of answers\n", symbols);
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return 0;
}
