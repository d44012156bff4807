#include "io/server.h"
#include "options/diagnostics.h"

#include <ntrace/target.h>

#include <arpa/inet.h>
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

bool cli_server_is_loopback(const struct sockaddr *address) {
    static const uint8_t loopback_6[16] = {[15] = 1};

    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)address)->sin6_addr, loopback_6, sizeof loopback_6) == 0;
}

int cli_server_open(struct cli_server *server, const char *name, const char *address, uint16_t port) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof place;
    const int on = 1;
    char text[INET_ADDRSTRLEN];

    *server = (struct cli_server){.name = name, .listener = -1, .client = -1};
    if (address && inet_pton(AF_INET, address, &place.sin_addr) != 1)
        return cli_fail("--listen: expected an IPv4 address, found '%s'", address);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->listener < 0) return cli_fail("%s: %s", name, strerror(errno));
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server->listener, (const struct sockaddr *)&place, sizeof place) != 0 || listen(server->listener, 1) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&place, &size) != 0)
        return cli_fail("%s, port %u: %s", name, port, strerror(errno));
    inet_ntop(AF_INET, &place.sin_addr, text, sizeof text);
    if (!cli_server_is_loopback((const struct sockaddr *)&place)) cli_note("warning: %s listens on %s: everyone who reaches it controls the board", name, text);
    cli_note("%s listens on %s:%u", name, text, ntohs(place.sin_port));
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
