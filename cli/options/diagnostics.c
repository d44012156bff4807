#include "options/diagnostics.h"

#include <ntrace/bytes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 16384 };

static const char *command;
static atomic_bool doubtful; /* set by cli_doubt */

void cli_report_command(const char *name) {
    command = name;
}

size_t cli_text_hazard(const char *text) {
    const size_t hazard = ntr_text_hazard(text);
    return hazard || !((unsigned char)*text & 0x80) ? hazard : !ntr_utf8_length(text, 4);
}

void cli_write_harmless(const char *text) {
    while (*text) {
        const size_t hazard = cli_text_hazard(text);
        const size_t length = hazard ? hazard : ntr_text_step(text);
        fwrite(hazard ? "?" : text, 1, hazard ? 1 : length, stderr);
        text += length;
    }
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
    cli_write_harmless(size < 0 ? "" : text); /* names in it come from inputs */
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

bool cli_first_time(const char *what, const char *name) {
    enum { MOST = 32 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        const char *what;
        char *name;
    } said[MOST];
    static unsigned count;
    bool first = true;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < count && first; i++)
        first = strcmp(said[i].what, what) != 0 || (said[i].name && strcmp(said[i].name, name) != 0);
    if (first && count < MOST) {
        said[count].what = what;
        said[count++].name = strdup(name);
    }
    pthread_mutex_unlock(&lock);
    return first;
}

int cli_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
    return CLI_FAILED;
}
