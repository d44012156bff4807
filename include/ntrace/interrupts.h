/* Interrupts and exceptions: number, duration and latency of each handler.
 *
 * A handler is identified by the target address of the trap. With a vector table, each cause has its own address
 * (messages do not contain the cause). A handler lasts until its trap return, including handlers that interrupt it. */
#ifndef NTRACE_INTERRUPTS_H
#define NTRACE_INTERRUPTS_H

#include <ntrace/callstack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A histogram in bounded memory. Values below 64 are exact; larger values have a relative error of at most 1/32. */
#define NTR_HISTOGRAM_BUCKETS 1920
typedef struct ntr_histogram {
    uint64_t count, least, most;
    uint64_t sum; /* saturates at UINT64_MAX */
    uint64_t buckets[NTR_HISTOGRAM_BUCKETS];
} ntr_histogram;

NTR_API void ntr_histogram_add(ntr_histogram *histogram, uint64_t value);

/* Returns the value that `percent` % (1 to 100) of all values do not exceed. The result is at most 1/32 too high, and
 * never above `most`. Returns 0 for an empty histogram. */
NTR_API uint64_t ntr_histogram_percentile(const ntr_histogram *histogram, unsigned percent);

/* Returns the number of values in [2^power, 2^(power + 1)), power 0 to 63. The value 0 is counted at power 0. */
NTR_API uint64_t ntr_histogram_octave(const ntr_histogram *histogram, unsigned power);

#define NTR_INTERRUPTS_MAX 1024 /* maximum number of handlers; entries of further handlers are only counted */

typedef struct ntr_interrupt {
    uint64_t address;    /* target address of the trap */
    uint32_t function;   /* function at `address`, number in ntr_functions */
    uint32_t handler;    /* function that a vector at `address` jumps to; otherwise equal to `function` */
    uint16_t src;
    uint8_t end;         /* ntr_span_end: EXCEPTION, INTERRUPT, or TRAP when the trace does not distinguish them */
    uint64_t count;      /* number of entries */
    uint64_t nested;     /* entries while another handler was active */
    uint64_t unfinished; /* entries without a known end (end of trace, gap); they have no duration */
    ntr_histogram instructions; /* instructions retired from entry to return */
    ntr_histogram ticks;        /* time from entry to return; empty without timestamps */
    /* Bounds of the latency, from the timestamps around the message of the trap; empty without timestamps. `before` is
     * the time from the previous message of the hart to the message of the trap, `after` the time from there to the
     * next message. The trap occurred after the previous message, and the first instruction of the handler retired
     * before the next message. The latency is therefore at most the sum of both, and at most `after` when the encoder
     * timestamps a trap at the time it occurs. */
    ntr_histogram before, after;
} ntr_interrupt;

typedef struct ntr_interrupts ntr_interrupts;

/* Makes an object. `functions` must outlive it. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_interrupts_new(ntr_functions *functions, const ntr_allocator *allocator, ntr_interrupts **out);
NTR_API void ntr_interrupts_free(ntr_interrupts *interrupts);

/* Processes `count` events in stream order. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_interrupts_feed(ntr_interrupts *interrupts, const ntr_event *events, size_t count);

/* Closes open handlers. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_interrupts_finish(ntr_interrupts *interrupts);

/* Returns the handlers, sorted by source, kind of trap and address, and stores their number in *count. Call it after
 * ntr_interrupts_finish. */
NTR_API const ntr_interrupt *const *ntr_interrupts_list(const ntr_interrupts *interrupts, size_t *count);

/* Returns the number of entries of handlers beyond NTR_INTERRUPTS_MAX. */
NTR_API uint64_t ntr_interrupts_left_out(const ntr_interrupts *interrupts);

#ifdef __cplusplus
}
#endif
#endif
