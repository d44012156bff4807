/* A byte stream to a debugger or a helper program, with a time limit for every answer as a whole.
 *
 * A link that fails is closed: what arrives late must not be taken for the answer to a later request. The next request
 * opens it again, LINK_BREAKS times at most. */
#ifndef NTR_TARGET_LINK_H
#define NTR_TARGET_LINK_H

#include <ntrace/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LINK_BREAKS = 3, LINK_BUFFER = 16384, LINK_PLACE = 1024 };

typedef struct byte_link {
    char place[LINK_PLACE];  /* HOST:PORT, the path of a socket (with a slash), or a command */
    bool is_command;
    uint32_t timeout_ms;
    bool (*interrupted)(void *user); /* as in ntr_bus_options; with interrupted_user; may be NULL */
    void *interrupted_user;
    ntr_status (*greet)(void *user); /* called after each connection; may be NULL */
    void *user;
    int fd; /* -1: closed */
    pid_t child;
    unsigned breaks;
    bool hurries;        /* interrupted during this request, which then ends at hurry_end */
    uint64_t hurry_end;
    uint64_t answer_end; /* when the answer must be complete, in milliseconds of the monotonic clock */
    size_t at, end; /* bytes received and not yet taken */
    char buffer[LINK_BUFFER];
    char error[200];
} byte_link;

/* Errors: NTR_E_IO (`error` says why), NTR_E_SYNTAX (place). */
ntr_status link_open(byte_link *link, const char *place, bool is_command, uint32_t timeout_ms);
void link_close(byte_link *link);

/* Opens the link again if it is closed. */
ntr_status link_ready(byte_link *link);

/* A request begins, or a packet that nothing asked for: it must be sent, and the answer complete, within the time
 * limit. */
void link_begin(byte_link *link);

ntr_status link_send(byte_link *link, const char *bytes, size_t size);

/* Takes one byte; waits for it. */
ntr_status link_take(byte_link *link, char *byte);

/* Returns whether a byte can be taken without waiting; or comes within so many milliseconds. */
bool link_has(byte_link *link);
bool link_comes(byte_link *link, uint32_t ms);

/* Closes the link after a failure; sets `error` and returns NTR_E_IO. */
ntr_status __attribute__((format(printf, 2, 3))) link_break(byte_link *link, const char *format, ...);

#endif
