#include "target/link.h"
#include "base/text.h"

#include "base/macros.h"

#include <ntrace/target.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* getaddrinfo takes the low bits of a number that is too large. */
static bool is_port(const char *text) {
    uint64_t number;
    const char *end = text + strlen(text);
    return *text && (ntr_read_number(text, end, &number) != end || number <= UINT16_MAX);
}

const char *ntr_place_split(const char *place, char host[NTR_HOST_BYTES]) {
    static const char loopback[] = "127.0.0.1";
    const char *colon = strrchr(place, ':');
    if (!colon || !is_port(colon + 1)) return NULL;
    size_t length = (size_t)(colon - place);
    if (length >= 2 && place[0] == '[' && colon[-1] == ']') place++, length -= 2; /* IPv6 */
    if (length >= NTR_HOST_BYTES) return NULL;
    memcpy(host, length ? place : loopback, length ? length : sizeof loopback - 1);
    host[length ? length : sizeof loopback - 1] = 0;
    return colon + 1;
}

enum {
    MS = 1000,
    MS_NANOSECONDS = 1000000,
    OPEN_TRIES = 3,
    OPEN_PAUSE_MS = 100,
    END_POLLS = 50,
    END_PAUSE_MS = 5,
    HURRY_MS = 600,
    SLICE_MS = 100
};

ntr_status link_break(byte_link *link, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(link->error, sizeof link->error, format, arguments);
    va_end(arguments);
    if (link->fd >= 0) link->breaks++;
    link_close(link);
    return NTR_E_IO;
}

/* ---- time limits */

static uint64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * MS + (uint64_t)time.tv_nsec / MS_NANOSECONDS;
}

static bool is_interrupted(const byte_link *link) {
    return link->interrupted && link->interrupted(link->interrupted_user);
}

/* Waits until the socket is ready, or until `end`; after an interrupt, HURRY_MS at most. Returns false when the time is
 * over, also when the socket is ready: a peer that never stops sending does not extend it. */
static bool wait_until(byte_link *link, int fd, short events, uint64_t end) {
    for (;;) {
        const uint64_t now = now_ms();
        if (!link->hurries && is_interrupted(link)) {
            link->hurries = true;
            link->hurry_end = now + HURRY_MS;
        }
        if (link->hurries && link->hurry_end < end) end = link->hurry_end;
        if (now >= end) return false;
        struct pollfd one = {fd, events, 0};
        const int ready = poll(&one, 1, end - now < SLICE_MS ? (int)(end - now) : SLICE_MS);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

static bool is_ready(int fd, short events) {
    struct pollfd one = {fd, events, 0};
    return poll(&one, 1, 0) > 0;
}

void link_begin(byte_link *link) {
    link->answer_end = now_ms() + link->timeout_ms;
    link->hurries = false;
}

/* A server that takes a request or answers byte by byte has the time limit for all of them. */
static bool wait_in_time(byte_link *link, short events) {
    return wait_until(link, link->fd, events, link->answer_end);
}

/* ---- connections */

static int connect_in_time(byte_link *link, const struct addrinfo *to) {
    const int on = 1;
    int failure = 0;
    socklen_t size = sizeof failure;
    const int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
    if (fd < 0) return -1;
    if (connect(fd, to->ai_addr, to->ai_addrlen) != 0 && errno == EINPROGRESS) {
        if (!wait_until(link, fd, POLLOUT, now_ms() + link->timeout_ms))
            failure = ETIMEDOUT;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
            failure = errno;
    } else {
        failure = errno;
        if (send(fd, "", 0, MSG_NOSIGNAL) == 0) failure = 0;
    }
    if (failure) {
        close(fd);
        errno = failure;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* requests are small; delayed ones cost 40 ms each */
    return fd;
}

static ntr_status connect_path(byte_link *link) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(link->place) >= sizeof to.sun_path) return NTR_E_SYNTAX;
    memcpy(to.sun_path, link->place, strlen(link->place) + 1);
    link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (link->fd >= 0 && connect(link->fd, (const struct sockaddr *)&to, sizeof to) == 0) return NTR_OK;
    return link_break(link, "%s: %s", link->place, strerror(errno));
}

static ntr_status connect_link(byte_link *link) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    char host[NTR_HOST_BYTES];
    if (strchr(link->place, '/')) return connect_path(link);
    const char *port = ntr_place_split(link->place, host);
    if (!port) {
        snprintf(link->error, sizeof link->error, "expected HOST:PORT");
        return NTR_E_SYNTAX;
    }
    const int found = getaddrinfo(host, port, &hints, &list);
    if (found != 0) return link_break(link, "%s: %s", link->place, gai_strerror(found));
    for (const struct addrinfo *one = list; one && link->fd < 0; one = one->ai_next)
        link->fd = connect_in_time(link, one);
    const int failure = errno;
    freeaddrinfo(list);
    if (link->fd >= 0) return NTR_OK;
    return link_break(link, "%s: %s", link->place, strerror(failure));
}

/* The helper ignores interrupts from the terminal: the capture still needs it to disable the trace. */
static int spawn(pid_t *child, const char *command, int socket) {
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t set;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setpgroup(&attributes, 0); /* a process group of its own */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const int failure = posix_spawn(child, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

static ntr_status start_command(byte_link *link) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return link_break(link, "%s", strerror(errno));
    const int failure = spawn(&link->child, link->place, pair[1]);
    close(pair[1]);
    if (failure) {
        link->child = 0;
        close(pair[0]);
        return link_break(link, "%s", strerror(failure));
    }
    link->fd = pair[0];
    return NTR_OK;
}

static ntr_status open_again(byte_link *link) {
    link->at = link->end = 0;
    link_begin(link);
    TRY(link->is_command ? start_command(link) : connect_link(link));
    return link->greet ? link->greet(link->user) : NTR_OK;
}

ntr_status link_open(byte_link *link, const char *place, bool is_command, uint32_t timeout_ms) {
    link->fd = -1;
    link->is_command = is_command;
    link->timeout_ms = timeout_ms;
    if (strlen(place) >= sizeof link->place) return NTR_E_SYNTAX;
    memcpy(link->place, place, strlen(place) + 1);
    return open_again(link);
}

/* A helper that ignores SIGTERM is killed after END_POLLS. */
static void end_command(pid_t child) {
    kill(-child, SIGTERM);
    for (unsigned i = 0; i < END_POLLS; i++) {
        if (waitpid(child, NULL, WNOHANG) != 0) {
            kill(-child, SIGKILL); /* what it has started and left behind */
            return;
        }
        nanosleep(&(struct timespec){0, END_PAUSE_MS * MS_NANOSECONDS}, NULL);
    }
    kill(-child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

void link_close(byte_link *link) {
    if (link->fd >= 0) close(link->fd);
    link->fd = -1;
    if (link->child > 0) end_command(link->child);
    link->child = 0;
}

ntr_status link_ready(byte_link *link) {
    char reason[sizeof link->error];
    if (link->fd >= 0) return NTR_OK;
    if (link->breaks >= LINK_BREAKS || is_interrupted(link)) return NTR_E_IO;
    memcpy(reason, link->error, sizeof reason);
    ntr_status status = open_again(link);
    for (unsigned i = 1; i < OPEN_TRIES && status == NTR_E_IO;
         i++) { /* a server may not have noticed that the connection has ended */
        nanosleep(&(struct timespec){0, (long)i * OPEN_PAUSE_MS * MS_NANOSECONDS}, NULL);
        status = open_again(link);
    }
    if (status == NTR_OK) return NTR_OK;
    link->breaks = LINK_BREAKS; /* nobody is there any more: later requests fail at once */
    if (*reason) memcpy(link->error, reason, sizeof reason);
    return NTR_E_IO;
}

/* ---- bytes */

ntr_status link_send(byte_link *link, const char *bytes, size_t size) {
    while (size) {
        const ssize_t n = send(link->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_in_time(link, POLLOUT))
                return link_break(link, "%s takes no requests for %u ms", link->place, link->timeout_ms);
        } else if (errno != EINTR) {
            return link_break(link, "%s: %s", link->place, strerror(errno));
        }
    }
    return NTR_OK;
}

static ntr_status fill(byte_link *link) {
    if (!wait_in_time(link, POLLIN))
        return link_break(link, "%s does not answer within %u ms", link->place, link->timeout_ms);
    const ssize_t n = recv(link->fd, link->buffer, sizeof link->buffer, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return NTR_OK;
    if (n < 0) return link_break(link, "%s: %s", link->place, strerror(errno));
    if (n == 0) return link_break(link, "%s closed the connection", link->place);
    link->at = 0;
    link->end = (size_t)n;
    return NTR_OK;
}

ntr_status link_take(byte_link *link, char *byte) {
    while (link->at == link->end) TRY(fill(link));
    *byte = link->buffer[link->at++];
    return NTR_OK;
}

bool link_comes(byte_link *link, uint32_t ms) {
    return link->fd >= 0 && (link->at < link->end ||
                             (ms ? wait_until(link, link->fd, POLLIN, now_ms() + ms) : is_ready(link->fd, POLLIN)));
}

bool link_has(byte_link *link) {
    return link_comes(link, 0);
}
