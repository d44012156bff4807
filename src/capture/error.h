/* The sentence that ntr_capture_error returns. Functions that can fail for more than one reason take a pointer to it,
 * fill it when they fail and return the status. */
#ifndef NTR_CAPTURE_ERROR_H
#define NTR_CAPTURE_ERROR_H

#include <limits.h>
#include <ntrace/status.h>

struct ntr_capture_reason {
    char text[PATH_MAX + 256]; /* "" while nothing has failed */
};

/* Each returns `status`, so that callers can write `return ntr_capture_fail(...)`. */
ntr_status ntr_capture_fail(struct ntr_capture_reason *reason, ntr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

ntr_status ntr_capture_fail_memory(struct ntr_capture_reason *reason); /* NTR_E_MEMORY */

/* NTR_E_IO with "SUBJECT: text of errno". */
ntr_status ntr_capture_fail_errno(struct ntr_capture_reason *reason, const char *subject);

#endif
