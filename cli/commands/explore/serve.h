/* The server of the page, for one user on this machine. */
#ifndef CLI_COMMANDS_EXPLORE_SERVE_H
#define CLI_COMMANDS_EXPLORE_SERVE_H

#include "commands/explore/session.h"

/* Serves the page for the traces until a signal ends it. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int explore_serve(struct explore_session *sessions, size_t count, const struct explore_options *options);

#endif
