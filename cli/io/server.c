#include "io/server.h"
#include "options/diagnostics.h"

#include <ntrace/target.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SEND_TIMEOUT_MS = 10000 };

/* Does only this machine reach the address? */
static bool is_loopback(const struct sockaddr *address) {
    static const uint8_t loopback_6[16] = {[15] = 1};

    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)address)->sin6_addr, loopback_6, sizeof loopback_6) == 0;
}

static int listen_at(const struct addrinfo *address) {
    const int on = 1;
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, 1) == 0) return fd;
    const int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

/* The system has chosen the port if it was 0. */
static bool find_place(int fd, struct cli_listening *place) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    char host[sizeof place->host - sizeof "[]"];

    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, host, sizeof host, place->port, sizeof place->port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    snprintf(place->host, sizeof place->host, address.ss_family == AF_INET6 ? "[%s]" : "%s", host);
    place->is_loopback = is_loopback((const struct sockaddr *)&address);
    return true;
}

int cli_server_listen(const char *host, const char *port, struct cli_listening *place, const char **why) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    int fd = -1;

    *why = "expected a port from 0 to 65535"; /* getaddrinfo takes the number modulo 65536 */
    if (port[strspn(port, "0123456789")] == 0 && strtoul(port, NULL, 10) > UINT16_MAX) return -1;
    const int error = getaddrinfo(host, port, &hints, &list);
    *why = error ? gai_strerror(error) : NULL;
    if (error) return -1;
    for (const struct addrinfo *one = list; one && fd < 0; one = one->ai_next) fd = listen_at(one);
    if (fd < 0) *why = strerror(errno);
    freeaddrinfo(list);
    if (fd < 0 || find_place(fd, place)) return fd;
    *why = "its address is not known";
    close(fd);
    return -1;
}

int cli_server_open(struct cli_server *server, const char *name, const char *address, uint16_t port) {
    struct cli_listening place;
    char host[NTR_HOST_BYTES] = "127.0.0.1", number[8];
    const char *why;

    *server = (struct cli_server){.name = name, .listener = -1, .client = -1};
    if (address) { /* "[::1]" is "::1", as in HOST:PORT */
        const size_t length = strlen(address), brackets = length > 2 && address[0] == '[' && address[length - 1] == ']';
        snprintf(host, sizeof host, "%.*s", (int)(length - 2 * brackets), address + brackets);
    }
    snprintf(number, sizeof number, "%u", port);
    server->listener = cli_server_listen(host, number, &place, &why);
    if (server->listener < 0) return cli_fail("%s: --bind %s, port %u: %s", name, host, port, why);
    if (!place.is_loopback)
        cli_note("warning: %s listens on %s: everyone who reaches it controls the board", name, place.host);
    cli_note("%s listens on %s:%s", name, place.host, place.port);
    return CLI_OK;
}

void cli_server_accept(struct cli_server *server) {
    const int on = 1;

    if (server->listener < 0 || server->client >= 0) return;
    server->client = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    if (server->client >= 0) setsockopt(server->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool cli_server_send(int fd, const void *bytes, size_t size) {
    const char *at = bytes;

    while (size) {
        struct pollfd ready = {fd, POLLOUT, 0};
        if (poll(&ready, 1, SEND_TIMEOUT_MS) <= 0) return false;
        const ssize_t n = send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EINTR && errno != EAGAIN) return false;
        if (n <= 0) continue;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Connects, or stores the reason why not. */
static int connect_place(const char *place, const char **why) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    char host[NTR_HOST_BYTES];
    const char *port = ntr_place_split(place, host);
    const int on = 1;
    int fd = -1;

    *why = "expected HOST:PORT";
    if (!port) return -1;
    const int found = getaddrinfo(host, port, &hints, &list);
    *why = found ? gai_strerror(found) : "";
    if (found) return -1;
    for (const struct addrinfo *one = list; one && fd < 0; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        if (fd < 0 || connect(fd, one->ai_addr, one->ai_addrlen) == 0) continue;
        *why = strerror(errno);
        close(fd);
        fd = -1;
    }
    if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    freeaddrinfo(list);
    return fd;
}

int cli_server_try(const char *place) {
    const char *why;
    return connect_place(place, &why);
}

int cli_server_connect(const char *place) {
    const char *why;
    const int fd = connect_place(place, &why);

    if (fd < 0) cli_note("%s: %s", place, why);
    return fd;
}

void cli_server_drop(struct cli_server *server) {
    if (server->client >= 0) close(server->client);
    server->client = -1;
}

void cli_server_close(struct cli_server *server) {
    cli_server_drop(server);
    if (server->listener >= 0) close(server->listener);
    server->listener = -1;
}
