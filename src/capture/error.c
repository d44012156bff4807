#include "capture/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ntr_status ntr_capture_fail(struct ntr_capture_reason *reason, ntr_status status, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return status;
}

ntr_status ntr_capture_fail_memory(struct ntr_capture_reason *reason) {
    return ntr_capture_fail(reason, NTR_E_MEMORY, "out of memory");
}

ntr_status ntr_capture_fail_errno(struct ntr_capture_reason *reason, const char *subject) {
    return ntr_capture_fail(reason, NTR_E_IO, "%s: %s", subject, strerror(errno));
}
