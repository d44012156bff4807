/* Explore: questions about an execution, from a whole boot down to one instruction, asked and answered as JSON.
 *
 * An explorer holds a replay (replay.h) and an index of the whole trace in bounded memory. A question names what is on
 * a screen; its answer is about as large as a screen, exact, and bounded in time. While the index is not complete,
 * answers say up to which position they hold ("complete": false). docs/explore.md lists the questions, and
 * docs/schemas/explore.schema.json describes the answers.
 *
 * The unit of positions is an instruction, of all harts, in the order of the replay.
 *
 *     ntr_explorer *explorer;
 *     status = ntr_explorer_new(&config, &explorer);
 *     while (ntr_explorer_work(explorer) == NTR_END) ...           // makes the index, in small steps
 *     ntr_explorer_ask(explorer, question, strlen(question), &answer);
 *
 * An explorer has no sockets, files and threads of its own. Objects are not thread-safe. */
#ifndef NTRACE_EXPLORE_H
#define NTRACE_EXPLORE_H

#include <ntrace/callstack.h>
#include <ntrace/config.h>
#include <ntrace/decoder.h>
#include <ntrace/export.h>
#include <ntrace/stream_reader.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTR_EXPLORE_SCHEMA "ntrace-explore-1" /* member "schema" of each answer */

typedef struct ntr_explorer ntr_explorer;

/* The strings and objects must outlive the explorer. */
typedef struct ntr_explorer_config {
    size_t size;                       /* sizeof(ntr_explorer_config) */
    const ntr_decoder_config *decoder; /* copied */
    ntr_debug_info *debug;
    ntr_functions *functions;
    const ntr_allocator *allocator; /* copied; may be NULL */

    /* Makes a new reader at the beginning of the stream, as ntr_stream_reader_new. It is called whenever an earlier
     * part must be read again. */
    ntr_status (*open)(void *user, ntr_stream_reader **out);

    /* Called regularly. Returns false to interrupt the question or the work, for example because it takes too long: the
     * answer then says that it is not complete. May be NULL. */
    bool (*proceed)(void *user);

    /* Stores the text of a source file that debug information names, valid until the next call. Returns false when it
     * is not available. May be NULL. */
    bool (*source)(void *user, const char *file, ntr_bytes *text);

    /* Returns the text of an instruction, valid until the next call; "" when it is not known. `isa` is a set of
     * NTR_ISA_*. May be NULL. */
    const char *(*disassemble)(void *user, const uint8_t *bytes, size_t size, unsigned isa);

    void *user; /* first argument of these functions */

    const char *title; /* name of the trace */
    uint64_t stream_size; /* bytes of the stream, for the progress; 0: not known */
    uint64_t ticks_per_second; /* of event times; 0: not known */
    const char *const *losses; /* what is missing from the trace, a sentence each */
    size_t loss_count;
    const struct ntr_fact *facts; /* origin of the trace (export.h) */
    size_t fact_count;
    bool by_time; /* the timestamps of all sources are from one clock: as for a replay */

    /* Returns the name of a source (a thread, an encoder), valid as long as the explorer; NULL: it has none. May be
     * NULL. */
    const char *(*source_name)(void *user, uint16_t src);
} ntr_explorer_config;

NTR_DEFINE_CONFIG_INIT(ntr_explorer_config)

/* Makes an explorer. Errors: as ntr_replay_new. */
NTR_LAB_API ntr_status ntr_explorer_new(const ntr_explorer_config *config, ntr_explorer **out);
NTR_LAB_API void ntr_explorer_free(ntr_explorer *explorer);

/* Makes some more of the index: a few milliseconds. Returns NTR_OK when the index is complete; NTR_END when there is
 * more to do, or when interrupted. Errors: NTR_E_MEMORY, those of ntr_explorer_config.open. */
NTR_LAB_API ntr_status ntr_explorer_work(ntr_explorer *explorer);

/* How much of the index is made. */
typedef struct ntr_explore_progress {
    uint64_t bytes; /* of the stream that were read */
    uint64_t known; /* instructions in them; the total when `read`, or with an index that was loaded */
    uint64_t indexed; /* instructions that are indexed */
    bool read; /* the whole stream */
    bool complete; /* read and indexed */
} ntr_explore_progress;
NTR_LAB_API ntr_explore_progress ntr_explorer_progress(const ntr_explorer *explorer);

/* Returns the number of gaps in what is indexed, and stores the first one, if there is one. `first` may be NULL. */
NTR_LAB_API uint64_t ntr_explorer_gaps(const ntr_explorer *explorer, ntr_event *first);

/* ---- The index as a file, for the next start. It holds for the same stream, program, debug information and
 * configuration only; `key`, at most 64 bytes, stands for these, and for the version of the library. */

/* Writes the index. Errors: NTR_E_STATE (it is not complete, or the stream is damaged), NTR_E_INVALID (the key),
 * NTR_E_MEMORY, those of `output`. */
NTR_LAB_API ntr_status ntr_explorer_save(const ntr_explorer *explorer, ntr_bytes key, const ntr_output *output);

/* Takes the index from such a file, of which nothing is kept. Must be the first call for the explorer. The next calls
 * of ntr_explorer_work read the trace, and drop the index if the trace has other instructions. Returns NTR_OK; NTR_END
 * when the file has another key, or functions that have other names now: the index is made anew. Errors: NTR_E_FORMAT
 * (the file is damaged; the index is made anew), NTR_E_STATE, NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_explorer_load(ntr_explorer *explorer, ntr_bytes key, ntr_bytes file);

/* Answers a question: a JSON object with the member "query" and its arguments. Stores the answer, one JSON object in
 * UTF-8, valid until the next call. A question that cannot be answered also has an answer: its member "error" is a
 * sentence. Returns NTR_OK; NTR_E_INVALID with such an answer. Errors without an answer: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_explorer_ask(ntr_explorer *explorer, const char *question, size_t size, ntr_bytes *answer);

#ifdef __cplusplus
}
#endif
#endif
