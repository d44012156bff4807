/* Decoder: N-Trace bytes and the program's image in, execution out. N-Trace 1.0 section 14.
 *
 * Pull interface: feed bytes, read events. Any number of sources (SRC); each has its own state. The
 * decoder never stops at bad input: what cannot be known is one NTR_EVENT_GAP, and decoding goes on at
 * the next place the stream allows. */
#ifndef NTRACE_DECODER_H
#define NTRACE_DECODER_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/event.h>
#include <ntrace/index.h>
#include <ntrace/params.h>
#include <ntrace/program.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_decoder ntr_decoder;

typedef struct ntr_decoder_config {
    size_t size; /* sizeof(ntr_decoder_config) */
    ntr_params params;
    const ntr_program *program; /* not owned; must outlive the decoder */
    const ntr_allocator *allocator;
    bool one_source;            /* decode only the source `source` */
    uint16_t source;
    bool strict;                /* stop at the first defect */
    bool mid_stream;            /* the stream starts in the middle of a message (wrapped buffer) */
} ntr_decoder_config;

static inline void ntr_decoder_config_init(ntr_decoder_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    ntr_params_init(&config->params, NULL);
}

/* Errors (*status, may be NULL): NTR_E_MEMORY, NTR_E_INVALID, NTR_E_RANGE. */
NTR_API ntr_decoder *ntr_decoder_new(const ntr_decoder_config *config, ntr_status *status);
NTR_API void ntr_decoder_free(ntr_decoder *decoder);

/* Before anything is fed: begin at these points (ntr_index_find), one a source; what is fed is then the stream from the
 * least of their offsets on. Sources without a point are told from there on. Errors: NTR_E_INVALID, NTR_E_MEMORY. */
NTR_API ntr_status ntr_decoder_begin(ntr_decoder *decoder, const ntr_point *points, size_t count);

/* Give the next span of the stream; the one before must have been read to NTR_NEED_MORE. The bytes stay
 * the caller's and must live until then. `last`: nothing follows. Errors: NTR_E_STATE. */
NTR_API ntr_status ntr_decoder_feed(ntr_decoder *decoder, const uint8_t *data, size_t size, bool last);

/* Fill up to `capacity` events; *count tells how many. NTR_OK: call again. NTR_NEED_MORE: feed.
 * NTR_END: all told (events may still have been filled). Errors: NTR_E_MEMORY; with `strict` the defect,
 * after the events before it. */
NTR_API ntr_status ntr_decoder_read(ntr_decoder *decoder, ntr_event *events, size_t capacity, size_t *count);

/* Totals of the counting decode. `reserved`: messages with a reserved TCODE, which flow does not mind but which tell
 * of damage more often than of a newer encoder. */
typedef struct ntr_counts {
    uint64_t instructions, halfwords, spans, branches, taken, calls, returns, exceptions, interrupts, gaps,
        messages, bytes, reserved;
    uint64_t room[6]; /* must be 0; for later members */
} ntr_counts;

/* Decode what was fed without making events; adds to *counts. Returns NTR_NEED_MORE or NTR_END as above. */
NTR_API ntr_status ntr_decoder_count(ntr_decoder *decoder, ntr_counts *counts);

/* Receives what ran while only totals are counted. Every span that ntr_decoder_read would give comes `times` times, in
 * no order and without message, offset, time and flags except NTR_EVENT_TARGET_UNKNOWN and _ADDRESS_UNKNOWN. Every other
 * event comes once, in order. Any return value but NTR_OK ends the decoding with that status. */
typedef ntr_status ntr_count_callback(void *user, const ntr_event *event, uint64_t times);

/* Have ntr_decoder_count call `callback`; set it before the first feed. Spans are collected and reported late: all of
 * them by the end of the stream, or earlier by ntr_decoder_flush_counts (errors: those of the callback). */
NTR_API void ntr_decoder_set_count_callback(ntr_decoder *decoder, ntr_count_callback *callback, void *user);
NTR_API ntr_status ntr_decoder_flush_counts(ntr_decoder *decoder);

#ifdef __cplusplus
}
#endif
#endif
