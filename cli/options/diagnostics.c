#include "options/diagnostics.h"

#include <ntrace/bytes.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

void cli_text_disarm(char *text, const char *kept) {
    char *to = text;

    while (*text) {
        if (*text >= ' ' && *text <= '~') { /* most characters */
            *to++ = *text++;
            continue;
        }
        const size_t hazard = strchr(kept, *text) ? 0 : cli_text_hazard(text);
        const size_t length = hazard ? hazard : ntr_text_step(text);
        if (hazard)
            *to++ = '?';
        else
            for (size_t i = 0; i < length; i++) *to++ = text[i];
        text += length;
    }
    *to = 0;
}

static atomic_bool unread; /* messages have no reader, and a signal has asked for the end */

static bool takes_messages(void) {
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};

    return !atomic_load(&unread) || poll(&out, 1, 0) != 0;
}

/* Writes one line with one call: lines of several threads do not mix, and when nobody reads them, a signal that ends
 * the command has one call to interrupt. */
static void write_line(const char *format, va_list arguments) {
    static const char more[] = "...";
    char text[LINE_MAX_BYTES + sizeof more];
    const int begin = snprintf(text, LINE_MAX_BYTES, "ntrace%s%s: ", command ? " " : "", command ? command : "");
    const int size = vsnprintf(text + begin, (size_t)(LINE_MAX_BYTES - begin), format, arguments);

    if (size < 0) text[begin] = 0;
    cli_text_disarm(text + begin, ""); /* names in it come from inputs */
    char *end = text + strlen(text);
    if (size < 0 || size >= LINE_MAX_BYTES - begin) end = stpcpy(end, more);
    *end++ = '\n';
    if (takes_messages() && fwrite(text, 1, (size_t)(end - text), stderr) == 0 && errno == EINTR)
        atomic_store(&unread, true);
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
