/* The encoder's state, and what its parts do with it. Private to the encoder's files.
 *
 * A block passes through the parts in this order:
 *   check     is it consistent                              check.c
 *   filter    do the filters let it pass                    filter.c
 *   window    does tracing start or stop here               window.c
 *   branch    the message that waited for this address      branch.c
 *   ownership has the context changed                       ownership.c
 *   count     I-CNT, HIST and the next message to wait for  count.c
 * and every message through these:
 *   clock     TSTAMP                                        clock.c
 *   send      bytes, loss, repeats                          send.c
 *   fifo      room and rate                                 fifo.c */
#ifndef NTR_ENCODER_STATE_H
#define NTR_ENCODER_STATE_H

#include <ntrace/encoder.h>
#include <ntrace/message.h>

#define RETURN_STACK_MAX 32
#define HIST_EMPTY 1u  /* the stop bit alone */
#define MESSAGE_MAX 96 /* bytes; the longest standard message has 36 (OQ-11), the rest lets it be written in words */

/* The message that the last block made, as far as it is known without the next address. */
typedef enum pending_kind {
    PENDING_NONE,
    PENDING_DIRECT,   /* BTM: taken branch */
    PENDING_INDIRECT, /* uninferable jump, or trap (btype not 0) */
    PENDING_RETURN,   /* return: PENDING_INDIRECT unless the next address is `expected` */
} pending_kind;

typedef struct pending_branch {
    uint8_t kind; /* pending_kind */
    uint8_t btype;
    uint64_t expected;
    uint64_t time;
} pending_branch;

/* The last branch message without SYNC, for RepeatBranch. */
typedef struct last_branch {
    bool valid;
    uint8_t tcode, btype;
    uint32_t repeats; /* not sent yet */
    uint64_t icnt, hist, target, uaddr;
    uint64_t whole;   /* all history since the branch message before, if one HIST can hold it; else 0 */
    uint64_t time;    /* of the last repeat */
} last_branch;

/* HIST filled and held back while the same comes again. */
typedef struct held_history {
    uint64_t rdata;
    uint32_t count; /* 0: nothing is held */
    uint64_t time;
} held_history;

typedef struct return_stack {
    uint64_t address[RETURN_STACK_MAX];
    uint8_t top, count;
} return_stack;

typedef struct fifo {
    uint8_t *ring; /* messages, each behind one byte that tells its length */
    uint32_t capacity, head, tail;
    uint32_t used;      /* bytes of messages in it, less `drained` */
    uint32_t drained;   /* bytes of the oldest message that have left already */
    uint64_t remainder; /* of the division by drain_cycles */
} fifo;

/* A loss by overflow, from the first dropped message until Error is sent. */
typedef struct loss {
    bool owed;      /* Error is still to be sent */
    uint8_t ecode;
    uint64_t time;  /* of the first loss */
} loss;

typedef struct patterns patterns;

/* Members are in order of duty, not of size. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct ntr_encoder {
    ntr_encoder_config config; /* normalized: no zero stands for a default */
    ntr_params params;         /* as the message room needs them */
    bool htm, repeat_branch, timestamps, filtered;
    bool takes_runs;           /* ntr_enc_push_run is allowed */
    bool quick_runs;           /* and each of their messages follows from I-CNT, HIST and REF alone */
    bool simple;               /* HTM, and nothing configured that a plain block could set off */
    uint64_t icnt_full;        /* I-CNT reaching this is full */
    uint64_t hist_full;        /* HIST reaching this is full */
    uint64_t compare_mask;     /* bits of return addresses that are compared */
    uint64_t sync_period;      /* 0: no periodic sync */

    /* control */
    bool quiet;             /* see quick.h; false is always right */
    bool enabled, tracing;  /* trTeEnable, trTeInstTracing */
    bool active;            /* a window is open */
    bool closing;           /* it closes as soon as the pending jump's target is known */
    bool off_after_cycle;   /* trace-off was seen in this cycle */
    bool down, in_debug;    /* halted, in debug mode or in reset; in debug mode, as priv tells */
    bool announced;         /* the optional EVCODE=0 of this debug session has been sent */
    bool started;           /* anything has been sent or announced yet */
    uint8_t start_reason;   /* SYNC of the next window */
    uint32_t sync_wanted;   /* reasons (1 << SYNC) for a sync at the next block */
    bool periodic_due;
    uint64_t sync_count;    /* towards sync_period */

    /* flow */
    uint64_t icnt, hist, ref;
    pending_branch pending;
    last_branch last;
    held_history held;
    uint64_t fresh_run;     /* the last run (stats.blocks) before which nothing had been counted */
    bool history_sent;      /* some of the history since the last branch message has been sent already */
    return_stack stack;
    patterns *patterns;     /* NULL unless history is split for size */
    uint32_t filter_depth[NTR_FILTERS_MAX];

    /* context last told, and of the block at hand */
    uint8_t told_priv;
    uint64_t told_scontext, told_hcontext;

    /* time, unwrapped */
    uint64_t now, reported;

    /* what follows the last block must be consistent with it */
    bool follow_known;      /* the next block must start at `follow` */
    bool cycle_trapped;     /* the last block of this cycle ended in a trap */
    bool cycle_seen;
    uint8_t cycle_priv;
    uint64_t follow;
    uint64_t cycle_scontext, cycle_hcontext;

    fifo fifo;
    loss loss;
    bool stall_or_overflow;
    ntr_status failure;     /* first failure of the sink in this call */
    ntr_message message;    /* being built; `width` stays 0 */
    ntr_encoder_status stats;
    uint64_t refused;       /* blocks; with those accepted, the record's number for errors */
    char error[160];
};

static inline bool ntr_enc_has_address(const ntr_ingress *block) {
    return block->itype != NTR_ITYPE_NONE || block->iretire ? !block->no_iaddr : false;
}

/* encoder.c: what a call gives back; to be the last thing it does. */
ntr_status ntr_enc_result(ntr_encoder *e);

/* check.c: NTR_OK, or NTR_E_INGRESS with e->error told. */
ntr_status ntr_enc_check(ntr_encoder *e, const ntr_ingress *block);

/* filter.c: NTR_QUALIFY_* of this block. */
unsigned ntr_enc_qualify(ntr_encoder *e, const ntr_ingress *block);

/* window.c */
bool ntr_enc_window(ntr_encoder *e, const ntr_ingress *block, bool qualified); /* is the block to be traced */
void ntr_enc_close(ntr_encoder *e, uint64_t next, unsigned evcode); /* `next` NTR_ADDRESS_UNKNOWN: not known */
void ntr_enc_announce(ntr_encoder *e, unsigned evcode);  /* an optional correlation message */
bool ntr_enc_needs_address(const ntr_encoder *e);        /* a message waits for the next address */

/* branch.c */
bool ntr_enc_resolve(ntr_encoder *e, uint64_t next);       /* emit what waited for the address; was it a sync */
void ntr_enc_resolve_unseen(ntr_encoder *e);                /* the address will never be known */
void ntr_enc_interrupt(ntr_encoder *e, unsigned btype);    /* a trap before the address after the jump is known (OQ-15) */
void ntr_enc_start(ntr_encoder *e, uint64_t address);      /* ProgTraceSync of a new window */
void ntr_enc_icnt_sync(ntr_encoder *e, uint64_t address);  /* SYNC=4 */

/* count.c */
void ntr_enc_count(ntr_encoder *e, const ntr_ingress *block);
unsigned ntr_enc_trap_btype(const ntr_encoder *e, unsigned itype);

/* history.c */
void ntr_enc_history_append(ntr_encoder *e, unsigned taken);
uint64_t ntr_enc_history_whole(const ntr_encoder *e); /* all there is, in one HIST; 0: it needs more messages */
/* Branches that fit the register yet. */
static inline unsigned ntr_enc_history_room(const ntr_encoder *e) {
    return (unsigned)(__builtin_clzll(e->hist) - __builtin_clzll(e->hist_full));
}

void ntr_enc_history_append_many(ntr_encoder *e, uint64_t outcomes, unsigned count); /* the newest in bit 0 */
uint64_t ntr_enc_history_take(ntr_encoder *e); /* send all but the last part, give that back, start anew */
void ntr_enc_history_flush(ntr_encoder *e);    /* send repeats that are held back */
void ntr_enc_history_clear(ntr_encoder *e);
void ntr_enc_history_send(ntr_encoder *e, uint64_t rdata, uint32_t count, uint64_t time);

/* patterns.c: the history split for size. */
ntr_status ntr_enc_patterns_new(ntr_encoder *e);
void ntr_enc_patterns_free(ntr_encoder *e);
void ntr_enc_patterns_append(ntr_encoder *e, unsigned taken);
uint64_t ntr_enc_patterns_whole(const ntr_encoder *e);
uint64_t ntr_enc_patterns_take(ntr_encoder *e);
void ntr_enc_patterns_clear(ntr_encoder *e);

/* return_stack.c */
void ntr_enc_stack_push(ntr_encoder *e, uint64_t address);
bool ntr_enc_stack_pop(ntr_encoder *e, uint64_t *address);
void ntr_enc_stack_clear(ntr_encoder *e);

/* sync.c */
void ntr_enc_sync_progress(ntr_encoder *e, ntr_sync_mode counted, uint64_t amount);
bool ntr_enc_sync_due(const ntr_encoder *e, bool branch);  /* `branch`: a branch message is to be sent anyway */
unsigned ntr_enc_sync_reason(const ntr_encoder *e);
void ntr_enc_sync_done(ntr_encoder *e, uint64_t address);  /* all state that a sync resets */

/* ownership.c */
void ntr_enc_ownership_sync(ntr_encoder *e, const ntr_ingress *block);
void ntr_enc_ownership_change(ntr_encoder *e, const ntr_ingress *block);

/* clock.c */
void ntr_enc_clock_set(ntr_encoder *e, uint64_t time);
void ntr_enc_clock_stamp(ntr_encoder *e, ntr_message *m, uint64_t time);

/* send.c */
ntr_message *ntr_enc_message(ntr_encoder *e, unsigned tcode); /* empty message to fill and send */
void ntr_enc_send(ntr_encoder *e, ntr_message *m, uint64_t time);
void ntr_enc_keep(ntr_encoder *e, unsigned tcode, const uint8_t *bytes, uint32_t size); /* it is not lost */
void ntr_enc_repeat_flush(ntr_encoder *e);
void ntr_enc_recover(ntr_encoder *e, bool force); /* send the Error that is owed, if there is room */
#define NTR_SET(m, id, member, v) ((m)->present |= 1u << NTR_FIELD_##id, (m)->member = (v))

/* fifo.c */
ntr_status ntr_enc_fifo_new(ntr_encoder *e);
void ntr_enc_fifo_free(ntr_encoder *e);
bool ntr_enc_fifo_room(const ntr_encoder *e, uint32_t bytes);
void ntr_enc_fifo_put(ntr_encoder *e, const uint8_t *bytes, uint32_t size);
void ntr_enc_fifo_pass(ntr_encoder *e, uint64_t cycles);
bool ntr_enc_fifo_stall(ntr_encoder *e, uint32_t bytes); /* wait until there is room; false: the sink is blocked */
void ntr_enc_fifo_drain(ntr_encoder *e);                 /* everything, at once */
bool ntr_enc_fifo_blocked(ntr_encoder *e);               /* no room for a block's messages, and the sink takes none */
static inline bool ntr_enc_fifo_exists(const ntr_encoder *e) { return e->config.fifo_bytes != 0; }

/* config.c */
void ntr_encoder_config_normalize(ntr_encoder_config *config);

#endif
