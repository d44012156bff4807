/* SIGTERM, SIGHUP and SIGINT as requests to end, for commands that must remove something first. They are blocked, and
 * arrive while cli_end_signal_poll waits only, so that none is missed. */
#ifndef CLI_IO_END_SIGNAL_H
#define CLI_IO_END_SIGNAL_H

#include <poll.h>

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

#endif
