/* Threads that began to run on a hart before the stream says that they left another one: what their stacks tell. */
#ifndef NTR_ANALYSIS_LATE_LISTENER_H
#define NTR_ANALYSIS_LATE_LISTENER_H

#include <ntrace/callstack.h>

/* A thread began to run on a hart, and its switch on the hart where it had run comes later in the stream. Until then it
 * has a stack of its own, which lacks frames. Changes of these are noted with a number below NTR_LATE_CHANGES, and are
 * made when the switch comes. */
enum { NTR_LATE_CHANGES = 256 };

typedef struct ntr_late_listener {
    /* The stack of number `thread` begins to wait for its frames. */
    void (*began)(void *user, uint32_t thread);
    /* The last event, of this source, changed a frame that the stack of number `thread` does not have yet. */
    void (*noted)(void *user, uint32_t number, uint16_t src, uint32_t thread);
    /* The frames of stack `from` are now on stack `to`. */
    void (*joined)(void *user, uint32_t from, uint32_t to);
    void *user;
} ntr_late_listener;

void ntr_callstack_listen_late(ntr_callstack *callstack, const ntr_late_listener *listener);

/* While frames are left: returns whether they were left earlier than now, and the number of that change. */
bool ntr_callstack_late(const ntr_callstack *callstack, uint32_t *number);

#endif
