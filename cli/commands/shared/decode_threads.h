/* Decoding with several threads for `ntrace decode`. Worker threads convert spans to text, as far as each span can be
 * printed independently of the others. Everything else is delivered to `events` in stream order. */
#ifndef CLI_COMMANDS_SHARED_DECODE_THREADS_H
#define CLI_COMMANDS_SHARED_DECODE_THREADS_H

#include "text/decode_output.h"
#include "io/trace.h"

#include <ntrace/chunk_output.h>

/* Text of --jobs. */
#define CLI_JOBS_HELP                                                                                                  \
    "decode with N threads (default: one per processor if that is faster: a large file with regular synchronizing "    \
    "messages, and an output that does not need the order of events; otherwise 1)"

struct cli_threads {
    const struct cli_decode_settings *settings;
    enum cli_span_place spans;
    bool all_spans; /* with CLI_SPANS_IN_ORDER: also those that the output does not need */
    struct cli_trace *trace;
    struct cli_output *out;                            /* receives the text */
    void (*events)(void *user, const ntr_event *events, size_t count); /* in stream order; receives spans only if
                                                                          `spans` is CLI_SPANS_IN_ORDER */
    void *user;
    uint64_t missing; /* result: number of spans without code in any image */
    ntr_parallel_stats stats; /* result */
    char error[NTR_DECODER_ERROR_SIZE]; /* result: ntr_parallel_error */
};

/* Decodes the whole trace with `jobs` threads. Returns NTR_END, or NTR_NEED_MORE when reading the input failed (already
 * reported), or an error of ntr_parallel_new or ntr_parallel_feed. */
ntr_status cli_threads_read(struct cli_threads *threads, const ntr_decoder_config *config, unsigned jobs);

/* As cli_threads_read, but only counts: *counts receives the totals. `settings`, `spans` and `events` are not used. */
ntr_status cli_threads_count(struct cli_threads *threads, const ntr_decoder_config *config, unsigned jobs,
                             ntr_counts *counts);

/* What several threads can share of the work. */
enum cli_gain {
    CLI_GAIN_NONE, /* the larger part is done in stream order by one thread */
    CLI_GAIN_SOME, /* the threads have more to do in all than one thread: from three processors on */
    CLI_GAIN_ALL, /* nearly all */
};

/* Returns the number of threads to use. `requested` is the number given by the user; 0: one per processor, or one
 * thread when more would not gain: for small files, streams without regular synchronizing messages, and work that
 * threads cannot share. Call it before the first message. */
unsigned cli_threads_number(struct cli_trace *trace, int64_t requested, enum cli_gain gain);

/* Prints a note with the reason if at least half of the chunks had to be decoded serially. */
void cli_threads_report(const struct cli_threads *threads);

#endif
