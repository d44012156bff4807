/* --limit NAME=VALUE: what is read from one input at most. The option belongs to all commands, and its values hold
 * until the process ends. */
#ifndef CLI_OPTIONS_LIMITS_H
#define CLI_OPTIONS_LIMITS_H

#include <ntrace/limits.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Those of the libraries have the numbers of enum ntr_limit. */
enum cli_limit {
#define NTR_LIMIT(constant, name, value, highest, what) CLI_LIMIT_##constant,
#include <ntrace/limits.def>
#include "options/limits.def"
#undef NTR_LIMIT
    CLI_LIMIT_COUNT
};

uint64_t cli_limit(enum cli_limit limit);
const char *cli_limit_name(enum cli_limit limit);

/* The limits for the functions of the libraries. */
const ntr_limits *cli_limits(void);

/* Takes "NAME=VALUE", VALUE as N, NK, NM, NG or NT (KiB, MiB, ...). Returns false after reporting an error. */
bool cli_limit_set(const char *text);

/* Writes the table: name, present value, meaning. */
void cli_limits_list(FILE *out);

#endif
