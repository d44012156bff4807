/* The private state of a decoder, shared by the files of src/decoder.
 *
 * Idea: a message is decoded in two phases. messages.c turns the message into events, a change of state, or a walk
 * request: "follow the program from the current address for `left` halfwords of code, take the outcomes of branches
 * from `history`, and end as `goal` says". Then walk.c (with events) or count.c (totals only) walks the basic blocks
 * inside the request, and walk_end.c handles the last instruction, at which the message itself determines the next
 * address. gap.c reports execution that cannot be reconstructed.
 *
 * Invariant, between two messages of a source that is followed: `pc` is the address of the next instruction to execute;
 * `run` is the linear code directly before `pc` that no span has reported yet; `halfwords_ahead` is the number of
 * halfwords already walked that the next I-CNT includes.
 *
 * Example: IndirectBranchHist with I-CNT 7, HIST 0b101 and U-ADDR becomes the request left 7, history "not taken,
 * taken", goal NTR_GOAL_ADDRESS. A block of 3 halfwords ends with the first branch, a block of 2 with the second one.
 * The remaining 2 halfwords are left to the walk end; they must end with an uninferable jump. Its target comes from
 * U-ADDR. */
#ifndef NTR_DECODER_STATE_H
#define NTR_DECODER_STATE_H

#include <ntrace/clock.h>
#include <ntrace/decoder.h>
#include <ntrace/reader.h>

#include "decoder/call_trail.h"
#include "decoder/history.h"
#include "trace/data_reference.h"
#include "trace/flow_tables.h"
#include "trace/mode.h"
#include "trace/return_stack.h"
#include "message/words.h"
#include "program/blocks.h"

typedef enum ntr_source_state {
    NTR_SOURCE_STOPPED = 0, /* no synchronizing message yet, or stopped by ProgTraceCorrelation */
    NTR_SOURCE_LOST,        /* a gap is open; only a synchronizing message closes it */
    /* a gap is open because code is missing; messages are valid, so that any address closes it */
    NTR_SOURCE_NO_CODE,
    NTR_SOURCE_FOLLOWING,
} ntr_source_state;

/* What a walk must end with. */
typedef enum ntr_goal {
    NTR_GOAL_HISTORY = 0, /* the branch that takes the last outcome (ResourceFull) */
    NTR_GOAL_TAKEN,       /* a taken branch (DirectBranch) */
    NTR_GOAL_ADDRESS,     /* an uninferable jump (IndirectBranch, IndirectBranchHist with B-TYPE 0) */
    NTR_GOAL_TRAP,        /* any instruction, then a trap (B-TYPE 1 to 3) */
    /* an uninferable jump, or any instruction (IndirectBranchSync, IndirectBranchHistSync with B-TYPE 0) */
    NTR_GOAL_SYNC,
    NTR_GOAL_NOTIFY, /* any instruction (ProgTraceSync, DirectBranchSync) */
    NTR_GOAL_STOP,   /* any instruction (ProgTraceCorrelation) */
    NTR_GOAL_SELF,   /* any instruction; a branch to itself is taken (RepeatInstruction) */
    /* the last complete block within I-CNT, or the first branch without outcome (ResourceFull, RCODE 0) */
    NTR_GOAL_COUNT,
    NTR_GOAL_KINDS,
} ntr_goal;

/* Repetitions of a message or history for which it is worth to look for loops. */
enum { NTR_WATCHED_REPEATS = 64 };

/* The last branch message, for RepeatBranch; not valid when another message came after it. */
typedef struct ntr_repeatable {
    bool valid;
    uint8_t goal, btype;
    uint64_t icnt, hist, uaddr;
} ntr_repeatable;

typedef struct ntr_open_gap {
    bool open, from_known, from_timed;
    int16_t reason;
    uint8_t tcode, field; /* of the message at which the gap begins: see ntr_event.gap */
    uint64_t offset, message;
    uint64_t from, from_time;
} ntr_open_gap;

/* Linear code walked since the last span. It becomes the first part of the next span. */
typedef struct ntr_open_span {
    uint32_t instructions, halfwords;
    uint64_t last; /* address of the last instruction, if there is one */
} ntr_open_span;

typedef struct ntr_source {
    uint16_t id;
    uint64_t first; /* number of the first message to decode; earlier messages of the source are ignored */
    uint8_t state;  /* ntr_source_state */
    uint8_t mode;   /* ntr_mode */
    bool pc_known;
    bool active;           /* in the list ntr_decoder.active */
    bool begun;            /* the source has synchronized once, so that its flow can be lost */
    bool awaits_sync;      /* it has not, but had a message of a program that runs: `gap` has its place */
    bool stack_incomplete; /* calls happened that the stack does not contain */
    /* the task changed while the encoder predicts returns by count, without checking the target */
    bool stack_doubtful;
    bool target_hidden; /* the message before may have been of a jump whose target the encoder did not know */
    bool view_known; /* `view` belongs to `context` */

    uint64_t pc;              /* address of the next instruction */
    ntr_block *block;         /* the block that starts at `pc`, or NULL if not looked up */
    uint64_t ref;             /* reference address of U-ADDR */
    uint64_t icnt;            /* sum of the I-CNT values of ResourceFull (RCODE 0) */
    uint64_t halfwords_ahead; /* walked on history alone; the next I-CNT includes them */
    ntr_open_span run;
    uint64_t joined; /* decoding with joined spans: instructions to add to the next span */
    bool settled;    /* the consumer's stack is known to be in the function of `pc`: see walk_joined.c */
    ntr_return_stack stack;
    ntr_call_trail *trail; /* NULL: not kept */
    ntr_repeatable last_branch;
    /* the last message if a message memo handled it (then `last_branch` is stale); else zeros */
    ntr_message_words last_memo;
    ntr_clock clock;
    ntr_data_reference data;
    ntr_flow_tables tables;

    ntr_context context;
    uint32_t view;  /* what `context` sees in the block cache of `generation` */
    uint32_t stamp; /* changes whenever stored pointers to blocks become invalid */
    uint64_t generation, epoch;

    ntr_open_gap gap;
    struct ntr_source *next_active;
} ntr_source;

/* Maximum number of halfwords or outcomes that one message may stand for, but for loops. The counters of the
 * specification end at 22 bits and some encoders have no limit; larger values come from damaged messages and would take
 * hours to walk. */
#define NTR_MESSAGE_LIMIT (UINT64_C(1) << 28)

/* The same for loops, which cost no time: some hours of a fast hart. */
#define NTR_LOOP_LIMIT (UINT64_C(1) << 48)

/* Numbers of spans that end with a call or a return, and of blocks that are kept (ntr_decoder_set_join_except). */
typedef struct ntr_loop_spans {
    uint64_t calls, returns, kept;
} ntr_loop_spans;

/* ntr_walk_request.left when only the history ends the walk. */
#define NTR_NO_ICNT (UINT64_C(1) << 62)

typedef struct ntr_walk_request {
    ntr_source *source; /* NULL: there is no request */
    uint8_t goal;       /* ntr_goal */
    uint8_t btype;
    bool ended;                 /* the walk has done what is left to the walk end */
    bool predicted; /* outcomes are as predicted, but for the last one: `history` only counts them (BranchPredict) */
    bool self_loop; /* the repetitions are of the branch to itself at which the walk ends (RepeatInstruction) ... */
    bool leaves_loop;           /* ... and the last of them goes on to `address` */
    bool watched; /* in a walk with events, loops are looked for: walk_loop.h */
    bool interrupted; /* a watched walk of a counting decode was stopped, perhaps inside of a multiplied pass */
    bool no_outcome;            /* the history was too short: a branch was assumed to be not taken (OQ-9) */
    uint64_t left;              /* halfwords still to walk */
    uint64_t runaway_limit;     /* value of `left` below which a walk on history alone is given up; 0: not set yet */
    ntr_history history;        /* outcomes not taken yet */
    uint64_t address;           /* address from the message */
    uint64_t repeats;           /* RepeatBranch: repetitions still to walk, each */
    uint64_t repeat_halfwords;  /* with this many halfwords */
    ntr_history repeat_history; /* and this history */
    uint64_t repeat_xor;        /* ... and what each changes in the address */
    uint64_t repeat_from;       /* where the current repetition began */
    uint64_t repeat_events;     /* ntr_decoder.other_events there */
    uint32_t repeat_depth;      /* depth of the return stack there, */
    uint32_t repeat_low;        /* ... and the lowest since then, before ntr_loop_visit began to measure it, too */
    uint32_t repeat_trail;      /* ... and of the call trail */
    ntr_loop_spans repeat_spans; /* ntr_walk_loop.spans there */
} ntr_walk_request;

/* A loop inside of a walk: walk_loop.h. */
typedef struct ntr_walk_loop {
    /* the starting point of a possible loop: block (NULL: none), state of the walk, and what was counted */
    const ntr_block *block;
    uint64_t left, outcomes, repeats;
    uint32_t depth, trail; /* of the return stack and the call trail */
    uint64_t learned_before;
    ntr_loop_spans before; /* `spans` there */
    uint64_t visits, most_visits; /* since the starting point was chosen, and until another one is */
    /* while a pass is multiplied: it stands for `factor` passes; ntr_decoder.times before, its halfwords, and the value
     * of `left` where it ends */
    uint64_t factor, times, halfwords, end;
    uint64_t learned; /* how often a branch predictor has changed */
    ntr_loop_spans spans; /* in walks with events that are watched */
} ntr_walk_loop;

/* Returns whether the request walks before its I-CNT is known: its halfwords are counted in `halfwords_ahead`. */
static inline bool ntr_request_runs_ahead(const ntr_walk_request *request) {
    return request->goal == NTR_GOAL_HISTORY || request->goal == NTR_GOAL_COUNT;
}

/* The table of history memos: history_memo.h. */
typedef struct ntr_history_memos {
    struct ntr_history_memo *table;
    size_t count;
    unsigned shift;
    uint64_t epoch; /* ntr_blocks.epoch for which the memos are valid */
} ntr_history_memos;

/* The table of message memos: message_memo.h. */
typedef struct ntr_message_memos {
    void *memory;
    struct ntr_message_memo *table; /* inside `memory`, aligned to a cache line */
    unsigned bits, wide; /* log2 of the number of memos, and of the cache lines of each */
    bool counted; /* the memos count how often they are applied, for the count callback */
    uint32_t learned;
    uint64_t epoch; /* ntr_blocks.epoch for which the memos are valid */
    struct ntr_sequence_memo *sequences; /* sequence_memo.h; NULL when out of memory */
    void *sequence_memory;
    uint16_t *seen; /* tags of the sequences that came before */
    unsigned sequence_bits;
    int32_t sequence_balance; /* grows with sequences that have a memo, falls with others */
    uint32_t sequence_pause; /* sequences to be passed over before the next one is looked up */
    uint32_t stack_limit; /* of the return stacks */
    ntr_source *replayed; /* the source of messages that are decoded once more; NULL before the first one */
} ntr_message_memos;

struct ntr_decoder {
    ntr_decoder_config config;
    ntr_params params;
    const ntr_allocator *allocator;
    uint8_t roles[64]; /* ntr_role of each TCODE in this dialect */
    bool predicts; /* branches without outcome go as predicted: no walk may pass over a branch */
    bool has_tables; /* the sources have flow tables: what a message does depends on them */
    bool
        retries; /* after a contradiction between message and code, go on at the next address of a message: src/infer */
    ntr_reader reader;
    ntr_blocks *blocks;

    ntr_source **sources; /* by SRC; allocated at the first message of the source */
    uint32_t source_capacity, source_count;
    ntr_source *active; /* list of the sources that have flow or a known time, which a loss of bytes ends */

    ntr_message message; /* the current message */
    ntr_walk_request request;
    ntr_event header; /* template of every event of the current message */
    ntr_open_gap early_gap; /* bytes were lost before the first source was seen */
    uint32_t closing; /* at the end of the stream: SRC of the next source to report a gap of */

    ntr_event *queue; /* events of the last step that were not read yet */
    size_t queue_at, queue_count, queue_capacity;

    ntr_counts *counts; /* counting decode: the totals; else NULL */
    uint64_t times; /* number of executions that one walk stands for; 1 in a walk with events, but for `repeats` */
    bool repeats; /* spans may have ntr_event.repeats */
    bool in_order; /* ... and are in the order of execution: one short pass for each loop, none inside of another */
    ntr_walk_loop loop;
    uint64_t multiplied; /* halfwords that were counted by multiplication */
    uint64_t without_memo; /* counting decode: messages that were decoded in full */
    bool first; /* counting decode: the current message had no memo, but may get one */
    uint64_t other_events; /* counting decode with callback, `repeats`: events that are no span */
    bool replays; /* the current message is decoded once more: the code is that of ntr_decoder.blocks */
    ntr_history_memos history_memos;
    ntr_message_memos message_memos;
    bool follows_calls; /* sources have call trails */
    ntr_count_callback *count_callback; /* counting decode: receives what was executed; may be NULL */
    /* Counting decode: decodes `message` once more. There is no request. Errors: as ntr_message_take. A pointer,
     * because the cache of repeated messages (message_memo_replay.c) lies beneath the decoder. */
    ntr_status (*recount)(struct ntr_decoder *d);
    void *count_user;
    ntr_same_function *join; /* decoding with joined spans; NULL: every span is returned */
    void *join_user;
    unsigned join_except; /* modes in which spans of NTR_BLOCK_KEPT are not joined: bit I is that of privilege I */
    unsigned join_settling; /* ends of spans that settle their source: bit I is that of ntr_span_end I */
    int64_t patience; /* work until ntr_decoder_config.proceed is called: ntr_decoder_spend */
    bool stopped; /* it has returned false during this call */
    ntr_status failed; /* sticky error: out of memory, or a defect with `strict` */
    char error[NTR_DECODER_ERROR_SIZE]; /* with `strict`: the defect as a sentence */
};

static inline bool ntr_implicit_returns(const ntr_decoder *d) {
    return d->params.implicit_return != NTR_RETURN_OFF;
}

/* Returns whether the return stacks are kept: for implicit returns, or for the memos that change call trails. */
static inline bool ntr_keeps_returns(const ntr_decoder *d) {
    return ntr_implicit_returns(d) || d->follows_calls;
}

static inline uint32_t ntr_trail_depth(const ntr_source *s) {
    return s->trail ? s->trail->depth : 0;
}

/* ---- decoder.c */

enum { NTR_IN_ORDER_MOST = 1 << 16 }; /* halfwords of a pass that is returned in order */
enum { NTR_PATIENCE = 1 << 16 }; /* about a millisecond */

/* Calls ntr_decoder_config.proceed. Returns whether the decoder must stop. */
bool ntr_decoder_ask(ntr_decoder *d);

/* Work was done, in basic blocks. Returns whether the decoder must stop (ntr_decoder.stopped is set then): the walk is
 * suspended as if the output were full. */
static inline bool ntr_decoder_spend(ntr_decoder *d, uint64_t work) {
    d->patience -= (int64_t)work;
    return d->patience < 0 && ntr_decoder_ask(d);
}

/* ---- source.c */

/* Returns the state of the source with this SRC; a new one if there is none yet. NULL when out of memory. */
ntr_source *ntr_source_get(ntr_decoder *d, uint16_t id);
void ntr_source_free(ntr_decoder *d, ntr_source *s);
void ntr_sources_release(ntr_decoder *d);

/* Set the address of the next instruction. */
void ntr_source_goto(ntr_source *s, uint64_t pc);

/* Update `view` for the context and the position in the stream. Clears `block` when it may be out of date. */
void ntr_source_update_view(ntr_decoder *d, ntr_source *s);

/* There is no branch message that RepeatBranch could repeat. */
static inline void ntr_source_forget_branch(ntr_source *s) {
    s->last_branch.valid = false;
    s->last_memo = (ntr_message_words){0};
}

/* The context changed: the view and all stored block pointers become invalid. */
void ntr_source_forget_view(ntr_source *s);

/* Add the source to ntr_decoder.active. */
void ntr_source_activate(ntr_decoder *d, ntr_source *s);

/* The flow of the source is known from here on: a loss of bytes now opens a gap. */
void ntr_source_begin(ntr_decoder *d, ntr_source *s);

/* ---- emit.c: events are queued or counted */

/* Returns an event of this kind with offset, message, time, source and context filled; the other members are 0. */
ntr_event ntr_event_make(const ntr_decoder *d, const ntr_source *s, ntr_event_kind kind);
void ntr_event_emit(ntr_decoder *d, const ntr_event *event);
void ntr_span_count(const ntr_decoder *d, unsigned end, uint64_t instructions, uint64_t halfwords);
/* Decoding with joined spans: queue a span of the instructions that no span has reported yet, if there are any. */
void ntr_join_flush(ntr_decoder *d, ntr_source *s);
void ntr_event_note(ntr_decoder *d, const ntr_source *s, ntr_status reason);

/* ---- count_callback.c */

/* Pass one event to the count callback. */
void ntr_count_event(ntr_decoder *d, const ntr_event *event);

/* Pass all collected counts to the count callback. */
void ntr_count_flush(ntr_decoder *d);

/* ---- error.c */

/* With `strict`: stop at the current message because of `reason`. `s`: the source with the defect; NULL: not known. */
void ntr_decoder_defect(ntr_decoder *d, const ntr_source *s, ntr_status reason);

/* ---- gap.c */

/* Report code that was executed for certain although the message that would end it is missing. */
void ntr_gap_flush(ntr_decoder *d, ntr_source *s);

/* Open a gap at the current message, unless one is open. The state becomes NTR_SOURCE_NO_CODE when the messages remain
 * valid despite `reason`, else NTR_SOURCE_LOST. */
void ntr_gap_open(ntr_decoder *d, ntr_source *s, ntr_status reason);

/* Bytes were lost or damaged and their source is not known: open a gap for every active source. */
void ntr_gap_open_all(ntr_decoder *d, ntr_status reason);

/* Close the open gap, if any. `to` is the address where decoding resumes; NULL: it does not resume. */
void ntr_gap_close(ntr_decoder *d, ntr_source *s, const uint64_t *to);

/* A message of a source that never synchronized: remember where. */
void ntr_gap_await(ntr_decoder *d, ntr_source *s);

/* The end of the stream. If no source has synchronized, nothing was decoded: each that had messages of a program gets a
 * gap that says so. Messages of instrumentation and data stand for themselves. */
void ntr_gap_end_unsynced(ntr_decoder *d);

static inline void ntr_source_await(ntr_decoder *d, ntr_source *s) {
    if (!s->begun && !s->awaits_sync) ntr_gap_await(d, s);
}

/* The code of the source is missing: report what the message says nevertheless (NTR_EVENT_NO_CODE) and apply it. */
void ntr_gap_no_code(ntr_decoder *d);

/* ---- messages.c */

/* Decode d->message: emits events, changes state, or fills d->request. Errors: NTR_E_MEMORY. */
ntr_status ntr_message_take(ntr_decoder *d);

/* d->request has ended, with or without error: apply the rest of the message. */
void ntr_message_finish(ntr_decoder *d);

/* ---- ict.c */
ntr_status ntr_ict_take(ntr_decoder *d, ntr_source *s);

/* ---- walk.c, walk_joined.c, count.c: walk all of the request except its last block. They return NTR_END when the walk
 * end is next, NTR_OK when the event array is full. Errors: why the walk cannot continue. */
ntr_status ntr_walk_events(ntr_decoder *d, ntr_event **at, const ntr_event *end);
ntr_status ntr_walk_joined(ntr_decoder *d, ntr_event **at, const ntr_event *end);
ntr_status ntr_walk_counts(ntr_decoder *d);

/* Add the joined instructions to a span of the source. */
void ntr_join_add(ntr_source *s, ntr_event *span);

/* Returns the ends of spans that settle their source, one bit each, with these excepted modes. */
unsigned ntr_join_settling(unsigned except);

/* Returns whether the source of the request is in a mode of ntr_decoder_set_join_except. */
static inline bool ntr_join_excepts(const ntr_decoder *d) {
    const ntr_context *context = &d->request.source->context;
    return d->join_except >> (context->prv & 3) & 1 && !context->v && context->prv != NTR_PRV_UNKNOWN;
}

/* A span with this end and these flags was returned that walk_joined.c did not walk. */
void ntr_join_settle(const ntr_decoder *d, ntr_source *s, unsigned end, unsigned flags);

/* ---- walk_loop.c */

/* Returns whether the code at the source's address is a loop that execution leaves only with an outcome or a message.
 */
bool ntr_loop_is_endless(ntr_decoder *d, ntr_source *s);

/* ---- walk_end.c */

/* Walk the last block of the request and apply its goal. Errors: why the message does not fit the code;
 * NTR_E_MEMORY. */
ntr_status ntr_walk_end(ntr_decoder *d);

/* Report code that was executed for certain but is not reported yet: the run and, of the next `sure` halfwords, those
 * before the next instruction that may change flow. Returns how many of the `sure` halfwords were reported. */
uint64_t ntr_walk_end_flush(ntr_decoder *d, ntr_source *s, uint64_t sure);

/* Returns the ntr_span_end of a span that ends with a trap of this B-TYPE (1 to 3). */
unsigned ntr_trap_end(unsigned btype);

#endif
