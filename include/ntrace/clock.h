/* Clock: the time of one source, from the timestamps of its messages. N-Trace 1.0 section 7.4; the XOR rule of
 * older dialects.
 *
 * Zero-filled it knows no time. Follow every message of the source in order. */
#ifndef NTRACE_CLOCK_H
#define NTRACE_CLOCK_H

#include <ntrace/message.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_clock {
    uint64_t time; /* last full time; its high part stays the epoch while the time is not known */
    bool known;
} ntr_clock;

/* Take the message's TSTAMP, if it has one: absolute in synchronizing messages (and then, when it is missing,
 * the time is not known any more), else relative. Returns whether the message is one that should carry an
 * absolute time. */
NTR_API bool ntr_clock_follow(ntr_clock *clock, const ntr_params *params, const ntr_message *message);

/* Messages were lost: differences have no base until the next absolute time. */
NTR_API void ntr_clock_lose(ntr_clock *clock);

#ifdef __cplusplus
}
#endif
#endif
