/* Sockets of a server with one client at a time. It listens on the loopback interface unless another address is given. */
#ifndef CLI_IO_SERVER_H
#define CLI_IO_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_server {
    const char *name; /* for messages */
    int listener, client; /* -1: none */
};

/* Listens; `address` NULL: loopback. Port 0: any free port. The address is reported on standard error, with a warning if it is
 * not a loopback address. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_server_open(struct cli_server *server, const char *name, const char *address, uint16_t port);

/* Accepts a client if one waits and there is none. */
void cli_server_accept(struct cli_server *server);

/* Sends all bytes to a socket. Returns false if the connection is broken. */
bool cli_server_send(int fd, const void *bytes, size_t size);

/* Returns whether only this machine reaches the address, IPv4 or IPv6. */
struct sockaddr;
bool cli_server_is_loopback(const struct sockaddr *address);

/* Connects to HOST:PORT. Returns the socket, or -1 after reporting the error; cli_server_try reports nothing. */
int cli_server_connect(const char *place);
int cli_server_try(const char *place);

void cli_server_drop(struct cli_server *server);
void cli_server_close(struct cli_server *server);

#endif
