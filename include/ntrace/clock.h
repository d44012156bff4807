/* Clock: the time of one source, from the timestamps of its messages. N-Trace 1.0 section 7.4; older dialects use XOR
 * (docs/dialects.md section 1.1).
 *
 * A zero-filled clock has no known time. Call ntr_clock_follow for every message of the source, in order. */
#ifndef NTRACE_CLOCK_H
#define NTRACE_CLOCK_H

#include <ntrace/message.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_clock {
    uint64_t time; /* last full time, in ticks; while the time is not known, its upper bits are kept as the epoch */
    bool known;
} ntr_clock;

/* Apply the TSTAMP of a message. It is absolute in synchronizing messages, relative in others. A synchronizing message
 * without TSTAMP makes the time unknown. Returns whether the message should carry an absolute time. */
NTR_API bool ntr_clock_follow(ntr_clock *clock, const ntr_params *params, const ntr_message *message);

/* Messages were lost: the time is unknown until the next absolute time. */
NTR_API void ntr_clock_lose(ntr_clock *clock);

#ifdef __cplusplus
}
#endif
#endif
