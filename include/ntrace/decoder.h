/* Decoder: turns N-Trace bytes and the program's code into executed code. N-Trace 1.0 section 14.
 *
 *     ntr_decoder_config config;
 *     ntr_decoder_config_init(&config);
 *     config.program = program;
 *     ntr_decoder *decoder;
 *     status = ntr_decoder_new(&config, &decoder);
 *     ntr_decoder_feed(decoder, data, size, true);
 *     do {
 *         status = ntr_decoder_read(decoder, events, 256, &count);
 *         ... events[0] to events[count - 1]
 *     } while (status == NTR_OK);
 *
 * The stream may have any number of sources (SRC); each has its own state. The decoder does not stop at damaged input:
 * what cannot be reconstructed is reported as one NTR_EVENT_GAP, and decoding resumes at the next place where the state
 * is known.
 *
 * Threads: one thread at a time for each decoder. Decoders may share one program that no thread changes. */
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
    bool one_source;            /* decode only the messages of `source` */
    uint16_t source;
    bool strict;                /* stop at the first defect, with its status */
    bool mid_stream;            /* the stream starts inside a message (wrapped buffer): skip to the first message */

    /* Called every few milliseconds while the decoder works, also inside of one message, which can stand for any number
     * of instructions. Returns false to stop: ntr_decoder_read and ntr_decoder_count then return NTR_E_STOPPED, and go
     * on where they have stopped when they are called again. A parallel decoder calls it in all of its threads. May be
     * NULL. */
    bool (*proceed)(void *user);
    void *proceed_user;
} ntr_decoder_config;

static inline void ntr_decoder_config_init(ntr_decoder_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    ntr_params_init(&config->params, NULL);
}

/* Makes a decoder. The config is copied. Errors: NTR_E_MEMORY, NTR_E_INVALID, NTR_E_RANGE. */
NTR_API ntr_status ntr_decoder_new(const ntr_decoder_config *config, ntr_decoder **out);
NTR_API void ntr_decoder_free(ntr_decoder *decoder);

/* Begin in the middle of a stream, at one point for each source (ntr_index_find). Call it before the first feed; then
 * feed the stream from the lowest offset of the points on. Sources without a point begin there. Errors: NTR_E_INVALID,
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_decoder_begin(ntr_decoder *decoder, const ntr_point *points, size_t count);

/* Give the next bytes of the stream. The bytes before must have been read to NTR_NEED_MORE. The memory stays the
 * caller's and must not change until then. `last`: the stream ends with these bytes (`size` may be 0). Errors:
 * NTR_E_STATE. */
NTR_API ntr_status ntr_decoder_feed(ntr_decoder *decoder, const uint8_t *data, size_t size, bool last);

/* Fill at most `capacity` events; *count is the number filled. Returns NTR_OK: call again; NTR_NEED_MORE: feed more
 * bytes; NTR_END: the stream has ended. Events may have been filled in each case. Errors: NTR_E_MEMORY; NTR_E_STOPPED;
 * with `strict` the status of the first defect, after the events before it. */
NTR_API ntr_status ntr_decoder_read(ntr_decoder *decoder, ntr_event *events, size_t capacity, size_t *count);

/* Maximum size of the text of ntr_decoder_error and ntr_parallel_error, including the terminating 0. */
#define NTR_DECODER_ERROR_SIZE 240

/* Returns a sentence that says why the decoder stopped. With `strict` it names the message, its byte offset and
 * source, the field, and the last known address: "message 7 at byte 31 (DirectBranch of source 2): I-CNT ends inside
 * an instruction; execution is known up to address 0x80000104". "" while nothing has failed. Valid until
 * ntr_decoder_free. */
NTR_API const char *ntr_decoder_error(const ntr_decoder *decoder);

/* Writes the state in which the decoder continues, as a line of text: NTR_DECODER_STATE_SIZE bytes are enough. It must
 * have returned NTR_NEED_MORE. Two decoders of one stream with the same text at the same place return the same events
 * from there on. Returns the length of the text. */
#define NTR_DECODER_STATE_SIZE 480
NTR_API size_t ntr_decoder_state(const ntr_decoder *decoder, char *text, size_t size);

/* Totals of counting decode. `doubtful` counts messages that are accepted although damage is the likely reason
 * (ntr_event_is_doubtful). */
typedef struct ntr_counts {
    uint64_t instructions, halfwords, spans, branches, taken, calls, returns, exceptions, interrupts, gaps, messages,
        bytes, doubtful;
    uint64_t room[6]; /* must be 0; for later members */
} ntr_counts;

/* Decode the bytes that were fed without making events, and add to *counts (zero it before the first call). Faster than
 * ntr_decoder_read. Returns and errors: as ntr_decoder_read, never NTR_OK. */
NTR_API ntr_status ntr_decoder_count(ntr_decoder *decoder, ntr_counts *counts);

/* Receives executed spans during counting decode. Each span that ntr_decoder_read would return is reported once or
 * several times; the sum of `times` is its number of executions. Spans come in no defined order, and without message,
 * offset and time; of the flags only NTR_EVENT_TARGET_UNKNOWN and NTR_EVENT_ADDRESS_UNKNOWN are set. Every other event
 * is reported once, in order. A return value other than NTR_OK ends decoding with that status. */
typedef ntr_status ntr_count_callback(void *user, const ntr_event *event, uint64_t times);

/* Set the function that ntr_decoder_count calls. Set it before the first feed. Spans are collected and reported later:
 * all of them by the end of the stream, or earlier by ntr_decoder_flush_counts (errors: as the callback). */
NTR_API void ntr_decoder_set_count_callback(ntr_decoder *decoder, ntr_count_callback *callback, void *user);
NTR_API ntr_status ntr_decoder_flush_counts(ntr_decoder *decoder);

/* Returns whether all `count` addresses, as `context` sees them at stream offset `position`, are in one function. */
typedef bool ntr_same_function(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                               size_t count);

/* End a span, with NTR_SPAN_CUT, where linear code runs into another function, as `same` divides the code: for
 * consumers that follow functions. `same` is called once or a few times for each basic block. Set it before the first
 * feed. */
NTR_API void ntr_decoder_set_division(ntr_decoder *decoder, ntr_same_function *same, void *user);

/* Join spans, for consumers that need calls, returns and the number of instructions between them, such as call trees.
 * ntr_decoder_read then leaves out spans that end with a branch or a direct jump inside of a function, as `same`
 * divides the code into functions; their instructions are added to the next span of the source, which can thus have
 * more instructions than its halfwords hold. Spans are also divided (ntr_decoder_set_division). Streams with
 * timestamps are not joined. A count callback, if one is set, receives all spans, as in counting decode. Set it before
 * the first feed. */
NTR_API void ntr_decoder_set_join(ntr_decoder *decoder, ntr_same_function *same, void *user);

/* Return loops once, for consumers that count. When a message, or several, repeat the same spans without end, such as a
 * branch to itself, ntr_decoder_read then returns one pass of the loop whose spans have `repeats` above 0: all of them,
 * in their order, were executed 1 + `repeats` times. Spans before and after the pass also belong to the loop, and have
 * `repeats` 0. Without it, each execution is a span. A loop with calls is returned in this way only if it is repeated
 * 4,096 times or more. In a count callback `repeats` has no meaning. Set it before the first feed. */
NTR_API void ntr_decoder_set_repeats(ntr_decoder *decoder, bool repeats);

/* Return the spans of these modes that may switch interrupts or preemption, one by one: those whose code writes sstatus
 * or mstatus, or stores a word relative to tp. Bit I is that of privilege I (0 U, 1 S, 3 M). Other code of these modes
 * is returned when it is executed first and directly after a trap. Spans of guests and those without a known privilege
 * are joined, and repeated. Set it before the first feed. */
NTR_API void ntr_decoder_set_join_except(ntr_decoder *decoder, unsigned modes);

#ifdef __cplusplus
}
#endif
#endif
