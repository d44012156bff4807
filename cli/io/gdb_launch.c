#include "io/gdb_launch.h"
#include "io/end_signal.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* docs/gdb.md, "Connecting", has the reasons. */
static const char setup[] = {
#include "ntrace.gdb.inc"
    , 0};

static const char *const names[] = {
    "gdb-multiarch",
    "riscv64-linux-gnu-gdb",
    "riscv64-unknown-linux-gnu-gdb",
    "riscv64-unknown-elf-gdb",
    "riscv64-elf-gdb",
    "gdb",
    NULL,
};

static void run_test(const char *gdb, int out) {
    int null = open("/dev/null", O_RDWR);

    if (null >= 0) dup2(null, STDIN_FILENO);
    if (null >= 0) dup2(null, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    execlp(gdb, gdb, "-nx", "-batch", "-ex", "set architecture riscv:rv64", "-ex", "show architecture", (char *)NULL);
    _exit(127);
}

/* Returns whether the program exists and knows the architecture. A GDB without RISC-V names it on standard error only.
 */
static bool knows_riscv(const char *gdb) {
    char text[1024] = {0};
    size_t size = 0;
    int ends[2];
    ssize_t got;

    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    pid_t child = fork();
    if (child == 0) run_test(gdb, ends[1]);
    close(ends[1]);
    while (child > 0 && size < sizeof text - 1 && (got = read(ends[0], text + size, sizeof text - 1 - size)) > 0)
        size += (size_t)got;
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return strstr(text, "riscv:rv64") != NULL;
}

const char *cli_gdb_find(const char *wanted) {
    if (wanted) return knows_riscv(wanted) ? wanted : NULL;
    for (size_t i = 0; names[i]; i++)
        if (knows_riscv(names[i])) return names[i];
    return NULL;
}

void cli_gdb_print_setup(FILE *out, const char *indent) {
    for (const char *line = setup, *end; (end = strchr(line, '\n')); line = end + 1)
        if (strncmp(line, "set ", 4) == 0) fprintf(out, "%s%.*s\n", indent, (int)(end - line), line);
}

static bool write_script(const char *path) {
    FILE *file = fopen(path, "we");
    const bool written = file && fputs(setup, file) >= 0;

    if (file && fclose(file) == 0 && written) return true;
    cli_note("%s: cannot write: %s", path, strerror(errno));
    return false;
}

int cli_gdb_launch(const char *gdb, const char *program, const char *socket, const char *script) {
    char connect[PATH_MAX + 32];
    const char *arguments[8] = {gdb, "-q", "-ix", script};
    size_t count = 4;

    if (!write_script(script)) return -1;
    snprintf(connect, sizeof connect, "target remote %s", socket);
    arguments[count++] = "-ex";
    arguments[count++] = connect;
    if (program) arguments[count++] = program;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        cli_end_signal_restore();
        execvp(gdb, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    if (child < 0) cli_note("%s: cannot start: %s", gdb, strerror(errno));
    return child;
}
