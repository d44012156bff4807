#include "io/atomic_file.h"
#include "io/input_guard.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cli_atomic_file {
    struct cli_atomic_file *next;
    char *path, *temporary;
};

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* All there are, for the signal handler. Changed with the signals held back. */
static struct cli_atomic_file *volatile unfinished;

static void hold(bool on, sigset_t *before) {
    sigset_t ours;

    sigemptyset(&ours);
    for (size_t i = 0; i < SIGNALS; i++) sigaddset(&ours, signals[i]);
    sigprocmask(on ? SIG_BLOCK : SIG_SETMASK, on ? &ours : before, on ? before : NULL);
}

void cli_atomic_file_die(int number) {
    for (const struct cli_atomic_file *file = unfinished; file; file = file->next) unlink(file->temporary);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch(void) {
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

static struct cli_atomic_file *make(const char *path) {
    struct cli_atomic_file *file = calloc(1, sizeof *file);
    size_t size = strlen(path) + 32;

    if (!file) return NULL;
    file->path = strdup(path);
    file->temporary = malloc(size);
    if (!file->path || !file->temporary) {
        release(file);
        return NULL;
    }
    snprintf(file->temporary, size, "%s.%ld.tmp", path, (long)getpid());
    return file;
}

/* Some files are only read after the output was begun: this is asked for at both ends. */
static int refused(const char *path) {
    return cli_origin_is(path) ? cli_fail("%s: is read by this command; expected another file to write", path) : CLI_OK;
}

int cli_atomic_file_open(struct cli_atomic_file **result, const char *path, int *fd) {
    struct cli_atomic_file *file = make(path);
    sigset_t before;

    *result = NULL;
    if (!file) return cli_fail("out of memory");
    if (refused(path) != CLI_OK) {
        release(file);
        return CLI_FAILED;
    }
    watch();
    hold(true, &before);
    *fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int reason = errno;
    if (*fd >= 0) {
        file->next = unfinished;
        unfinished = *result = file;
    }
    hold(false, &before);
    if (*result) return CLI_OK;
    release(file);
    return cli_fail("%s: cannot be written: %s", path, strerror(reason));
}

const char *cli_atomic_file_name(const struct cli_atomic_file *file) {
    return file->temporary;
}

static void forget(const struct cli_atomic_file *file) {
    struct cli_atomic_file *one = unfinished;

    if (one == file) {
        unfinished = file->next;
        return;
    }
    while (one->next != file) one = one->next;
    one->next = file->next;
}

int cli_atomic_file_finish(struct cli_atomic_file *file, int status) {
    sigset_t before;

    if (!file) return status;
    hold(true, &before);
    if (status != CLI_FAILED && refused(file->path) != CLI_OK) status = CLI_FAILED;
    if (status != CLI_FAILED && rename(file->temporary, file->path) != 0)
        status = cli_fail("%s: %s", file->path, strerror(errno));
    if (status == CLI_FAILED) unlink(file->temporary);
    forget(file);
    hold(false, &before);
    release(file);
    return status;
}
