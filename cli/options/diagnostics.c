#include "options/diagnostics.h"

#include <ntrace/bytes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum { LINE_MAX_BYTES = 16384 };

static const char *command;
static atomic_bool doubtful; /* set by cli_doubt */

void cli_report_command(const char *name) {
    command = name;
}

/* Writes one line. stderr is locked, so that lines of several threads do not mix. */
static void write_line(const char *format, va_list arguments) {
    char text[LINE_MAX_BYTES];
    int size = vsnprintf(text, sizeof text, format, arguments);
    const bool cut = size < 0 || (size_t)size >= sizeof text;
    flockfile(stderr);
    fputs("ntrace", stderr);
    if (command) fprintf(stderr, " %s", command);
    fputs(": ", stderr);
    for (const char *at = size < 0 ? "" : text; *at;) { /* names in it come from inputs */
        const size_t hazard = ntr_text_hazard(at);
        fputc(hazard ? '?' : *at, stderr);
        at += hazard ? hazard : 1;
    }
    fputs(cut ? "...\n" : "\n", stderr);
    funlockfile(stderr);
}

void cli_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

void cli_doubt(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
    atomic_store(&doubtful, true);
}

int cli_doubted_status(int status) {
    return status == CLI_OK && atomic_load(&doubtful) ? CLI_DEFECTS : status;
}

int cli_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
    return CLI_FAILED;
}
