/* What the command tells people on standard error, and its exit status. */
#ifndef CLI_OPTIONS_DIAGNOSTICS_H
#define CLI_OPTIONS_DIAGNOSTICS_H

enum {
    CLI_OK = 0,
    CLI_DEFECTS = 1, /* the trace had errors, gaps or a mismatch; the output is as complete as can be */
    CLI_FAILED = 2,  /* wrong usage, or an input that cannot be read */
};

/* The command named in messages from now on ("ntrace dump"); `name` NULL: plain "ntrace". */
void cli_report_command(const char *name);

/* Print "ntrace dump: ..." as one line; no full stop, no line feed in `format`. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and return CLI_FAILED, so that callers can say `return cli_fail(...)`. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
