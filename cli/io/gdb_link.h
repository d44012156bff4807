/* The connection of a debugger: standard input and output, or a socket. */
#ifndef CLI_IO_GDB_LINK_H
#define CLI_IO_GDB_LINK_H

#include <ntrace/gdb.h>

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- SIGTERM, SIGHUP and SIGINT as requests to end, for commands that must remove something first. They are blocked,
 * and arrive while cli_end_signal_poll waits only, so that none is missed. */

/* From now on, the signals are requests. Those that are ignored stay ignored. */
void cli_end_signal_catch(void);

/* As poll; a signal that arrives ends it with -1 and EINTR. */
int cli_end_signal_poll(struct pollfd *files, nfds_t count, int milliseconds);

/* Returns the signal that has arrived, or 0. */
int cli_end_signal(void);

/* Ends the process by the signal that has arrived, if there is one. */
void cli_end_signal_pass(void);

/* In a child process, before exec: the signals have their usual effect. */
void cli_end_signal_restore(void);

/* ---- Starts a GDB for RISC-V. */

/* Returns the name of a GDB that can debug RISC-V, searched in PATH; NULL when there is none. `wanted`: the only one to
 * try, or NULL. */
const char *cli_gdb_find(const char *wanted);

/* Prints the commands that set up a GDB of the user's own, one a line, after `indent`. */
void cli_gdb_print_setup(FILE *out, const char *indent);

/* Starts `gdb` with `program` and lets it connect to `socket`. Writes its set-up (examples/ntrace.gdb) to the file
 * `script`, which the caller removes when GDB has ended. Returns the process, or -1 after reporting the error. */
int cli_gdb_launch(const char *gdb, const char *program, const char *socket, const char *script);

/* Bytes that arrive while the trace is read wait in `bytes`. An interrupt among them ends the reading, and is removed.
 */
struct cli_gdb_link {
    int in, out;
    uint8_t *bytes;
    size_t at; /* of the first byte that waits */
    size_t size, capacity;
    bool interrupted, closed;
};

/* Opens a socket for `where`: PATH (with a slash), PORT or HOST:PORT; without HOST, 127.0.0.1. Warns when other
 * machines can connect. Returns the file descriptor, or -1 after reporting the error. */
int cli_gdb_listen(const char *where);

/* Waits for a debugger. `child`: a process, or 0; when it has ended, the wait is over. Returns the file descriptor, or
 * -1; also when a signal asks to end. */
int cli_gdb_accept(int listener, int child);

/* Waits for the debugger that cli_gdb_launch has started. A signal that asks to end is passed on, and a debugger that
 * ignores it is killed. Returns its status, as waitpid. */
int cli_gdb_end(int child);

/* Looks for bytes without waiting, as a callback of a replay. Returns false when the debugger interrupts or has gone.
 */
bool cli_gdb_link_proceed(void *link, uint64_t done);

/* Passes bytes between the debugger and the server until the session ends. Returns NTR_END, or an error. */
ntr_status cli_gdb_link_serve(struct cli_gdb_link *link, ntr_gdb *server);

/* ntr_gdb_config.write */
ntr_status cli_gdb_link_write(void *link, const void *bytes, size_t size);

void cli_gdb_link_close(struct cli_gdb_link *link);

#endif
