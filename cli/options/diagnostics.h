/* Messages on standard error, and the exit status of the command. */
#ifndef CLI_OPTIONS_DIAGNOSTICS_H
#define CLI_OPTIONS_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CLI_OK = 0,
    CLI_DEFECTS = 1, /* the trace has errors, gaps or a mismatch; the output is as complete as possible */
    CLI_FAILED = 2,  /* wrong usage, or an input cannot be read, or an output cannot be written */
};

/* Sets the prefix of messages: "ntrace NAME: ", or "ntrace: " if `name` is NULL. `name` is not copied. */
void cli_report_command(const char *name);

/* As ntr_text_hazard; also a byte that is not UTF-8, which a terminal may take for a control of its own encoding. */
size_t cli_text_hazard(const char *text);

/* Replaces each hazard by '?', except the characters of `kept`. The text does not become longer. */
void cli_text_disarm(char *text, const char *kept);

/* Writes one line to standard error, for example "ntrace dump: ...". `format` has no full stop and no line feed. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As cli_note; the exit status of the command is CLI_DEFECTS instead of CLI_OK: something could not be read that the
 * answer needs. */
void cli_doubt(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the exit status of a command that ends with `status`. */
int cli_doubted_status(int status);

/* Returns whether this is the first call with these texts: a command may read an input several times. Any thread. */
bool cli_first_time(const char *what, const char *name);

/* As cli_note, and returns CLI_FAILED. Use: `return cli_fail(...)`. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
