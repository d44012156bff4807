/* Analyzer: one run over a trace that fills what an ntr_analysis wants (counts of code, call trees, totals), gives the
 * events to a callback, or both. The result does not depend on the number of threads.
 *
 * How: counts alone need no order of events, calls alone no spans within a function. The analyzer takes the cheapest
 * way that gives what is wanted: the counting decode, joined spans, or all events. Several threads decode chunks, count
 * them, and make their call trees; what they put is delivered in the order of the stream.
 *
 *   ntr_analyzer_config_init(&config);
 *   config.decoder = &decoder_config;       // with the program and the parameters of the stream
 *   config.analysis = &analysis;            // with debug, functions, and the tally and the tree that are wanted
 *   config.read = read_stream;
 *   config.user = file;
 *   ntr_analyzer *analyzer;
 *   status = ntr_analyzer_new(&config, &analyzer);
 *   if (status == NTR_OK) status = ntr_analyzer_run(analyzer, 2);
 *   ntr_analyzer_free(analyzer);
 *   ntr_calltree_finish(analysis.tree);
 *
 * examples/profile.c is a whole program. */
#ifndef NTRACE_ANALYZER_H
#define NTRACE_ANALYZER_H

#include <ntrace/decoder.h>
#include <ntrace/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_analyzer ntr_analyzer;

/* What `take` needs of events, as a set. */
enum {
    NTR_TAKE_ALL = 0,
    NTR_TAKE_JOINED = 1 << 0,  /* calls and returns only: spans may be joined (ntr_decoder_set_join) */
    NTR_TAKE_REPEATS = 1 << 1, /* it knows the repetitions of spans (ntr_decoder_set_repeats) */
    NTR_TAKE_WHOLE = 1 << 2,   /* no functions: spans are not divided (ntr_decoder_set_division) */
};

/* Where an event is, as `within` says. */
typedef enum ntr_within {
    NTR_WITHIN_OUTSIDE, /* it is not taken */
    NTR_WITHIN_INSIDE,
    NTR_WITHIN_BEHIND, /* no further event is taken: decoding ends */
} ntr_within;

typedef struct ntr_analyzer_config {
    size_t size; /* sizeof(ntr_analyzer_config) */
    const ntr_decoder_config *decoder; /* copied; its program and allocator are used by all threads. NULL: events come
                                        * by ntr_analyzer_feed alone */
    ntr_decoder *begun; /* for one thread, a decoder with that config that begins elsewhere; NULL: from the start */

    /* Of its members `tally`, `tree` and `totals`, those that are not NULL are filled. With `totals`, nothing else is.
     * `debug` and `functions` are needed for spans that are joined. The tree is not finished. */
    ntr_analysis *analysis;

    /* Gets all events in order; returns a status. NULL: none are wanted. `needs`: NTR_TAKE_*. */
    ntr_status (*take)(void *user, const ntr_event *events, size_t count);
    void *take_user;
    unsigned needs;
    unsigned join_except; /* ntr_decoder_set_join_except */
    const ntr_export *follower; /* the user of `take` is this export, which may follow the call tree; else NULL */

    /* Reads the next bytes of the stream, as in ntr_parallel_work: by one thread at a time, but by any. */
    ntr_status (*read)(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last);
    bool (*stop)(void *user); /* NULL, or asked often, by any thread: whether to end */
    void (*other)(void *user, const ntr_event *event); /* NULL, or gets each event that is not a span */
    ntr_within (*within)(void *user, const ntr_event *event); /* NULL: all events are taken. One thread decodes */
    void *user; /* of these */

    bool alone; /* the stream has one source, and no threads of an operating system: chunks can have call trees */
    bool stamped; /* its messages have timestamps */
    bool stacks_only; /* the call tree is there for the stacks that the follower looks at */
    bool by_hand; /* the caller feeds `begun`: ntr_analyzer_drain in place of ntr_analyzer_run */
    const ntr_allocator *allocator; /* NULL: malloc. Used by all threads */

    /* NULL, or gets the number of bytes of the stream that `read` has returned so far, each time they are more. Called
     * like `read`: by one thread at a time, but by any. */
    void (*progress)(void *user, uint64_t bytes);
} ntr_analyzer_config;

NTR_DEFINE_CONFIG_INIT(ntr_analyzer_config)

/* Makes an analyzer. What the config points to must outlive it. Errors: as ntr_decoder_new; NTR_E_INVALID without
 * `analysis`. */
NTR_API ntr_status ntr_analyzer_new(const ntr_analyzer_config *config, ntr_analyzer **out);
NTR_API void ntr_analyzer_free(ntr_analyzer *analyzer);

/* What further threads gain: nothing; something; nearly their number, as they share the larger part of the work. */
typedef enum ntr_gain { NTR_GAIN_NONE, NTR_GAIN_SOME, NTR_GAIN_ALL } ntr_gain;
NTR_API ntr_gain ntr_analyzer_gain(const ntr_analyzer *analyzer);

/* Decodes the stream that `read` returns, with so many threads; 0: as many as there are processors. Returns NTR_END at
 * its end, NTR_NEED_MORE when `read` returned it or `proceed` of the decoder config stopped it, or NTR_OK when `stop`
 * did or at the end of the window. Errors: as ntr_decoder_read, ntr_parallel_run, and those of the callbacks. */
NTR_API ntr_status ntr_analyzer_run(ntr_analyzer *analyzer, unsigned threads);

/* Takes what `begun` has after it was fed, for a part of a stream. Before ntr_analyzer_begin, `take` gets nothing; it
 * forgets what was counted. ntr_analyzer_finish is called last. Return NTR_NEED_MORE, or NTR_END at the end of the
 * stream. Errors: as ntr_decoder_read, and those of `take`. */
NTR_API ntr_status ntr_analyzer_drain(ntr_analyzer *analyzer);
NTR_API ntr_status ntr_analyzer_begin(ntr_analyzer *analyzer);
NTR_API ntr_status ntr_analyzer_finish(ntr_analyzer *analyzer);

/* Takes events that were decoded elsewhere, in order. Errors: NTR_E_MEMORY, and those of `take`. */
NTR_API ntr_status ntr_analyzer_feed(ntr_analyzer *analyzer, const ntr_event *events, size_t count);

/* Returns whether there was any event. */
NTR_API bool ntr_analyzer_any(const ntr_analyzer *analyzer);

#ifdef __cplusplus
}
#endif
#endif
