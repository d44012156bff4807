#include "io/follow.h"
#include "io/progress.h"
#include "io/server.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_INTERVAL_MS = 100, RECONNECT_MS = 500, NANOSECONDS_IN_A_MS = 1000000 };

/* A byte that no message has (MSEO 10): between two connections messages are lost, even if the first one ends with a
 * whole message. The decoder reports a gap, and goes on at the next synchronizing message. */
enum { MSEO_RESERVED = 2 };

static bool following, ended;
static bool (*on_idle)(void *user);
static void *idle_user;

static const char scheme[] = "tcp:";

void cli_follow_begin(bool (*idle)(void *user), void *user) {
    following = true;
    ended = false;
    on_idle = idle;
    idle_user = user;
    cli_progress_catch_stop();
}

bool cli_follow_on(void) {
    return following;
}

static bool stopped(void) {
    return ended || cli_progress_stopped();
}

static void call_idle(void) {
    if (on_idle && !on_idle(idle_user)) ended = true;
}

static void idle(unsigned milliseconds) {
    call_idle();
    if (!ended) nanosleep(&(struct timespec){0, (long)milliseconds * NANOSECONDS_IN_A_MS}, NULL);
}

static bool is_stream(const char *path) {
    return strncmp(path, scheme, sizeof scheme - 1) == 0;
}

int cli_follow_connect(const char *path) {
    return is_stream(path) ? cli_server_connect(path + sizeof scheme - 1) : -2;
}

/* Connects again, as often as needed. Returns false after an interrupt. */
static bool reconnect(int *fd, const char *path) {
    cli_note("%s: the connection has ended; connecting again. What is sent until then is lost", path);
    close(*fd);
    for (*fd = -1; *fd < 0 && !stopped();) {
        idle(RECONNECT_MS);
        *fd = cli_server_try(path + sizeof scheme - 1);
    }
    if (*fd >= 0) cli_note("%s: connected again", path);
    return *fd >= 0;
}

/* Waits until a pipe or socket has data or has ended. */
static void await_data(int fd) {
    struct pollfd one = {fd, POLLIN, 0};

    while (!stopped() && poll(&one, 1, 0) == 0) {
        call_idle();
        if (poll(&one, 1, IDLE_INTERVAL_MS) != 0) return;
    }
}

/* At the end of a file: has it become shorter than what was read? */
static void rewind_if_shorter(int fd, const char *path) {
    struct stat info;
    const off_t at = lseek(fd, 0, SEEK_CUR);

    if (at < 0 || fstat(fd, &info) != 0 || info.st_size >= at) return;
    cli_note("%s: the file became shorter; reading from its start", path);
    lseek(fd, 0, SEEK_SET);
}

ssize_t cli_follow_read(int *fd, const char *path, void *to, size_t size) {
    struct stat info;
    const bool regular = fstat(*fd, &info) == 0 && S_ISREG(info.st_mode);

    while (!stopped()) {
        if (!regular) await_data(*fd);
        if (stopped()) return 0;
        const ssize_t n = read(*fd, to, size);
        if (n > 0) return n;
        if (n < 0 && errno == EINTR) continue;
        if (is_stream(path)) {
            if (!reconnect(fd, path)) return 0;
            *(uint8_t *)to = MSEO_RESERVED;
            return 1;
        } else if (n < 0 || !regular) {
            return n;
        } else {
            rewind_if_shorter(*fd, path);
            idle(IDLE_INTERVAL_MS);
        }
    }
    return 0;
}
