/* Decoding with many threads: spans become text in the threads, everything else is handed on in order. */
#ifndef CLI_COMMANDS_DECODE_THREADS_H
#define CLI_COMMANDS_DECODE_THREADS_H

#include "text/decode_output.h"
#include "io/trace.h"

#include <ntrace/parallel.h>

struct cli_threads {
    const struct cli_decode_settings *settings;
    enum cli_span_place spans;
    struct cli_trace *trace;
    struct cli_output *out;                            /* where text goes */
    void (*event)(void *user, const ntr_event *event); /* in order; spans only where they must be */
    void *user;
    uint64_t missing; /* spans whose code could not be read again */
    ntr_parallel_stats stats;
};

/* Read the whole trace. Errors: as ntr_parallel_new and _feed; NTR_NEED_MORE: the input failed (told). */
ntr_status cli_threads_read(struct cli_threads *threads, const ntr_decoder_config *config, unsigned jobs);

/* The totals alone. */
ntr_status cli_threads_count(struct cli_threads *threads, const ntr_decoder_config *config, unsigned jobs,
                             ntr_counts *counts);

/* How many threads to use when `asked` (0: as many as there are processors): one where more are not worth it. */
unsigned cli_threads_number(const struct cli_trace *trace, int64_t asked);

/* When the user asked for many threads and one did most: say why. */
void cli_threads_report(const struct cli_threads *threads);

#endif
