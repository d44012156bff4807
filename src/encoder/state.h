/* State of the encoder, and the functions of its files. Private to src/encoder.
 *
 * A block passes through these files in this order:
 *   check.c       the block is checked for consistency
 *   filter.c      the filters decide whether the block is traced
 *   window.c      a trace window opens or closes
 *   branch.c      the pending branch message is sent: the address of this block completes it
 *   ownership.c   a change of privilege mode or context is reported
 *   count.c       I-CNT and HIST grow; a jump or trap at the end of the block becomes the pending branch
 * A message passes through these files in this order:
 *   clock.c       TSTAMP is added
 *   send.c        the message is encoded, and kept or counted as lost
 *   fifo.c        the message waits until the drain rate and the sink allow it to leave
 *
 * Delayed decision. The encoder decides one block late. A jump or trap at the end of a block makes a message with
 * the target address, and the target is the first address of the next block. The encoder therefore stores what it
 * knows in `pending` and sends the message when it receives the next block. Invariant between two blocks: `icnt` and
 * `hist` describe everything retired since the last message, including the block that made `pending`. Example: block
 * A ends in an indirect jump, block B starts at 0x2000. Pushing A adds to I-CNT and sets `pending`; pushing B first
 * sends IndirectBranchHist with the I-CNT of A and the target 0x2000, then counts B. The delay also decides the form
 * of the message: a requested synchronization turns it into IndirectBranchHistSync, a return to the address on the
 * return stack needs no message.
 *
 * Trace window. A window is the part of execution between ProgTraceSync and ProgTraceCorrelation; `active` is true
 * inside. Enable bits, triggers, debug mode, reset and filters open and close windows. */
#ifndef NTR_ENCODER_STATE_H
#define NTR_ENCODER_STATE_H

#include "encoder/return_stack.h"
#include "trace/flow_tables.h"

#include "message/table.h"

#include <ntrace/encoder.h>
#include <ntrace/message.h>

#define NTR_ENC_RESOURCE_BITS (6 + 4) /* TCODE and RCODE of ResourceFull */
#define HIST_EMPTY            1u  /* the stop-bit alone */
#define MESSAGE_MAX           96 /* bytes; the longest standard message has 36 (OQ-11), the writer stores beyond its end */

/* Kind of the branch message that waits for the address of the next block. */
typedef enum pending_kind {
    PENDING_NONE,
    PENDING_DIRECT, /* BTM: taken branch */
    PENDING_INDIRECT, /* uninferable jump, or trap (btype not 0) */
    PENDING_RETURN, /* return: no message if the next address is `expected`, else PENDING_INDIRECT */
} pending_kind;

typedef struct pending_branch {
    uint8_t kind; /* pending_kind */
    uint8_t btype;
    bool trap_return;
    uint64_t tval; /* of a trap */
    uint64_t expected; /* PENDING_RETURN: address from the return stack */
    uint64_t time; /* of the block that ended in the jump or trap */
} pending_branch;

/* The last branch message without SYNC. The next one is compared with it for RepeatBranch. */
typedef struct last_branch {
    bool valid;
    uint8_t tcode, btype;
    uint32_t repeats; /* equal messages since, not reported by RepeatBranch yet: the next B-CNT */
    uint64_t icnt, hist, target, uaddr;
    uint64_t full_history; /* all history since the previous branch message as one HIST value; 0: it did not fit */
    uint64_t time; /* of the last repeat */
} last_branch;

/* A full HIST register that is held back and counted while the next full registers are equal (RCODE 2). */
typedef struct held_history {
    uint64_t rdata;
    uint32_t count; /* 0: nothing is held */
    uint64_t time;
} held_history;

enum {
    NTR_ENC_HIST_BITS_MAX = 32,
    NTR_ENC_SAVED_MAX = 64, /* more bytes than two full HIST registers take */
};

/* State of the quick history split (repeats.c). */
typedef struct history_repeats {
    uint64_t bits; /* the newest branch in bit 0 */
    uint64_t repeated; /* branches of the open repeat */
    uint64_t rdata; /* its pattern with a stop-bit */
    uint8_t count; /* branches that wait, when no repeat is open */
    uint8_t length; /* of the pattern; 0: no repeat is open */
    uint8_t stride; /* a multiple of `length` up to 32, or `length`: so many branches are compared at once */
    uint8_t plain[2 * NTR_ENC_HIST_BITS_MAX]; /* bytes of so many branches in full registers */
    uint8_t size[NTR_ENC_HIST_BITS_MAX]; /* bytes of a repeat, by length of the pattern */
    struct ntr_enc_least { /* what a stretch must have to save anything; in [1] when a branch message comes */
        uint32_t lengths; /* bit p: a pattern of p branches can save */
        uint8_t covers[NTR_ENC_SAVED_MAX]; /* branches that can take more than so many bytes */
        uint8_t ones[NTR_ENC_HIST_BITS_MAX]; /* by length of the pattern */
        uint64_t more[2][NTR_ENC_HIST_BITS_MAX]; /* the same as shifts, see candidates() */
    } least[2];
} history_repeats;

/* A branch or jump to itself (self_loop.c). */
typedef struct self_loop {
    bool open; /* the last block ended with a jump that may be one */
    uint8_t halfwords, itype, priv;
    uint64_t address;
    uint64_t count; /* executions that are in no message yet */
    uint64_t time; /* of the last one */
} self_loop;

typedef struct fifo {
    uint8_t *ring; /* messages; each follows one byte with its length */
    uint32_t capacity, head, tail;
    uint32_t used; /* bytes of the stored messages, minus `drained` */
    uint32_t drained; /* bytes of the oldest message that have left already */
    uint64_t remainder; /* of the division by drain_cycles, carried to the next call */
} fifo;

/* Loss by FIFO overflow: from the first lost message until Error is sent. */
typedef struct loss {
    bool pending; /* Error has not been sent yet */
    uint8_t ecode; /* kinds of the lost messages (section 6.4) */
    uint64_t time; /* of the first lost message */
} loss;

typedef struct patterns patterns;

/* Members are ordered by purpose, not by size. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct ntr_encoder {
    ntr_encoder_config config; /* normalized: zeros that mean a default are replaced */
    ntr_params params; /* for ntr_message_encode; src_bits is 0 with inhibit_src */
    bool htm, repeat_branch, timestamps, filtered;
    bool takes_runs; /* ntr_enc_push_run is allowed */
    bool quick_runs; /* runs may use the fast path: each message depends on I-CNT, HIST and `ref` alone */
    const ntr_dialect *dialect;
    bool ordinary; /* no rule of the dialect or parameter changes messages that the fast paths write */
    bool simple; /* the configuration allows the fast path of quick.h */
    uint64_t icnt_full; /* I-CNT is full at this value */
    uint64_t hist_full; /* HIST is full at this value */
    uint64_t compare_mask; /* bits of return addresses that are compared */
    uint64_t sync_period; /* 0: no periodic sync */

    /* control */
    bool quiet; /* ntr_enc_is_quiet when last computed; false is always correct */
    bool enabled, tracing; /* trTeEnable, trTeInstTracing */
    bool active; /* a trace window is open */
    bool closing; /* the window closes when the target of the pending jump is known */
    bool off_after_cycle; /* a trace-off trigger was in this cycle; tracing stops after the cycle */
    bool down; /* halted, in debug mode or in reset */
    bool in_debug; /* priv of the last block was debug mode */
    bool announced; /* the optional ProgTraceCorrelation with EVCODE=0 of this debug session has been sent */
    bool started; /* a window has opened or ProgTraceCorrelation has been sent */
    uint8_t start_reason; /* SYNC of the message that opens the next window */
    uint64_t
        counted_return; /* NTR_RETURN_COUNT: the last block ended in a return that should go there; 0: it did not */
    uint32_t sync_wanted; /* set of 1 << SYNC: reasons for a synchronizing message at the next block */
    bool periodic_due; /* the period of SYNC=2 is over */
    uint64_t sync_count; /* messages, cycles or halfwords since the last synchronizing message */

    /* flow */
    uint64_t icnt, hist; /* I-CNT in halfwords; HIST with its stop-bit */
    uint64_t ref; /* reference address of U-ADDR */
    uint64_t next; /* address after what is counted, or NTR_ADDRESS_UNKNOWN: a jump or taken branch went elsewhere */
    pending_branch pending;
    last_branch last;
    held_history held;
    bool history_sent; /* ResourceFull has sent a part of the history since the last branch message */
    ntr_enc_stack stack;
    ntr_flow_tables tables;
    uint64_t predicted; /* branches that went as predicted since the last message that describes branches */
    bool trapped, returned_from_trap; /* by the branch message that was sent last */
    uint64_t tval;
    patterns *patterns; /* the history is split by patterns.c; NULL: it is not */
    bool splits_quickly; /* the history is split by repeats.c */
    history_repeats repeats;
    self_loop self;
    uint32_t filter_depth[NTR_FILTERS_MAX]; /* nested traps inside the trap window of each filter; 0: outside */

    /* privilege mode and context of the last Ownership message */
    uint8_t sent_priv;
    uint64_t sent_scontext, sent_hcontext;
    bool had_guest; /* hcontext was not 0 once */

    /* timestamps, extended to 64 bits */
    uint64_t now; /* of the current block */
    uint64_t reported; /* of the last message with TSTAMP */

    /* data trace */
    uint64_t data_address; /* of the last data message, if it is known to the decoder */
    bool data_known;

    /* for the consistency check of the next block */
    bool follow_known; /* the next block must start at `follow` */
    bool cycle_trapped; /* the last block of this cycle ended in a trap */
    bool cycle_seen;
    uint8_t cycle_priv;
    uint64_t follow;
    uint64_t cycle_scontext, cycle_hcontext;

    uint32_t frame_used; /* bytes in the current frame */
    uint8_t tcode_before; /* of the message before */
    fifo fifo;
    loss loss;
    bool stall_or_overflow;
    ntr_status failure; /* first failure of the sink in this call */
    ntr_message message; /* message being built; every `width` is 0 */
    ntr_encoder_status stats;
    uint64_t refused; /* refused blocks; stats.blocks + refused + 1 is the record number in error texts */
    char error[160];
};

/* Returns true if `iaddr` of the block is an address of executed code. */
static inline bool ntr_enc_has_address(const ntr_ingress *block) {
    return block->itype != NTR_ITYPE_NONE || block->iretire ? !block->no_iaddr : false;
}

/* encoder.c: updates `quiet` and returns the first failure of the sink in this call, or NTR_OK. Every public
 * function that can send a message ends with it. */
ntr_status ntr_enc_result(ntr_encoder *e);

/* check.c: NTR_OK, or NTR_E_INGRESS with the reason in e->error. */
ntr_status ntr_enc_check(ntr_encoder *e, const ntr_ingress *block);

/* filter.c: NTR_QUALIFY_* set of this block. */
unsigned ntr_enc_qualify(ntr_encoder *e, const ntr_ingress *block);

/* window.c */
/* Opens and closes windows before this block. Returns true if the block is to be traced. */
bool ntr_enc_window(ntr_encoder *e, const ntr_ingress *block, bool qualified);
/* Sends the pending branch, the history and ProgTraceCorrelation. `next`: target of the pending branch, or
 * NTR_ADDRESS_UNKNOWN. */
void ntr_enc_close(ntr_encoder *e, uint64_t next, unsigned evcode);
void ntr_enc_announce(ntr_encoder *e, unsigned evcode); /* sends an optional ProgTraceCorrelation (config.announce) */
bool ntr_enc_needs_address(const ntr_encoder *e); /* the pending message needs the next address */

/* branch.c */
/* Sends the pending branch message or a due synchronizing message. Returns true if it was a synchronizing message. */
bool ntr_enc_resolve(ntr_encoder *e, uint64_t next);
void ntr_enc_hide_target(ntr_encoder *e); /* the pending jump at a stop, in some dialects */
void ntr_enc_resolve_unseen(ntr_encoder *e); /* the same when the next address stays unknown */
void ntr_enc_interrupt(ntr_encoder *e, unsigned btype); /* a trap before the target of a jump is known (OQ-15) */
/* The message with I-CNT is made: I-CNT starts again, and the calls so far are reported. */
static inline void ntr_enc_icnt_sent(ntr_encoder *e) {
    e->icnt = 0;
    ntr_enc_stack_report(&e->stack);
}
/* Implicit return (section 11.2): a pending return to the address on the return stack needs no message. */
void ntr_enc_infer_return(ntr_encoder *e, uint64_t next);
void ntr_enc_start(ntr_encoder *e, uint64_t address); /* ProgTraceSync of a new window */
void ntr_enc_icnt_sync(ntr_encoder *e, uint64_t address); /* SYNC=4 */

/* Returns an address as F-ADDR or U-ADDR: without bit 0, cut to the width of addresses. */
static inline uint64_t ntr_enc_address(const ntr_encoder *e, uint64_t address) {
    unsigned bits = e->params.addr_bits;
    return bits && bits < 64 ? address >> 1 & ((UINT64_C(1) << (bits - 1)) - 1) : address >> 1;
}

/* count.c */
void ntr_enc_count(ntr_encoder *e, const ntr_ingress *block);
unsigned ntr_enc_trap_btype(const ntr_encoder *e, unsigned itype);

/* For configurations with quick_runs: sends IndirectBranch, or IndirectBranchHist with the history `hist`, to `target`,
 * and begins a new history. */
void ntr_enc_quick_branch(ntr_encoder *e, uint64_t target, uint64_t hist);

/* send.c */
/* Sends ResourceFull with a history (RDATA) that comes `count` times. */
void ntr_enc_history_send(ntr_encoder *e, uint64_t rdata, uint32_t count, uint64_t time);

/* history.c */
void ntr_enc_history_append(ntr_encoder *e, unsigned taken);
/* Returns all history since the last branch message as one HIST value, or 0 when it does not fit into one. */
uint64_t ntr_enc_history_unsent(const ntr_encoder *e);
/* Returns the number of branches that still fit into the HIST register. */
static inline unsigned ntr_enc_history_space(const ntr_encoder *e) {
    return (unsigned)(__builtin_clzll(e->hist) - __builtin_clzll(e->hist_full));
}

void ntr_enc_history_append_many(ntr_encoder *e, uint64_t outcomes, unsigned count); /* the newest in bit 0 */
/* Sends the history but for its last part, which the caller sends as HIST, and clears it. Returns that part. */
uint64_t ntr_enc_history_take(ntr_encoder *e);
void ntr_enc_history_flush(ntr_encoder *e); /* sends equal registers that are held back */
void ntr_enc_history_clear(ntr_encoder *e);

/* patterns.c: the history is split into messages of the least size. The functions are those of history.c. */
ntr_status ntr_enc_patterns_new(ntr_encoder *e);
void ntr_enc_patterns_free(ntr_encoder *e);
void ntr_enc_patterns_append(ntr_encoder *e, unsigned taken);
uint64_t ntr_enc_patterns_unsent(const ntr_encoder *e);
uint64_t ntr_enc_patterns_take(ntr_encoder *e);
void ntr_enc_patterns_clear(ntr_encoder *e);

/* repeats.c: the history is split quickly. The functions are those of history.c. */
void ntr_enc_repeats_prepare(ntr_encoder *e); /* to be called when the configuration or src_bits changes */
void ntr_enc_repeats_append(ntr_encoder *e, uint64_t outcomes, unsigned count);
uint64_t ntr_enc_repeats_take(ntr_encoder *e);
uint64_t ntr_enc_repeats_unsent(const ntr_encoder *e);
void ntr_enc_repeats_clear(ntr_encoder *e);

/* sync.c */
/* Counts towards the next periodic synchronization, if `counted` is what its period is made of. */
static inline void ntr_enc_sync_progress(ntr_encoder *e, ntr_sync_mode counted, uint64_t amount) {
    if (e->config.sync_mode != counted || !e->active) return;
    e->sync_count += amount;
    if (e->sync_count >= e->sync_period) e->periodic_due = true;
}

bool ntr_enc_sync_due(const ntr_encoder *e, bool branch); /* `branch`: a branch message is due in any case */
unsigned ntr_enc_sync_reason(const ntr_encoder *e); /* SYNC of the next synchronizing message */
void ntr_enc_sync_done(ntr_encoder *e, uint64_t address); /* resets what a synchronizing message resets */

/* self_loop.c */
/* With self.open: counts the block if it is a repetition of the instruction before it, and then returns true; else
 * sends what was counted. */
bool ntr_enc_self_loop_again(ntr_encoder *e, const ntr_ingress *block);
void ntr_enc_self_loop_begin(ntr_encoder *e, const ntr_ingress *block); /* after the block has been counted */
void ntr_enc_self_loop_end(ntr_encoder *e); /* sends what was counted */
void ntr_enc_send_repeat(ntr_encoder *e,
                         uint64_t address); /* branch.c: RepeatInstruction; with an address, its synchronizing form */

/* ownership.c */
void ntr_enc_ownership_sync(ntr_encoder *e, const ntr_ingress *block);
void ntr_enc_ownership_repeat(ntr_encoder *e); /* the state of the last message once more: a decoder may start here */
void ntr_enc_trap_value(ntr_encoder *e); /* sends the value of the trap that has just been sent */
void ntr_enc_ownership_change(ntr_encoder *e, const ntr_ingress *block);

/* clock.c */
void ntr_enc_clock_set(ntr_encoder *e, uint64_t time);
void ntr_enc_clock_stamp(ntr_encoder *e, ntr_message *m, uint64_t time);

/* send.c */
ntr_message *ntr_enc_message(ntr_encoder *e, unsigned tcode); /* empty message with TCODE and SRC, to fill and send */
void ntr_enc_send(ntr_encoder *e, ntr_message *m, uint64_t time);
void ntr_enc_keep(ntr_encoder *e, unsigned tcode, const uint8_t *bytes, uint32_t size); /* FIFO or sink */
void ntr_enc_repeat_flush(ntr_encoder *e);
void ntr_enc_recover(ntr_encoder *e, bool force); /* sends the pending Error if there is space, or if `force` */
#define NTR_SET(m, id, member, v) ((m)->present |= NTR_FIELD_BIT(NTR_FIELD_##id), (m)->member = (v))

/* fifo.c */
ntr_status ntr_enc_fifo_new(ntr_encoder *e);
void ntr_enc_fifo_free(ntr_encoder *e);
bool ntr_enc_fifo_has_space(const ntr_encoder *e, uint32_t bytes);
void ntr_enc_fifo_put(ntr_encoder *e, const uint8_t *bytes, uint32_t size);
void ntr_enc_fifo_pass(ntr_encoder *e, uint64_t cycles); /* drains what the rate allows in this time */
bool ntr_enc_fifo_stall(ntr_encoder *e, uint32_t bytes); /* waits for space; false: the sink takes nothing */
void ntr_enc_fifo_drain(ntr_encoder *e); /* gives all messages to the sink, whatever the rate */
/* describe.c */
void ntr_enc_describe(ntr_encoder *e); /* sends Config */

/* frame.c */
/* Gives bytes to the sink, after idle bytes up to the next frame when they do not fit into this one. */
ntr_status ntr_enc_deliver(ntr_encoder *e, const uint8_t *bytes, size_t size);
ntr_status ntr_enc_frame_end(ntr_encoder *e); /* fills the frame */
/* Appends the stray bytes that the dialect's hardware sends after a message; returns the new size. */
uint32_t ntr_enc_add_strays(ntr_encoder *e, const ntr_message *m, uint8_t *bytes, uint32_t size);

bool ntr_enc_fifo_blocked(ntr_encoder *e); /* no space for a block's messages, and the sink takes none */
static inline bool ntr_enc_fifo_exists(const ntr_encoder *e) {
    return e->config.fifo_bytes != 0;
}

/* config.c */
void ntr_encoder_config_normalize(ntr_encoder_config *config);
bool ntr_enc_allows(const ntr_encoder *e, unsigned field, unsigned value); /* SYNC and EVCODE: not reserved */

#endif
