/* Call stacks: reconstructed from events, per hart and per context.
 *
 * A call pushes a frame. A return pops frames up to the frame it returns to, which may be several (longjmp, unwinding
 * of exceptions). A jump to another function is a tail call and replaces the top frame. So does code that runs into the
 * next function without a jump: where this is inside of a span, the decoder must divide it (ntr_decoder_set_division).
 * A trap pushes a frame that the trap return pops. A context switch selects another stack. A gap closes all frames of
 * its source.
 *
 * A kernel switches threads in a function (Linux: __switch_to) that returns on another stack. From its first return on,
 * a hart has the stack of its thread, whatever the context is, and follows the thread to other harts. Which thread
 * continues is known from ntr_tasks; without them it is found by the return addresses of the threads that were left.
 * Objects are not thread-safe: calls for one object must not overlap. */
#ifndef NTRACE_CALLSTACK_H
#define NTRACE_CALLSTACK_H

#include <ntrace/event.h>
#include <ntrace/debug_info.h>
#include <ntrace/tasks.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions --------------------------------------------------------------------------------- */

typedef struct ntr_functions ntr_functions;

/* A function. Code of an ELF file without a symbol is named by file and address, "libc.so.6+0x27f10": a function of the
 * unwind table, or (with `linkage` NULL) the code between two functions. All other code of an image without a name
 * counts as one function "[unknown]" with `linkage` NULL. */
typedef struct ntr_function {
    const char *name; /* demangled name; owned by the table */
    const char *linkage; /* linkage name; NULL: not known to be one function */
    const char *file; /* file of the declaration; NULL: not known */
    const char *image; /* name of the image */
    uint32_t line; /* line of the declaration */
    uint64_t low, high; /* address range [low, high) of the part of its code that was found first */
} ntr_function;

/* Makes a table of functions. `debug` must outlive it. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_functions_new(ntr_debug_info *debug, const ntr_allocator *allocator, ntr_functions **out);
NTR_API void ntr_functions_free(ntr_functions *functions);

/* Returns the number of the function at `place`. Functions are numbered from 0 in the order of first use. */
NTR_API uint32_t ntr_functions_at(ntr_functions *functions, ntr_place place);

/* Returns whether all `count` addresses, as `context` sees them at stream offset `position`, are in one function.
 * `functions` is an ntr_functions: for ntr_decoder_set_join and ntr_decoder_set_division. */
NTR_API bool ntr_functions_same(void *functions, const ntr_context *context, uint64_t position,
                                const uint64_t *addresses, size_t count);

/* Returns the number of a function that has only a name (copied). It is created when it does not exist. Returns
 * UINT32_MAX when out of memory. */
NTR_API uint32_t ntr_functions_named(ntr_functions *functions, const char *name);

/* Returns the function, or NULL when `number` is past the last one. The pointer is valid until the next call of
 * ntr_functions_at or ntr_functions_named. */
NTR_API const ntr_function *ntr_functions_get(const ntr_functions *functions, uint32_t number);

/* Gives the table the threads of the trace, for the call stacks that are made with it afterwards. `tasks` must outlive
 * the table; NULL: not known. */
NTR_API void ntr_functions_set_tasks(ntr_functions *functions, const ntr_tasks *tasks);

/* ---- stacks ------------------------------------------------------------------------------------ */

typedef enum ntr_frame_kind {
    NTR_FRAME_ROOT, /* the outermost known frame; its caller is not known */
    NTR_FRAME_CALL,
    NTR_FRAME_EXCEPTION, /* an exception handler */
    NTR_FRAME_INTERRUPT, /* an interrupt handler */
} ntr_frame_kind;

typedef struct ntr_stack_frame {
    uint32_t function; /* number in ntr_functions */
    uint32_t handle; /* value returned by the listener's `enter` */
    uint8_t kind; /* ntr_frame_kind */
    uint64_t site; /* address of the call instruction, or of the interrupted instruction */
    uint64_t return_to; /* return address */
} ntr_stack_frame;

/* The event and the place at which a stack changes. */
typedef struct ntr_stack_moment {
    const ntr_event *event; /* the event that causes the change */
    uint16_t src;
    const ntr_context *context;
    const ntr_stack_frame *parent; /* the frame below; NULL for a root */
    bool resumed; /* the function is not entered, but continues: its call is not known */
    uint32_t thread; /* number of the stack: threads and contexts are numbered in the order of first use */
    const ntr_task *task; /* that runs on the hart; NULL: not known */
    bool waits; /* the frame is left because its coroutine waits. If it is entered again (`resumed`), with certainty the
                   same one, it has the handle that it had; otherwise 0 */
} ntr_stack_moment;

typedef struct ntr_stack_listener {
    /* A frame is entered. The result is stored in frame->handle. `tail`: the frame replaces the previous top frame by a
     * tail call; `leave` was called for that frame just before. */
    uint32_t (*enter)(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail);
    /* A frame is left. `lost`: not by a return; the stack is not known any more. */
    void (*leave)(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost);
    void *user;
} ntr_stack_listener;

typedef struct ntr_callstack ntr_callstack;

/* Makes a call stack object. `functions` must outlive it. `listener` is copied; each of its functions may be NULL.
 * Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_callstack_new(ntr_functions *functions, const ntr_stack_listener *listener,
                                     const ntr_allocator *allocator, ntr_callstack **out);
NTR_API void ntr_callstack_free(ntr_callstack *callstack);

/* Returns the frame in which the span `event` executes; a root frame is created when there is none. Returns NULL when
 * out of memory. Call it before ntr_callstack_feed of the same event. Only for spans. */
NTR_API const ntr_stack_frame *ntr_callstack_frame(ntr_callstack *callstack, const ntr_event *event);

/* Applies the event to the stacks. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_callstack_feed(ntr_callstack *callstack, const ntr_event *event);

/* Ends the trace: leaves all frames of all stacks. `last` is the last event. */
NTR_API void ntr_callstack_finish(ntr_callstack *callstack, const ntr_event *last);

#ifdef __cplusplus
}
#endif
#endif
