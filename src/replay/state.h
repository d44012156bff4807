/* The private state of a replay.
 *
 * The trace is divided into *parts* of about 256 KiB of the stream. A point holds all that is needed to decode the part
 * behind it: a decoder snapshot, the call stacks, the number of instructions before it. pass.c makes the points and the
 * set of blocks of each part, by counting. window.c decodes a part again, with all spans, into a *window*: a part, or
 * for parts with very many spans a piece of one. search.c looks for addresses, first in the sets, then in windows.
 *
 * Invariant: points[i] to points[i + 1] is a part that has been read; the last point has no part yet, unless the trace
 * is complete: then it is the end. A position belongs to the part i with points[i].first <= position <
 * points[i + 1].first.
 *
 * Memory: three windows of at most NTR_WINDOW_SPANS spans, two decoders, and the points. */
#ifndef NTR_REPLAY_STATE_H
#define NTR_REPLAY_STATE_H

#include <ntrace/instructions.h>
#include <ntrace/replay.h>

#include "analysis/saved_stacks.h"
#include "analysis/trail_stacks.h"
#include "decoder/snapshot.h"
#include "replay/span_set.h"

enum {
    NTR_PART_BYTES = 256 << 10,        /* of the stream: at least so many end a part; */
    NTR_PART_INSTRUCTIONS = 2 << 20,   /* ... at least so many, too */
    NTR_PART_SLICE = 32 << 10,         /* bytes given to the decoder at once */
    NTR_READS_POLLED = 64,             /* calls of the decoder between two looks for an interrupt */
    NTR_REPLAY_EVENTS = 256,           /* taken from the decoder at once */
    NTR_WINDOWS = 3,
    NTR_WINDOW_SPANS = 1 << 17,
    NTR_WINDOW_GAPS = 1 << 12,
    NTR_LOOP_SPANS = 256,              /* at least so many are in a window of a loop */
    NTR_LOOP_LEAST = 4096,             /* spans of a loop that has windows of its own */
};

/* A hart at a point. */
typedef struct ntr_point_hart {
    uint64_t executed, address;
    bool address_known;
} ntr_point_hart;

typedef struct ntr_replay_point {
    uint64_t offset, first;   /* bytes and instructions before it */
    uint64_t message;         /* number of the last message before it */
    uint64_t time;            /* latest time before it */
    ntr_snapshot *snapshot;
    ntr_saved_stacks stacks;
    ntr_point_hart *harts;    /* in the order of ntr_replay.harts */
    size_t hart_count;
    ntr_span_set blocks;     /* of the part behind it */
    ntr_event *gap; /* the gap between the last instruction before the point and the first one behind it; NULL: none */
    bool gaps; /* that part, or the point, has gaps */
} ntr_replay_point;

/* How a part is read. */
typedef enum ntr_pass_mode {
    NTR_PASS_BETWEEN, /* no part is being read */
    NTR_PASS_COUNTS, /* by counting, with call trails */
    NTR_PASS_EVENTS, /* with joined spans: its call stacks do not follow from trails, or may not */
    NTR_PASS_AGAIN, /* it was read by counting; its call stacks did not follow from trails: again with joined spans */
} ntr_pass_mode;

/* The part that the pass reads. */
typedef struct ntr_pass_part {
    ntr_pass_mode mode;
    uint64_t most_bytes, most_instructions; /* at least so many end a part */
    uint64_t instructions, messages, without_memo; /* read; and those that counting had no memo for */
    bool irregular; /* call stacks do not follow from trails */
    unsigned failures; /* parts before it, one after the other, that had to be read again or had few memos */
    unsigned pause; /* parts to be read with joined spans before the next one by counting */
    uint8_t *bytes; /* to be read again */
    size_t size, capacity;
    bool last;
    bool ends_with_gap; /* nothing was executed after `gap` so far */
    ntr_event gap;
} ntr_pass_part;

/* A stream that is read at any place. */
typedef struct ntr_replay_stream {
    ntr_stream_reader *reader;
    uint64_t offset; /* of the bytes in `rest` */
    ntr_bytes rest;
    bool last; /* nothing follows `rest` */
} ntr_replay_stream;

/* What the messages say about spans: equal for all spans of a message. */
typedef struct ntr_span_origin {
    uint64_t offset, message, time;
    ntr_context context;
    bool timed;
} ntr_span_origin;

/* An executed span of at least one instruction. */
typedef struct ntr_window_span {
    uint64_t address;
    uint32_t first; /* instructions of the window before it */
    uint32_t instructions, halfwords;
    uint32_t frame; /* in which it executes */
    uint32_t origin;
    uint16_t src;
} ntr_window_span;

typedef struct ntr_window_gap {
    uint32_t span; /* the gap is before this span */
    ntr_event event;
} ntr_window_gap;

/* The state of a hart at the end of a window. */
typedef struct ntr_window_hart {
    uint64_t executed; /* at the beginning */
    uint64_t address; /* at the end */
    uint32_t frame, origin;
    bool address_known, has_origin;
} ntr_window_hart;

/* Numbers of frames of a window have this bit; the others are in ntr_replay.store. */
#define NTR_WINDOW_FRAME (UINT32_C(1) << 31)

typedef struct ntr_replay_window {
    bool valid;
    uint64_t used; /* for replacement: the least is the oldest */
    uint64_t first, end; /* positions */
    ntr_window_span *spans;
    size_t span_count, span_capacity;
    ntr_span_origin *origins;
    size_t origin_count, origin_capacity;
    ntr_window_gap *gaps;
    size_t gap_count, gap_capacity;
    ntr_frame_store frames;
    size_t old_frames; /* frames of the window with a lower number were not entered in it, but before */
    ntr_window_hart *harts; /* in the order of ntr_replay.harts */
    size_t hart_count, hart_capacity;
    /* The window has whole passes of a loop, and nothing else; so have all windows of equal size between these
     * positions. Both 0: it has not. */
    uint64_t loop_first, loop_end;
    size_t loop_spans; /* of one pass */
} ntr_replay_window;

/* What is left of a part behind the window that was filled last: the next window goes on there. */
typedef struct ntr_part_rest {
    const ntr_replay_window *window; /* NULL: the next one is read from the beginning of its part */
    size_t part;
    uint64_t end; /* of the part in the stream */
    bool to_end; /* the stream ends there */
    ntr_status status; /* of the last reading: NTR_NEED_MORE, NTR_END, or NTR_OK: the decoder has more */
    unsigned reads;
    ntr_event events[NTR_REPLAY_EVENTS]; /* [at, count) were not taken yet */
    size_t at, count;
} ntr_part_rest;

/* The function that searches are for (ntr_replay_set_function), and whether the code at a place is that function. */
typedef struct ntr_replay_named {
    const char *name; /* NULL: searches are for addresses */
    uint64_t address;
    ntr_context context;
    ntr_validity valid; /* stream offsets */
    bool found;
} ntr_replay_named;

struct ntr_replay {
    ntr_replay_named named;
    ntr_replay_config config;
    ntr_decoder_config decoder_config;
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator;
    char error[160];

    /* pass.c */
    ntr_replay_point *points;
    size_t point_count, point_capacity;
    bool complete;
    bool pass_inside; /* interrupted before all events of the last bytes were taken */
    ntr_pass_part part;
    ntr_decoder *pass_decoder;
    ntr_callstack *pass_stacks;
    ntr_replay_stream pass_stream;
    ntr_frame_store store;
    ntr_span_table blocks;
    uint64_t executed; /* by the pass, so far */
    uint16_t *harts; /* their SRC */
    size_t hart_count, hart_capacity;
    uint64_t *hart_executed;
    size_t hart_executed_capacity;
    ntr_trail_place *hart_places; /* of which only `stopped` and `stopped_at` are kept */
    size_t hart_places_capacity;
    uint16_t hart_number[NTR_SOURCES_MAX]; /* index into harts + 1; 0: none */

    /* window.c */
    ntr_decoder *decoder;
    ntr_callstack *stacks;
    ntr_replay_stream stream;
    ntr_replay_window windows[NTR_WINDOWS], *filling;
    uint64_t clock;
    ntr_instructions *instructions;
    ntr_event *loop; /* the pass of a loop that is being read: loop.c */
    size_t loop_count, loop_capacity;
    uint64_t loop_repeats, loop_passes; /* of the decoder; passes that no window has yet */
    uint64_t loop_first; /* position of its first window that has nothing else; UINT64_MAX: none yet */
    ntr_part_rest rest;

    ntr_span_filter filter;
    uint64_t position;
};

/* ---- stream.c */

/* Moves to a byte offset. Errors: those of ntr_replay_config.open. */
ntr_status ntr_replay_stream_seek(ntr_replay *r, ntr_replay_stream *stream, uint64_t offset);

/* Takes at most `size` bytes. *last: these are the last ones. */
ntr_bytes ntr_replay_stream_take(ntr_replay *r, ntr_replay_stream *stream, size_t size, bool *last);

/* Returns false when the user interrupts. */
bool ntr_replay_proceed(const ntr_replay *r, const ntr_replay_stream *stream);

/* ---- pass.c */

/* Begins the pass. Errors: as ntr_replay_new. */
ntr_status ntr_replay_pass_begin(ntr_replay *r);

/* Reads the next part. Returns NTR_OK; NTR_END when interrupted (call again to continue). Must not be called when
 * complete. Errors: NTR_E_MEMORY, those of ntr_replay_config.open. */
ntr_status ntr_replay_pass(ntr_replay *r);
void ntr_replay_pass_end(ntr_replay *r);

/* Returns the index of the hart, which is added if it is new, or SIZE_MAX when out of memory. */
size_t ntr_replay_hart_index(ntr_replay *r, uint16_t src);

/* Forgets the harts. Nothing may have been read. */
void ntr_replay_forget_harts(ntr_replay *r);

/* ---- pass_calls.c: call stacks of parts that are read by counting */

/* Prepares the decoder. */
void ntr_pass_follow_calls(ntr_replay *r);

/* Chooses how the next part is read. */
ntr_pass_mode ntr_pass_choose(const ntr_replay *r);

/* Keeps bytes that were read by counting. Errors: NTR_E_MEMORY. */
ntr_status ntr_pass_keep(ntr_replay *r, ntr_bytes bytes, bool last);

/* The decoder has reported an event. */
void ntr_pass_check(ntr_replay *r, const ntr_event *event);

/* The part was read by counting: updates the call stacks. Returns NTR_END when it must be read again, for which the
 * decoder is prepared. Errors: NTR_E_MEMORY. */
ntr_status ntr_pass_end_counts(ntr_replay *r);

/* The part was read with joined spans: updates the call trails. */
void ntr_pass_end_events(ntr_replay *r);

/* Reads until `position` is in a part that has been read, or the trace is complete. */
ntr_status ntr_replay_pass_to(ntr_replay *r, uint64_t position);

/* Returns the number of parts, and the part that contains a position below the end of the last part. */
static inline size_t ntr_replay_parts(const ntr_replay *r) {
    return r->point_count ? r->point_count - 1 : 0;
}
size_t ntr_replay_part_of(const ntr_replay *r, uint64_t position);

/* ---- window.c */

/* Returns the window with the instruction at `position`. NULL: *status is NTR_OK (the trace ends before it), NTR_END
 * (interrupted) or an error. */
ntr_replay_window *ntr_replay_window_at(ntr_replay *r, uint64_t position, ntr_status *status);
void ntr_replay_windows_release(ntr_replay *r);

/* Returns where to go on behind a window that has not what is looked for, of which everything from `from` on was seen:
 * behind the loop if the window is inside of one, and was seen as a whole. Backward: from everything before `to`. */
static inline uint64_t ntr_window_behind(const ntr_replay_window *w, uint64_t from) {
    return w->loop_end && from <= w->first ? w->loop_end : w->end;
}
static inline uint64_t ntr_window_before(const ntr_replay_window *w, uint64_t to) {
    return w->loop_end && to >= w->end ? w->loop_first : w->first;
}

/* ---- loop.c: loops of which the decoder returns one pass */

/* Keeps an event of a pass. Errors: NTR_E_MEMORY. */
ntr_status ntr_window_keep_loop(ntr_replay *r, const ntr_event *e);

/* Returns whether the event belongs to the pass that is being read. */
bool ntr_window_is_in_loop(const ntr_replay *r, const ntr_event *e);

/* Returns how many passes a window of the loop has; 0: the loop is short, and has no windows of its own. */
uint64_t ntr_window_loop_passes(const ntr_replay *r);

/* The window is empty, and the pass has so many instructions: passes over windows that end at the position or before
 * it, and takes off their passes. */
void ntr_window_pass_over(ntr_replay *r, ntr_replay_window *w, uint64_t position, uint64_t instructions);

/* Returns the index of the span of the window that contains the position; window->span_count at its end. */
size_t ntr_window_find(const ntr_replay_window *window, uint64_t position);

/* ---- gaps.c */

/* Returns the last gap directly before the span, or NULL. */
const ntr_event *ntr_window_gap_before(const ntr_replay_window *window, size_t span);

/* Stores the gap with which the trace ends, if it has been read completely and ends with one. */
void ntr_replay_gap_at_end(const ntr_replay *r, ntr_event *gap, bool *found);

/* ---- order.c */

/* Sorts the spans of a complete window by time, where the configuration says so. Errors: NTR_E_MEMORY. */
ntr_status ntr_window_sort(ntr_replay *r, ntr_replay_window *window);

/* ---- window.c */

/* Begins to expand the span to instructions, with r->instructions. */
void ntr_window_expand(ntr_replay *r, const ntr_replay_window *window, const ntr_window_span *span);

/* Returns the address of instruction `index` of the span. */
uint64_t ntr_window_address(ntr_replay *r, const ntr_replay_window *window, const ntr_window_span *span,
                            uint32_t index);

/* ---- named.c */

/* Returns whether an execution of the address counts in a search. */
bool ntr_replay_is_named(ntr_replay *r, const ntr_span_origin *origin, uint64_t address);

#endif
