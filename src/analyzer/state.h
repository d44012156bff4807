/* State of an analyzer: the ways through it, and the consumers of events (consume.c). */
#ifndef NTR_ANALYZER_STATE_H
#define NTR_ANALYZER_STATE_H

#include <ntrace/analyzer.h>

#include <stdatomic.h>

struct ntr_analyzer {
    ntr_analyzer_config config;
    ntr_decoder_config stream;
    ntr_decoder *decoder; /* of one thread */
    uint8_t *piece;       /* of the stream */
    ntr_event *events;    /* that were decoded: too large for the stack of a thread */
    ntr_analysis *analysis; /* config.analysis */
    ntr_counts own_totals, *totals;

    /* The way, as wanted: */
    bool counting; /* the counting decode is sufficient */
    bool joins;    /* spans may be joined */
    bool repeated; /* spans have repetitions */
    bool trees;    /* threads, if there are several, count call trees */
    bool joined;   /* the decoder joins spans: the tally gets them from its count callback; */
    ntr_functions *places; /* the division of the code into functions, by which spans are divided */

    uint64_t bytes; /* of the stream that were read */
    bool any;    /* there was an event */
    bool begun;  /* by hand: the part has begun */
    bool behind; /* all further events are behind the window */
    atomic_bool stopped; /* `stop` said so */
};

/* ---- consume.c: the consumers. Errors: NTR_E_MEMORY, and those of `take`. */

/* Events in stream order. */
ntr_status ntr_analyzer_consume(ntr_analyzer *a, const ntr_event *events, size_t count);

/* The same of events that are not spans, without the call tree, which has counted them. */
ntr_status ntr_analyzer_others(ntr_analyzer *a, const ntr_event *events, size_t count);

/* A count callback (`user`: the analyzer): `event` occurred `times` times. */
ntr_status ntr_analyzer_count(void *user, const ntr_event *event, uint64_t times);

/* Reads the next bytes of the stream, as ntr_analyzer_config.read, and says how many there were so far. */
ntr_status ntr_analyzer_read(ntr_analyzer *a, uint8_t *to, size_t capacity, size_t *got, bool *last);

static inline bool ntr_analyzer_stopped(ntr_analyzer *a) {
    if (!a->config.stop || !a->config.stop(a->config.user)) return false;
    atomic_store(&a->stopped, true);
    return true;
}

/* ---- divide.c */

/* Returns whether spans end where functions change. */
bool ntr_analyzer_divides(const ntr_analyzer *a);

/* Lets the decoder divide spans. Errors: NTR_E_MEMORY. */
ntr_status ntr_analyzer_divide(ntr_analyzer *a);

/* ---- threads.c */

/* Decodes the whole stream with several threads. Returns as ntr_parallel_run. */
ntr_status ntr_analyzer_parallel(ntr_analyzer *a, unsigned threads);

#endif
