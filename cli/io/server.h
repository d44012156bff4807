/* Sockets of a server with one client at a time. It listens on the loopback interface unless another address is given.
 */
#ifndef CLI_IO_SERVER_H
#define CLI_IO_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_server {
    const char *name; /* for messages */
    int listener, client; /* -1: none */
};

/* The address of a socket. */
struct cli_listening {
    char host[64]; /* "127.0.0.1" or "[::1]" */
    char port[8];
    bool is_loopback; /* only this machine reaches it */
};

/* Listens at the first address of `host` (IPv4, IPv6 or a name) that is possible, without blocking. Port "0": any free
 * port. Returns the descriptor; or -1, and the reason. */
int cli_server_listen(const char *host, const char *port, struct cli_listening *place, const char **why);

/* Listens; `address` NULL: loopback. Port 0: any free port. The address is reported on standard error, with a warning
 * if it is not a loopback address. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_server_open(struct cli_server *server, const char *name, const char *address, uint16_t port);

/* Accepts a client if one waits and there is none. */
void cli_server_accept(struct cli_server *server);

/* Sends all bytes to a socket. Returns false if the connection is broken. */
bool cli_server_send(int fd, const void *bytes, size_t size);

/* Connects to HOST:PORT. Returns the socket, or -1 after reporting the error; cli_server_try reports nothing. */
int cli_server_connect(const char *place);
int cli_server_try(const char *place);

void cli_server_drop(struct cli_server *server);
void cli_server_close(struct cli_server *server);

#endif
