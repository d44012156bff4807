/* Reading the messages of all fragments, with the time of each. */
#ifndef NTR_PERF_SCAN_H
#define NTR_PERF_SCAN_H

#include "perf/state.h"

#include <ntrace/reader.h>

struct ntr_perf_scan {
    struct ntr_perf_data *data;
    const ntr_params *params, *out; /* of the trace, and of the stream that is written */
    struct ntr_perf_buffer *buffer;
    uint32_t number; /* of the buffer */
    size_t fragment; /* the next one */
    ntr_reader reader;
    ntr_clock *clocks; /* by SRC */
    uint64_t *process; /* the last PROCESS, by SRC */
    uint64_t *space;   /* of the process that runs, by SRC: contexts_are_threads */
    size_t *span;      /* of the buffer's last message, plus 1, by SRC */
    bool *at_sync;     /* by SRC: nothing but Ownership messages came after a synchronizing one, or after a loss */
    bool *known;       /* SRC seen in the buffer, */
    uint16_t *seen;    /* and their list */
    unsigned seen_count;
    /* of the last message */
    unsigned source;
    bool is_new, timed; /* first of its source in the buffer; `ticks` is its time */
    uint64_t ticks;
    bool lost; /* something is missing before the fragment */
    /* of the writer: pieces.c */
    uint32_t pid, generation;
    uint64_t time, cut;
};

/* Errors: NTR_E_MEMORY, those of ntr_params_check. Release it in any case. */
ntr_status ntr_perf_scan_new(struct ntr_perf_scan *s, struct ntr_perf_data *data, const ntr_params *params);
void ntr_perf_scan_release(struct ntr_perf_scan *s);

void ntr_perf_scan_buffer(struct ntr_perf_scan *s, size_t number);

/* The next fragment of the buffer; NULL: there is none. */
struct ntr_perf_fragment *ntr_perf_scan_fragment(struct ntr_perf_scan *s);

/* The next message of the fragment. A message that is continued in the next fragment belongs to that. */
bool ntr_perf_scan_message(struct ntr_perf_scan *s, ntr_message *message);

/* sources.c: notes when the last message came. Errors: NTR_E_MEMORY. */
ntr_status ntr_perf_span_note(struct ntr_perf_scan *s, const struct ntr_perf_fragment *fragment);

#endif
