/* What a decoder holds. Shared by the decoder's own files only.
 *
 * messages.c turns each message into an order: walk so many halfwords with this history, then land as the
 * message says. walk.c carries out what lies inside the order, walk_end.c its end, gap.c what cannot be known. */
#ifndef NTR_DECODER_STATE_H
#define NTR_DECODER_STATE_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>
#include <ntrace/reader.h>

#include "decoder/history.h"
#include "trace/mode.h"
#include "trace/return_stack.h"
#include "message/words.h"
#include "program/blocks.h"

typedef enum ntr_source_state {
    NTR_SOURCE_STOPPED = 0, /* not started yet, or stopped by ProgTraceCorrelation */
    NTR_SOURCE_LOST,        /* a gap is open; only a synchronizing message ends it */
    NTR_SOURCE_NO_CODE,       /* a gap is open because code is missing; messages are all there, any address ends it */
    NTR_SOURCE_FOLLOWING,
} ntr_source_state;

/* How a walk ends. */
typedef enum ntr_goal {
    NTR_GOAL_HISTORY = 0, /* with the branch that takes the last outcome (ResourceFull) */
    NTR_GOAL_TAKEN,       /* a taken branch (DirectBranch) */
    NTR_GOAL_ADDRESS,     /* an uninferable jump (IndirectBranch, IndirectBranchHist with B-TYPE 0) */
    NTR_GOAL_TRAP,        /* anywhere, then a trap (B-TYPE 1 to 3) */
    NTR_GOAL_SYNC,        /* uninferable jump or anywhere (IndirectBranchSync, ...HistSync with B-TYPE 0) */
    NTR_GOAL_NOTIFY,      /* anywhere (ProgTraceSync, DirectBranchSync) */
    NTR_GOAL_STOP,        /* anywhere (ProgTraceCorrelation) */
    NTR_GOAL_COUNT,       /* before the block that I-CNT ends in, or a branch whose outcome is still to come */
    NTR_GOAL_KINDS,
} ntr_goal;

/* What RepeatBranch repeats: the last branch message, if nothing came after it. */
typedef struct ntr_repeatable {
    bool valid;
    uint8_t goal, btype;
    uint64_t icnt, hist;
} ntr_repeatable;

typedef struct ntr_open_gap {
    bool open, from_known, from_timed;
    int16_t reason;
    uint8_t tcode, field; /* of the message it begins at: see ntr_event.gap */
    uint64_t offset, message;
    uint64_t from, from_time;
} ntr_open_gap;

/* Straight code walked since the last span: its blocks are told as one. */
typedef struct ntr_open_span {
    uint32_t instructions, halfwords;
    uint64_t last; /* address of the last instruction, if there is one */
} ntr_open_span;

typedef struct ntr_source {
    uint16_t id;
    uint64_t first; /* number of the first message that counts */
    uint8_t state;  /* ntr_source_state */
    uint8_t mode;   /* ntr_mode */
    bool pc_known;
    bool active;           /* in the decoder's list of sources that have something to lose: flow, or the time */
    bool begun;            /* there was flow to lose */
    bool stack_incomplete; /* calls happened that the stack does not hold */
    bool stack_doubtful;   /* the task changed, and the encoder infers returns without looking where they go */
    bool view_known;       /* `view` fits `context` */

    uint64_t pc;      /* of the next instruction */
    ntr_block *block; /* that starts there, or NULL */
    uint64_t ref;     /* reference of U-ADDR */
    uint64_t icnt;    /* sum of RCODE 0 values */
    uint64_t halfwords_ahead;    /* halfwords walked on history alone */
    ntr_open_span run;
    ntr_return_stack stack;
    ntr_repeatable last_branch;
    ntr_message_words last_memo; /* the last message, if it was a known passage: then `last_branch` has yet to be told; else zeros */
    ntr_clock clock;

    ntr_context context;
    uint32_t view;        /* what `context` sees, when the cache has `generation` */
    uint32_t stamp;       /* counts all that makes pointers to blocks worthless */
    uint64_t generation, epoch;

    ntr_open_gap gap;
    struct ntr_source *next_active;
} ntr_source;

/* `left` of an order that only its history ends. */
#define NTR_NO_ICNT (UINT64_C(1) << 62)

typedef struct ntr_walk_request {
    ntr_source *source; /* NULL: no order */
    uint8_t goal;       /* ntr_goal */
    uint8_t btype;
    bool no_outcome;      /* a branch after the end of the history was taken for not taken (OQ-9) */
    uint64_t left;        /* halfwords still to walk */
    uint64_t runaway_limit;       /* ... below which a walk on history has run away; 0: not measured yet */
    ntr_history history;  /* outcomes still to take */
    uint64_t address;     /* that the message carries */
    uint64_t repeats;      /* RepeatBranch: times to start over; */
    uint64_t repeat_halfwords;      /*   then, each time with so many halfwords */
    ntr_history repeat_history;    /*   and this history, */
    uint64_t repeat_from;/*   from this address on */
    uint32_t repeat_depth;      /*   with the return stack so deep */
} ntr_walk_request;

/* Whether the order walks ahead of its I-CNT, so that what it walks is a debt. */
static inline bool ntr_request_runs_ahead(const ntr_walk_request *request) {
    return request->goal == NTR_GOAL_HISTORY || request->goal == NTR_GOAL_COUNT;
}

/* Most events that one step may add before the queue is drained. */
#define NTR_QUEUE_CAPACITY 16

/* history_memo.h */
typedef struct ntr_history_memos {
    struct ntr_history_memo *table;
    size_t count;
    unsigned shift;
    uint64_t epoch; /* of the blocks that it leads through */
} ntr_history_memos;

/* message_memo.h */
typedef struct ntr_message_memos {
    void *memory;
    struct ntr_message_memo *table; /* in it, from a cache line's begin on */
    unsigned bits, wide; /* log2 of how many there are, and of the lines that one takes */
    uint32_t learned;
    uint64_t epoch;      /* of the blocks that they lead through */
} ntr_message_memos;

struct ntr_decoder {
    ntr_decoder_config config;
    ntr_params params;
    const ntr_allocator *allocator;
    uint64_t known; /* bit t: TCODE t means something to the decoder in this dialect */
    ntr_reader reader;
    ntr_blocks *blocks;

    ntr_source **sources; /* by SRC, made when first seen */
    uint32_t source_capacity, source_count;
    ntr_source *active;   /* sources with something to lose, at least */

    ntr_message message;  /* the one in hand */
    ntr_walk_request request;
    ntr_event header;     /* what every event of this message says */
    ntr_open_gap early_gap;  /* damage before the first source was seen */
    uint32_t closing;     /* at the end of the stream: next source whose gap is to be told */

    ntr_event queue[NTR_QUEUE_CAPACITY];
    uint8_t queue_at, queue_count;

    ntr_counts *counts;   /* counting decode: where to; else NULL */
    uint64_t times;       /* counting decode: what is walked stands for so many times the same */
    ntr_history_memos history_memos;
    ntr_message_memos message_memos;
    ntr_count_callback *count_callback;       /* counting decode: who is told what ran; NULL: nobody */
    void *count_user;
    ntr_status failed;    /* sticky: strict defect, out of memory */
};

static inline bool ntr_implicit_returns(const ntr_decoder *d) {
    return d->params.implicit_return != NTR_RETURN_OFF;
}

/* ---- source.c */

/* The state of this SRC, made if new. NULL when out of memory. */
ntr_source *ntr_source_get(ntr_decoder *d, uint16_t id);
void ntr_sources_release(ntr_decoder *d);

/* The source goes on at `pc`. */
void ntr_source_goto(ntr_source *s, uint64_t pc);

/* Have `view` fit the context and the place in the stream, and no pointer to a block that died. */
void ntr_source_update_view(ntr_decoder *d, ntr_source *s);

/* There is nothing that RepeatBranch could repeat. */
static inline void ntr_source_forget_branch(ntr_source *s) {
    s->last_branch.valid = false;
    s->last_memo = (ntr_message_words){0};
}

/* The context changed. */
void ntr_source_forget_view(ntr_source *s);

/* Tell that the source has a state that lost bytes would spoil. */
void ntr_source_activate(ntr_decoder *d, ntr_source *s);

/* ... and flow to lose. */
void ntr_source_begin(ntr_decoder *d, ntr_source *s);

/* ---- emit.c: events go to the queue, or are counted */

/* A zeroed event with the header of the message in hand. */
ntr_event ntr_event_make(const ntr_decoder *d, const ntr_source *s, ntr_event_kind kind);
void ntr_event_emit(ntr_decoder *d, const ntr_event *event);
void ntr_span_count(const ntr_decoder *d, unsigned end, uint64_t instructions, uint64_t halfwords);
void ntr_event_note(ntr_decoder *d, const ntr_source *s, ntr_status reason);

/* ---- told.c */

/* Hand an event on; everything that was kept back. */
void ntr_count_event(ntr_decoder *d, const ntr_event *event);
void ntr_count_flush(ntr_decoder *d);

/* ---- gap.c */

/* Tell what ran for sure although no message that would end it came. */
void ntr_gap_flush(ntr_decoder *d, ntr_source *s);

/* The source's flow cannot be told any more from the message in hand on. Reasons that leave all messages
 * trustworthy make it blind, others lost. */
void ntr_gap_open(ntr_decoder *d, ntr_source *s, ntr_status reason);

/* Bytes were lost or spoilt: nobody's next message can be trusted. */
void ntr_gap_open_all(ntr_decoder *d, ntr_status reason);

/* Decoding goes on at `to` (NULL: it does not). */
void ntr_gap_close(ntr_decoder *d, ntr_source *s, const uint64_t *to);

/* ---- messages.c */

/* Take in d->message: events, state, or an order in d->order. Errors: NTR_E_MEMORY. */
ntr_status ntr_message_take(ntr_decoder *d);

/* d->order is done, or has failed. */
void ntr_message_finish(ntr_decoder *d);

/* For ntr_decoder.known. */
uint64_t ntr_messages_known(const ntr_dialect *dialect);

/* ---- ict.c */
ntr_status ntr_ict_take(ntr_decoder *d, ntr_source *s);

/* ---- walk.c, count.c: everything of the order but its last block.
 * NTR_END: the landing is next; NTR_OK: no room for events. Errors: why the walk cannot go on. */
ntr_status ntr_walk_events(ntr_decoder *d, ntr_event **at, const ntr_event *end);
ntr_status ntr_walk_counts(ntr_decoder *d);

/* ---- walk_end.c */

/* The rest of the order. Errors: why the message cannot lead there; NTR_E_MEMORY. */
ntr_status ntr_walk_end(ntr_decoder *d);

/* Tell what ran for sure and was not told yet: the run, and of the next `sure` halfwords those before the next
 * instruction that can change the flow. Returns how many halfwords of these. */
uint64_t ntr_walk_end_flush(ntr_decoder *d, ntr_source *s, uint64_t sure);

/* The order's source is blind: tell and keep what the message says anyway. */
void ntr_walk_end_no_code(ntr_decoder *d);

/* The end of a span that B-TYPE 1 to 3 tells. */
unsigned ntr_trap_end(unsigned btype);

#endif
