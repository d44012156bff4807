/* Status codes: the results of the functions of the library.
 *
 * Zero is success. Positive values are normal non-results, such as the end of the input; they are not errors. Negative
 * values are errors of three kinds: damaged input, misuse by the caller, or lack of a resource. The complete list is
 * include/ntrace/status.def. */
#ifndef NTRACE_STATUS_H
#define NTRACE_STATUS_H

#if defined(__GNUC__) && !defined(NTR_NO_VISIBILITY)
#define NTR_API __attribute__((visibility("default")))
#else
#define NTR_API
#endif

/* Functions of <ntrace/lab.h>: exported when the library is built with -Dlab=true. */
#ifdef NTRACE_LAB
#define NTR_LAB_API NTR_API
#else
#define NTR_LAB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_status {
#define NTR_STATUS(name, value, text) NTR_##name = (value),
#include <ntrace/status.def>
#undef NTR_STATUS
} ntr_status;

/* Returns the name of the code, such as "NTR_E_TRUNCATED", or "NTR_?" for an unknown value. Static storage. */
NTR_API const char *ntr_status_name(ntr_status status);

/* Returns a description in lower case, without full stop. Static storage. */
NTR_API const char *ntr_status_text(ntr_status status);

#ifdef __cplusplus
}
#endif
#endif
