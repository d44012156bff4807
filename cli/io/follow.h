/* Live input: a file that grows, a pipe, or a TCP stream (tcp:HOST:PORT), read until the user interrupts.
 *
 * A file is read on when it has grown; a file that became shorter is read from its start. A TCP connection that ends is
 * made again; what was sent in between is lost, and the decoder reports the gap. */
#ifndef CLI_IO_FOLLOW_H
#define CLI_IO_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All inputs that are opened from now on are followed. `idle` is called while there is nothing to read, ten times a
 * second, and may be NULL; it returns false to end the input. SIGINT and SIGTERM end it, too. */
void cli_follow_begin(bool (*idle)(void *user), void *user);

/* Returns whether cli_follow_begin was called. */
bool cli_follow_on(void);

/* Opens a stream "tcp:HOST:PORT". Returns the socket, -1 after reporting an error, or -2 if `path` is something else.
 */
int cli_follow_connect(const char *path);

/* As read(2), but waits for more data. 0: the user has interrupted, or a pipe has ended. `path` as given by the user;
 * *fd may change. */
ssize_t cli_follow_read(int *fd, const char *path, void *to, size_t size);

#endif
