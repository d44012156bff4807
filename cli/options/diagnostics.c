#include "options/diagnostics.h"

#include <stdarg.h>
#include <stdio.h>

static const char *command;

void cli_report_command(const char *name) {
    command = name;
}

/* A line stays whole, whatever other threads tell. */
static void tell(const char *format, va_list arguments) {
    flockfile(stderr);
    fputs("ntrace", stderr);
    if (command) fprintf(stderr, " %s", command);
    fputs(": ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
}

void cli_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell(format, arguments);
    va_end(arguments);
}

int cli_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell(format, arguments);
    va_end(arguments);
    return CLI_FAILED;
}
