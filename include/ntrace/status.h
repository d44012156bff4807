/* Status codes: what every function of the library returns.
 *
 * Zero is success. Positive values are normal non-results (end of input, more input needed); they are
 * not failures. Negative values are failures of three kinds: the trace is bad, the caller misused the
 * library, or a resource is lacking. The whole list is include/ntrace/status.def. */
#ifndef NTRACE_STATUS_H
#define NTRACE_STATUS_H

#if defined(__GNUC__) && !defined(NTR_NO_VISIBILITY)
#define NTR_API __attribute__((visibility("default")))
#else
#define NTR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_status {
#define NTR_STATUS(name, value, text) NTR_##name = (value),
#include <ntrace/status.def>
#undef NTR_STATUS
} ntr_status;

/* The code's name, e.g. "NTR_E_TRUNCATED"; "NTR_?" for a value that is no code. Static storage. */
NTR_API const char *ntr_status_name(ntr_status status);

/* One lower-case phrase for people, without full stop. Static storage. */
NTR_API const char *ntr_status_text(ntr_status status);

#ifdef __cplusplus
}
#endif
#endif
