/* Replay: a recorded execution that can be walked forward and backward.
 *
 * A replay has a position: the number of instructions, of all harts, that were executed before it. Instructions have
 * one order; a position between 0 and the total is therefore a place in the whole trace. The order is that of the
 * decoder's events; with `by_time`, instructions of several harts are in the order of time if their messages are
 * close together in the stream. Each hart has its own state at a position: its next instruction, and its call stack.
 *
 * The trace is read once, up to the place that a request needs. This pass makes an index: at distances of some 256 KiB
 * of the stream, a point at which decoding can begin, with the call stacks there and the set of blocks executed up to
 * the next point. Searches read these sets and decode only the part that has a hit. Three decoded parts are kept.
 *
 *     ntr_replay *replay;
 *     status = ntr_replay_new(&config, &replay);
 *     ntr_replay_search search = {.addresses = &main_address, .count = 1};
 *     ntr_replay_find(replay, &search, &stop);          // forward to the first execution of main
 *     ntr_replay_hart_at(replay, stop.src, &hart);      // hart.address == main_address
 *
 * Objects are not thread-safe. */
#ifndef NTRACE_REPLAY_H
#define NTRACE_REPLAY_H

#include <ntrace/callstack.h>
#include <ntrace/config.h>
#include <ntrace/decoder.h>
#include <ntrace/index.h>
#include <ntrace/stream_reader.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_replay ntr_replay;

typedef struct ntr_replay_config {
    size_t size;                       /* sizeof(ntr_replay_config) */
    const ntr_decoder_config *decoder; /* copied; its program must outlive the replay */
    ntr_functions *functions;          /* not owned; must outlive the replay */
    const ntr_allocator *allocator;    /* copied; may be NULL */

    /* Makes a new reader at the beginning of the stream, as ntr_stream_reader_new. It is called whenever an earlier
     * part must be read again. */
    ntr_status (*open)(void *user, ntr_stream_reader **out);

    /* Called regularly while the trace is read, with the number of bytes of the stream read so far. Returns false to
     * interrupt. May be NULL. */
    bool (*proceed)(void *user, uint64_t done);
    void *user; /* first argument of both */

    /* The timestamps of all sources are from one clock: inside each decoded part (about 256 KiB of the stream), spans
     * are in the order of time. */
    bool by_time;
} ntr_replay_config;

NTR_DEFINE_CONFIG_INIT(ntr_replay_config)

/* Makes a replay at position 0. Errors: as ntr_decoder_new, those of `open`, NTR_E_INVALID (a member is missing). */
NTR_API ntr_status ntr_replay_new(const ntr_replay_config *config, ntr_replay **out);
NTR_API void ntr_replay_free(ntr_replay *replay);

/* Returns a sentence on why reading the stream ended early (damaged compression, an error of reading), or "". */
NTR_API const char *ntr_replay_error(const ntr_replay *replay);

/* ---- the position */

NTR_API uint64_t ntr_replay_position(const ntr_replay *replay);

/* Go to a position; one past the end is the end. Returns NTR_END when interrupted. Errors: NTR_E_MEMORY, those of
 * ntr_replay_config.open. */
NTR_API ntr_status ntr_replay_go(ntr_replay *replay, uint64_t position);

/* Stores the number of instructions of the whole trace. Reads the rest of the trace. Returns and errors: as
 * ntr_replay_go. */
NTR_API ntr_status ntr_replay_total(ntr_replay *replay, uint64_t *total);

/* Stores the number of instructions read so far; *complete: those are all. */
NTR_API uint64_t ntr_replay_known(const ntr_replay *replay, bool *complete);

/* Stores the position of the first instruction that a message at or after a place reports: message number, byte offset
 * or time. The end, when there is none. Returns and errors: as ntr_replay_go. */
NTR_API ntr_status ntr_replay_place(ntr_replay *replay, ntr_unit unit, uint64_t place, uint64_t *position);

/* Stores the position of instruction `number` (from 0) of a hart; the end, when it has less. Returns and errors: as
 * ntr_replay_go. */
NTR_API ntr_status ntr_replay_place_in_hart(ntr_replay *replay, uint16_t src, uint64_t number, uint64_t *position);

/* Stores the gap directly before the position. *found: false, there is none. Returns and errors: as ntr_replay_go. */
NTR_API ntr_status ntr_replay_gap(ntr_replay *replay, ntr_event *gap, bool *found);

/* ---- harts */

/* Returns the sources seen so far, in the order of their first instruction, and their number. Valid until the next call
 * that reads the trace. At least one once anything was executed. */
NTR_API const uint16_t *ntr_replay_harts(const ntr_replay *replay, size_t *count);

/* Returns how many instructions a hart has executed in the part that is read. */
NTR_API uint64_t ntr_replay_executed(const ntr_replay *replay, uint16_t src);

/* The state of a hart at the position of the replay. */
typedef struct ntr_replay_hart {
    uint64_t address; /* of its next instruction; at its end, of where it stopped */
    bool address_known;
    bool ended; /* it executes nothing any more in the part that is read */
    bool timed; /* `time` is known */
    uint64_t number; /* instructions it has executed */
    uint64_t message, offset, time; /* of the message that reports its next instruction, at its end the last one */
    ntr_context context;
    uint32_t frame; /* its innermost frame: ntr_replay_frame; 0: none */
    uint64_t reserved[4];
} ntr_replay_hart;

/* Errors: NTR_E_INVALID (there is no such hart), NTR_E_MEMORY, those of ntr_replay_config.open. */
NTR_API ntr_status ntr_replay_hart_at(ntr_replay *replay, uint16_t src, ntr_replay_hart *hart);

/* Stores the address of the instruction that a hart executes after its next one. Returns NTR_END when there is none.
 * Errors: as ntr_replay_hart_at. */
NTR_API ntr_status ntr_replay_successor(ntr_replay *replay, uint16_t src, uint64_t *address);

/* Returns the source of the instruction at the position; at the end, of the last instruction. */
NTR_API uint16_t ntr_replay_current(ntr_replay *replay);

/* Stores a frame and the number of the frame that called it (0: not known). Valid until the position changes. Returns
 * false when there is no such frame. */
NTR_API bool ntr_replay_frame(const ntr_replay *replay, uint32_t number, ntr_stack_frame *frame, uint32_t *caller);

/* Stores the position of the last instruction that a hart executed before its innermost frame was entered: the call, or
 * the instruction before a trap. *found: false, its caller is not known. The instructions in between are walked over:
 * meant for the handlers of traps. Returns and errors: as ntr_replay_hart_at; NTR_END when interrupted. */
NTR_API ntr_status ntr_replay_entered(ntr_replay *replay, uint16_t src, uint64_t *position, bool *found);

/* Stores the position of the first instruction, from the position on, that a hart executes in a stack of at most so
 * many frames. *found: false, there is none. The instructions in between are walked over. Returns and errors: as
 * ntr_replay_entered. */
NTR_API ntr_status ntr_replay_left(ntr_replay *replay, uint16_t src, size_t frames, uint64_t *position, bool *found);

/* ---- moving */

typedef enum ntr_replay_reason {
    NTR_REPLAY_HIT = 0, /* before an instruction at one of the addresses */
    NTR_REPLAY_GAP, /* the first instruction after a gap */
    NTR_REPLAY_BEGIN, /* the beginning of the trace */
    NTR_REPLAY_AT_END, /* its end */
    NTR_REPLAY_LIMIT, /* `until` was reached */
    NTR_REPLAY_INTERRUPTED, /* `proceed` returned false */
} ntr_replay_reason;

typedef struct ntr_replay_stop {
    uint8_t reason; /* ntr_replay_reason */
    uint16_t src; /* HIT: the hart; GAP: of the gap */
    bool has_gap;
    ntr_event gap; /* the gap directly before the position, if `has_gap`; AT_END: the gap with which the trace ends */
} ntr_replay_stop;

typedef struct ntr_replay_search {
    const uint64_t *addresses; /* sorted; addresses of instructions */
    size_t count;
    bool backward;
    bool gaps; /* also stop after gaps */
    bool one_hart; /* only instructions of `src` count */
    bool has_until; /* do not go beyond the position `until` */
    bool skip; /* the instruction at the position `skipped` does not count */
    uint16_t src;
    uint64_t skipped, until;
} ntr_replay_search;

/* Goes to the next or the previous execution of one of the addresses. Forward, the instruction at the position counts
 * (see `skip`); backward, those before it. Errors: NTR_E_MEMORY, those of ntr_replay_config.open. */
NTR_API ntr_status ntr_replay_find(ntr_replay *replay, const ntr_replay_search *search, ntr_replay_stop *stop);

/* The addresses of the next searches and counts are those of a function with this name, in one of the forms of
 * ntr_find_functions: where other code is at its address, at another time or in another process, that does not count.
 * NULL: every execution of the addresses counts. The name must live until the next call. */
NTR_API void ntr_replay_set_function(ntr_replay *replay, const char *name);

/* A step of one hart. The other harts execute what the order says; one of them may stop first at one of the
 * addresses. */
typedef struct ntr_replay_step {
    uint16_t src;
    bool gaps; /* also stop after gaps */
    bool alone; /* the addresses are for this hart only */
    uint64_t low, high; /* go on while the next instruction is in [low, high); both 0: one instruction */
    const uint64_t *addresses; /* sorted: stop before an instruction at one of them, but for the first */
    size_t count;
} ntr_replay_step;

/* Executes the next instruction of the hart, and those after it inside of the range. The reason of the stop is HIT,
 * GAP, AT_END, INTERRUPTED, or LIMIT when the step is done. Errors: as ntr_replay_find. */
NTR_API ntr_status ntr_replay_go_step(ntr_replay *replay, const ntr_replay_step *step, ntr_replay_stop *stop);

/* Stores the position of the next instruction of a hart at or after the position of the replay, or of the last one
 * before it. *found: false, there is none. Returns and errors: as ntr_replay_go. */
NTR_API ntr_status ntr_replay_neighbour(ntr_replay *replay, uint16_t src, bool backward, uint64_t *position,
                                        bool *found);

/* How often one of the addresses was executed in the whole trace, and the positions of the first and the last time.
 * Returns and errors: as ntr_replay_go. */
typedef struct ntr_replay_hits {
    uint64_t times, first, last;
} ntr_replay_hits;
NTR_API ntr_status ntr_replay_count(ntr_replay *replay, uint64_t address, ntr_replay_hits *hits);

#ifdef __cplusplus
}
#endif
#endif
