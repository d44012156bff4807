/* Call stacks rebuilt from events: who called whom, per hart and per context.
 *
 * Calls push; a return pops to the frame it returns into, also over frames in between (longjmp, unwound
 * exceptions); a jump to another function is a tail call; traps push a frame that the trap return pops; a
 * context switch changes stacks; a gap closes every frame of its source. */
#ifndef NTRACE_CALLSTACK_H
#define NTRACE_CALLSTACK_H

#include <ntrace/event.h>
#include <ntrace/debug_info.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions --------------------------------------------------------------------------------- */

typedef struct ntr_functions ntr_functions;

/* A function; all code without a name is one function an image, "[unknown]", `linkage` NULL. */
typedef struct ntr_function {
    const char *name;      /* for people; owned by the table */
    const char *linkage;
    const char *file;      /* where it is declared; NULL: not known */
    const char *image;
    uint32_t line;
    uint64_t low, high;    /* the part of its code that was met first: [low, high) */
} ntr_function;

/* `source` must outlive it. NULL when out of memory. */
NTR_API ntr_functions *ntr_functions_new(ntr_debug_info *source, const ntr_allocator *allocator);
NTR_API void ntr_functions_free(ntr_functions *functions);

/* Number of the function at `address`, counted from 0 in the order of first use. */
NTR_API uint32_t ntr_functions_at(ntr_functions *functions, const ntr_context *context, uint64_t address);

/* Number of a function that is only a name (copied), made when there is none. UINT32_MAX when out of memory. */
NTR_API uint32_t ntr_functions_named(ntr_functions *functions, const char *name);

/* NULL past the last. The pointer holds until the next ntr_functions_at. */
NTR_API const ntr_function *ntr_functions_get(const ntr_functions *functions, uint32_t number);

/* ---- stacks ------------------------------------------------------------------------------------ */

typedef enum ntr_frame_kind {
    NTR_FRAME_ROOT,      /* where knowledge of the stack begins */
    NTR_FRAME_CALL,
    NTR_FRAME_EXCEPTION, /* a trap handler */
    NTR_FRAME_INTERRUPT,
} ntr_frame_kind;

typedef struct ntr_stack_frame {
    uint32_t function;   /* of ntr_functions */
    uint32_t handle;     /* the listener's own, as returned by `enter` */
    uint8_t kind;        /* ntr_frame_kind */
    uint64_t site;       /* address of the call, or interrupted address */
    uint64_t return_to;  /* where a return from it goes */
} ntr_stack_frame;

/* Where and when a stack changes. */
typedef struct ntr_stack_moment {
    const ntr_event *event;      /* that made the change */
    uint16_t src;
    const ntr_context *context;
    const ntr_stack_frame *parent; /* enter: the frame below, NULL for a root; leave: the same */
} ntr_stack_moment;

typedef struct ntr_stack_listener {
    /* A frame is entered; the result is kept in frame->handle. `tail`: it replaces the function that was on
     * top, whose `leave` came just before. */
    uint32_t (*enter)(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail);
    /* A frame is left. `lost`: not by a return, the stack became unknown. */
    void (*leave)(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost);
    void *user;
} ntr_stack_listener;

typedef struct ntr_callstack ntr_callstack;

/* Either callback of `listener` may be NULL. NULL when out of memory. */
NTR_API ntr_callstack *ntr_callstack_new(ntr_functions *functions, const ntr_stack_listener *listener,
                                         const ntr_allocator *allocator);
NTR_API void ntr_callstack_free(ntr_callstack *callstack);

/* The frame that `event` executes in, made if there is none; NULL when out of memory. Call before
 * ntr_callstack_feed of the same event. Only spans execute. */
NTR_API const ntr_stack_frame *ntr_callstack_frame(ntr_callstack *callstack, const ntr_event *event);

/* Apply the event. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_callstack_feed(ntr_callstack *callstack, const ntr_event *event);

/* The frames of a source's current stack, root first. */
NTR_API const ntr_stack_frame *ntr_callstack_frames(const ntr_callstack *callstack, uint16_t src, size_t *count);

/* End of the trace: leave every frame of every stack. */
NTR_API void ntr_callstack_finish(ntr_callstack *callstack, const ntr_event *last);

#ifdef __cplusplus
}
#endif
#endif
