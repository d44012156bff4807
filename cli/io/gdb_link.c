#include "io/gdb_link.h"
#include "io/end_signal.h"
#include "io/server.h"
#include "options/diagnostics.h"

#include <ntrace/target.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- sockets */

static int fail(const char *where) {
    cli_note("--listen %s: %s", where, strerror(errno));
    return -1;
}

static int listen_path(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat info;
    const size_t size = strlen(path);

    if (size >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return fail(path);
    }
    memcpy(address.sun_path, path, size + 1);
    if (lstat(path, &info) == 0 && S_ISSOCK(info.st_mode)) unlink(path); /* left by a process that was killed */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0) return fd;
    fail(path);
    if (fd >= 0) close(fd);
    return -1;
}

static int listen_port(const char *where) {
    char text[NTR_HOST_BYTES + sizeof "[]:65535"], host[NTR_HOST_BYTES];
    struct cli_listening place;
    const char *why = "";

    snprintf(text, sizeof text, "%s%s", strchr(where, ':') ? "" : ":", where);
    const char *port = ntr_place_split(text, host);
    const int fd = port ? cli_server_listen(host, port, &place, &why) : -1;
    if (fd < 0) {
        const bool is_number = port && strspn(port, "0123456789") == strlen(port);
        cli_note("--listen %s: %s%s", where, is_number ? "" : "expected HOST:PORT, PORT or a path with a slash: ", why);
        return -1;
    }
    if (!place.is_loopback)
        cli_note("warning: everyone who reaches %s:%s can read the program and its trace", place.host, place.port);
    cli_note("listening; in GDB: target remote %s:%s", place.host, place.port);
    return fd;
}

int cli_gdb_listen(const char *where) {
    return strchr(where, '/') ? listen_path(where) : listen_port(where);
}

int cli_gdb_accept(int listener, int child) {
    enum { CHILD_POLL_MS = 200 };
    const int on = 1;

    for (;;) {
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        siginfo_t info = {0};
        if (cli_end_signal_poll(&ready, 1, child ? CHILD_POLL_MS : -1) < 0 && (errno != EINTR || cli_end_signal()))
            return -1;
        if (ready.revents) {
            int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) return fd;
        }
        if (child && waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) return -1;
    }
}

/* ---- bytes */

/* Reads what is there, after poll. */
static void receive(struct cli_gdb_link *link) {
    enum { READ_LEAST = 4096, PENDING_MAX = 1 << 20 };

    if (link->capacity - link->size < READ_LEAST && link->capacity < PENDING_MAX) {
        uint8_t *grown = realloc(link->bytes, link->capacity + 4 * READ_LEAST);
        if (grown) link->bytes = grown;
        if (grown) link->capacity += 4 * READ_LEAST;
    }
    if (link->capacity == link->size) return;
    uint8_t *to = link->bytes + link->size;
    ssize_t got = read(link->in, to, link->capacity - link->size);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) link->closed = true;
    if (got > 0) link->size += (size_t)got;
}

/* Takes the first interrupt out of the bytes that wait: those of packets are text, but for escaped data that a debugger
 * only sends to write memory. */
static void take_interrupt(struct cli_gdb_link *link) {
    uint8_t *at = link->size ? memchr(link->bytes, NTR_GDB_INTERRUPT, link->size) : NULL;

    if (!at) return;
    link->interrupted = true;
    memmove(at, at + 1, (size_t)(link->bytes + --link->size - at));
}

bool cli_gdb_link_proceed(void *user, uint64_t done) {
    struct cli_gdb_link *link = user;
    struct pollfd ready = {.fd = link->in, .events = POLLIN};

    (void)done;
    if (!link->closed && cli_end_signal_poll(&ready, 1, 0) > 0) receive(link);
    if (cli_end_signal()) return false;
    take_interrupt(link);
    if (link->closed) { /* all requests have arrived; is there still a reader of the answers? */
        ready = (struct pollfd){.fd = link->out};
        if (link->in == link->out || (poll(&ready, 1, 0) > 0 && ready.revents & (POLLERR | POLLHUP))) return false;
    }
    return !link->interrupted;
}

ntr_status cli_gdb_link_write(void *user, const void *bytes, size_t size) {
    const struct cli_gdb_link *link = user;

    for (const uint8_t *at = bytes; size;) {
        ssize_t n = write(link->out, at, size);
        if (n < 0 && errno != EINTR) return NTR_E_IO;
        if (n < 0) continue;
        at += n;
        size -= (size_t)n;
    }
    return NTR_OK;
}

ntr_status cli_gdb_link_serve(struct cli_gdb_link *link, ntr_gdb *server) {
    ntr_status status = NTR_OK;

    while (status == NTR_OK && !(link->closed && !link->size) && !cli_end_signal()) {
        struct pollfd ready = {.fd = link->in, .events = POLLIN};
        if (!link->size && cli_end_signal_poll(&ready, 1, -1) < 0) {
            if (errno != EINTR) return NTR_E_IO;
            continue;
        }
        if (!link->size) receive(link);
        link->interrupted = false;
        if (!link->size) continue;
        /* One byte after the other: a packet may take long, and others may arrive behind it. */
        uint8_t byte = link->bytes[0];
        memmove(link->bytes, link->bytes + 1, --link->size);
        status = ntr_gdb_feed(server, &byte, 1);
    }
    return status == NTR_OK ? NTR_END : status;
}

void cli_gdb_link_close(struct cli_gdb_link *link) {
    if (link->in > STDERR_FILENO) close(link->in);
    free(link->bytes);
    *link = (struct cli_gdb_link){.in = -1, .out = -1};
}
