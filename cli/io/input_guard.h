/* Files that the command reads, so that what it writes replaces none of them. */
#ifndef CLI_IO_INPUT_GUARD_H
#define CLI_IO_INPUT_GUARD_H

#include <stdbool.h>

/* This file is read. What is none, or cannot be looked at, is passed over. */
void cli_origin_add(const char *path);

/* Whether this name, or a link of that name, leads to one of them. */
bool cli_origin_is(const char *path);

#endif
