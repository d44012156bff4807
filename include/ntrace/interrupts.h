/* Interrupts and exceptions: how often each handler ran, for how long, and how soon.
 *
 * A handler is where a trap led to: with a vector table, an address a cause (messages do not carry the cause). It
 * lasts until the trap return, with whatever interrupts it in between. */
#ifndef NTRACE_INTERRUPTS_H
#define NTRACE_INTERRUPTS_H

#include <ntrace/callstack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A distribution in bounded memory: values below 64 are told apart exactly, greater ones to 1/32. */
#define NTR_SPREAD_BUCKETS 1920
typedef struct ntr_histogram {
    uint64_t count, least, most;
    uint64_t sum; /* stays at UINT64_MAX when it does not fit */
    uint64_t buckets[NTR_SPREAD_BUCKETS];
} ntr_histogram;

NTR_API void ntr_histogram_add(ntr_histogram *spread, uint64_t value);

/* The value that `percent` % (1 to 100) of all do not exceed: at most 1/32 too high, never above `most`. 0 when
 * there are none. */
NTR_API uint64_t ntr_histogram_percentile(const ntr_histogram *spread, unsigned percent);

/* How many values lie in [2^power, 2^(power + 1)), power 0 to 63; 0 itself counts at power 0. */
NTR_API uint64_t ntr_histogram_octave(const ntr_histogram *spread, unsigned power);

#define NTR_INTERRUPTS_MAX 1024 /* handlers told apart; entries of further ones are only counted */

typedef struct ntr_interrupt {
    uint64_t address;    /* where the trap led to */
    uint32_t function;   /* there, of ntr_functions */
    uint32_t handler;    /* that the code there jumped to at once, as vectors do; else `function` */
    uint16_t src;
    uint8_t end;         /* ntr_end: EXCEPTION, INTERRUPT, or TRAP where the trace does not tell which */
    uint64_t count;      /* entered */
    uint64_t nested;     /* of these, while another handler ran */
    uint64_t unfinished; /* of these, still running where the trace or knowledge ends: they have no duration */
    ntr_histogram instructions; /* retired from entry to return */
    ntr_histogram ticks;        /* from entry to return; empty without timestamps */
    /* Stamps around the trap's own message; empty without timestamps. The event happened after the hart's message
     * before, and the handler's first instruction ran before its next one: from one to the other it took at most
     * the sum, and at most `after` with an encoder that stamps a trap when it happens. */
    ntr_histogram before, after;
} ntr_interrupt;

typedef struct ntr_interrupts ntr_interrupts;

/* `functions` must outlive it. NULL when out of memory. */
NTR_API ntr_interrupts *ntr_interrupts_new(ntr_functions *functions, const ntr_allocator *allocator);
NTR_API void ntr_interrupts_free(ntr_interrupts *interrupts);

/* Take events in stream order. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_interrupts_feed(ntr_interrupts *interrupts, const ntr_event *events, size_t count);

/* Close what is open. */
NTR_API ntr_status ntr_interrupts_finish(ntr_interrupts *interrupts);

/* After ntr_interrupts_finish: by source, kind of trap and address. */
NTR_API const ntr_interrupt *const *ntr_interrupts_list(const ntr_interrupts *interrupts, size_t *count);

/* Entries of handlers beyond NTR_INTERRUPTS_MAX. */
NTR_API uint64_t ntr_interrupts_left_out(const ntr_interrupts *interrupts);

#ifdef __cplusplus
}
#endif
#endif
