/* Machine: what an operating system did in a trace. System calls, interrupts and exceptions by name, with their
 * duration; threads and processes; the phases of a boot.
 *
 * Names come from the functions that ran: a trace has neither a system call's number nor the cause of a trap. Linux is
 * understood, and OpenSBI with symbols; other handlers have the name of their function. Objects are not thread-safe. */
#ifndef NTRACE_MACHINE_H
#define NTRACE_MACHINE_H

#include <ntrace/callstack.h>
#include <ntrace/interrupts.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_trap_kind {
    NTR_TRAP_SYSCALL,
    NTR_TRAP_INTERRUPT,
    NTR_TRAP_EXCEPTION,
} ntr_trap_kind;

/* System calls, interrupts or exceptions of one name. */
typedef struct ntr_trap {
    const char *name;     /* "openat", "supervisor timer interrupt", "page fault" */
    const char *function; /* that handles it; NULL: not known */
    uint8_t kind;         /* ntr_trap_kind */
    uint64_t count; /* number of entries. Interrupts: of calls of the handler, of which one trap can have several */
    uint64_t unfinished; /* entries without a known end (end of the trace, gap, end of the thread) */
    ntr_histogram instructions; /* retired by the thread between entry and return, traps inside included */
    ntr_histogram ticks; /* time between entry and return, other threads included; empty without timestamps */
} ntr_trap;

/* Privilege modes, as indices of counts. */
enum { NTR_PRIVILEGE_U, NTR_PRIVILEGE_S, NTR_PRIVILEGE_M, NTR_PRIVILEGE_VU, NTR_PRIVILEGE_VS, NTR_MODES };

/* A thread of one name. A thread that executes another program has another name, and a row of its own. */
typedef struct ntr_thread {
    const char *name; /* NULL: not known */
    uint32_t pid, tgid; /* of the thread, of the process, if `has_pid` */
    bool has_pid, user; /* it was in U-mode */
    bool has_scontext, has_hcontext;
    uint16_t src; /* hart on which it ran first */
    uint64_t scontext; /* of its U-mode, if `has_scontext` */
    uint64_t hcontext; /* of the guest of a hypervisor that it was executed in, if `has_hcontext` */
    uint64_t instructions[NTR_MODES], ticks; /* self; the time is that between messages */
    uint64_t runs; /* how often it began to run */
} ntr_thread;

/* An initcall of a Linux kernel: a function that initializes a driver or subsystem at boot. */
typedef struct ntr_initcall {
    const char *name;
    uint64_t calls, instructions, ticks;
    uint64_t begin; /* instructions of all harts before it */
} ntr_initcall;

/* A part of a boot. */
typedef struct ntr_phase {
    const char *name;
    uint64_t instructions, ticks; /* of all harts; time from its begin to that of the next phase */
} ntr_phase;

/* What is off for a time. Found in the code that was executed: instructions that switch interrupts off and on, and
 * Linux's count of preemption (kernels without CONFIG_PREEMPT_COUNT have none). */
typedef enum ntr_stretch_kind {
    NTR_STRETCH_S, /* interrupts of S-mode: sstatus.SIE, and handlers of traps */
    NTR_STRETCH_M, /* interrupts of M-mode: mstatus.MIE, and handlers of traps */
    NTR_STRETCH_PREEMPTION,
    NTR_STRETCH_KINDS,
} ntr_stretch_kind;

typedef struct ntr_long_stretch {
    uint64_t instructions, ticks; /* retired by the hart, other modes included; the time, 0 without timestamps */
    uint64_t begin; /* instructions of the hart before it */
    uint64_t from,
        to; /* address of the instruction that switches off and on; of a handler: where it began, or returned to */
    const char *from_function, *to_function; /* NULL: not known */
    uint16_t src;
} ntr_long_stretch;

enum { NTR_STRETCHES_LONGEST = 5 };

typedef struct ntr_stretches {
    const char *name; /* "interrupts of S-mode" */
    ntr_histogram instructions; /* of stretches with a known begin and end */
    ntr_long_stretch longest[NTR_STRETCHES_LONGEST]; /* the longest first */
    size_t longest_count;
} ntr_stretches;

typedef struct ntr_machine_totals {
    size_t size; /* sizeof(ntr_machine_totals) */
    uint64_t instructions, modes[NTR_MODES];
    uint64_t switches; /* of threads */
    uint64_t spaces; /* changes of the address space (scontext) */
    uint64_t begin, end; /* least and largest time, if `timed`; of harts with own clocks: of the first hart */
    uint64_t user_instructions; /* in the stream before the first instruction in U-mode, of all harts, if `has_user` */
    uint64_t user_time; /* of that instruction, if `user_timed` */
    uint64_t longest_interrupt; /* instructions of the longest interrupt handler */
    const char *longest_name; /* its name; NULL: there was no interrupt */
    uint64_t gaps;
    bool timed, has_user;
    bool has_modes; /* the trace says in which mode its instructions were executed; without it, `modes` has them all in
                       M */
    bool user_timed; /* `user_time` can be compared with `begin` */
    uint32_t harts; /* that executed instructions. The order of the stream is not that of time if there are several */
} ntr_machine_totals;

NTR_DEFINE_CONFIG_INIT(ntr_machine_totals)

typedef struct ntr_machine ntr_machine;

/* Makes an object. `program` (code at the address of a trap; may be NULL) and `functions` must outlive it. Threads
 * have names when `functions` has tasks (ntr_functions_set_tasks). Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_machine_new(const ntr_program *program, ntr_functions *functions, const ntr_allocator *allocator,
                                   ntr_machine **out);
NTR_API void ntr_machine_free(ntr_machine *machine);

/* The time of a hart is the number of its own instructions (`own`; initially not): it is not compared with that of
 * another hart. Entries that begin on one hart and end on another have no ticks. */
NTR_API void ntr_machine_set_clocks(ntr_machine *machine, bool own);

/* Processes `count` events in stream order; spans may be joined (ntr_decoder_set_join), but then there are no
 * stretches. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_machine_feed(ntr_machine *machine, const ntr_event *events, size_t count);

/* Ends the trace. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_machine_finish(ntr_machine *machine);

/* Return arrays, valid until ntr_machine_free, and store their length in *count. Call them after ntr_machine_finish.
 * Traps are sorted by kind and, descending, by count; threads by instructions; initcalls and phases by begin. */
NTR_API const ntr_trap *const *ntr_machine_traps(const ntr_machine *machine, size_t *count);
NTR_API const ntr_thread *ntr_machine_threads(const ntr_machine *machine, size_t *count);
NTR_API const ntr_initcall *ntr_machine_initcalls(const ntr_machine *machine, size_t *count);
NTR_API const ntr_phase *ntr_machine_phases(const ntr_machine *machine, size_t *count);

/* How long interrupts and preemption were off, if ntr_machine_watch was called: NTR_STRETCH_KINDS elements; NULL: it
 * was not. */
NTR_API const ntr_stretches *ntr_machine_stretches(const ntr_machine *machine);

/* For ntr_decoder_set_join_except: S and M, of which ntr_machine_watch takes the code that switches. */
#define NTR_MACHINE_WATCHED (1u << 1 | 1u << 3)

/* Before the first event: these modes are excepted where spans are joined, and `program` has the code. Errors:
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_machine_watch(ntr_machine *machine);

/* Fills *totals, whose `size` is set. Errors: NTR_E_INVALID (size). */
NTR_API ntr_status ntr_machine_totals_get(const ntr_machine *machine, ntr_machine_totals *totals);

/* Returns "system call", "interrupt" or "exception". */
NTR_API const char *ntr_trap_kind_name(unsigned kind);

#ifdef __cplusplus
}
#endif
#endif
