#include "commands/coverage/source_guard.h"
#include "io/progress.h"
#include "options/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 30 };

/* In the child. libclang writes to standard error what it does; a sanitizer, why it ends. */
static void parse_here(bool (*parse)(const void *unit), const void *unit) {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    FILE *file = fopen("/proc/self/statm", "r");
    char line[64] = "";

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++) dup2(null, fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS});
    const rlim_t pages = file && fgets(line, sizeof line, file) ? strtoul(line, NULL, 10) : 0;
    const rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + cli_limit(CLI_LIMIT_PARSE_MEMORY);
    if (pages) setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    _exit(parse(unit) ? 0 : 1);
}

const char *cli_source_guard(bool (*parse)(const void *unit), const void *unit) {
    const pid_t child = fork();
    int status = 0;

    if (child == 0) parse_here(parse, unit);
    while (child > 0 && waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return strerror(errno);
        if (cli_progress_stopped()) kill(child, SIGKILL);
    }
    if (child < 0) return strerror(errno);
    if (cli_progress_stopped()) return "interrupted";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
        return "libclang crashes: it is nested too deeply, or needs too much memory (limit parse-memory)";
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        return "libclang needs more than 30 seconds";
    return status ? "libclang cannot parse it (or needs more than limit parse-memory)" : NULL;
}
