/* The connection of a debugger: standard input and output, or a socket. */
#ifndef CLI_IO_GDB_LINK_H
#define CLI_IO_GDB_LINK_H

#include <ntrace/gdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that arrive while the trace is read wait in `bytes`. An interrupt among them ends the reading, and is removed.
 */
struct cli_gdb_link {
    int in, out;
    uint8_t *bytes;
    size_t size, capacity;
    bool interrupted, closed;
};

/* Opens a socket for `where`: PATH (with a slash), PORT or HOST:PORT; without HOST, 127.0.0.1. Warns when other
 * machines can connect. Returns the file descriptor, or -1 after reporting the error. */
int cli_gdb_listen(const char *where);

/* Waits for a debugger. `child`: a process, or 0; when it has ended, the wait is over. Returns the file descriptor, or
 * -1; also when a signal asks to end (io/end_signal.h). */
int cli_gdb_accept(int listener, int child);

/* Looks for bytes without waiting, as a callback of a replay. Returns false when the debugger interrupts or has gone.
 */
bool cli_gdb_link_proceed(void *link, uint64_t done);

/* Passes bytes between the debugger and the server until the session ends. Returns NTR_END, or an error. */
ntr_status cli_gdb_link_serve(struct cli_gdb_link *link, ntr_gdb *server);

/* ntr_gdb_config.write */
ntr_status cli_gdb_link_write(void *link, const void *bytes, size_t size);

void cli_gdb_link_close(struct cli_gdb_link *link);

#endif
