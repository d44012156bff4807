/* Encoder: ingress blocks in, N-Trace messages out. N-Trace 1.0 sections 6 to 13.
 *
 * One encoder per hart. Every message is given whole to the sink; nothing partial is ever emitted. Work
 * per block is constant and nothing is allocated after ntr_encoder_new.
 *
 * The encoder looks one block behind: the message that a jump, a trap or a synchronization makes needs
 * the address of the next block and is emitted when that block is pushed (or by ntr_encoder_stop). */
#ifndef NTRACE_ENCODER_H
#define NTRACE_ENCODER_H

#include <ntrace/allocator.h>
#include <ntrace/ingress_block.h>
#include <ntrace/params.h>
#include <ntrace/status.h>
#include <ntrace/values.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_encoder ntr_encoder;

typedef enum ntr_inst_mode { NTR_INST_MODE_BTM = 3, NTR_INST_MODE_HTM = 6 } ntr_inst_mode; /* trTeInstMode */

/* trTeInstSyncMode: what the period of SYNC=2 counts. */
typedef enum ntr_sync_mode {
    NTR_SYNC_MODE_OFF = 0,
    NTR_SYNC_MODE_MESSAGES = 1, /* messages, except synchronizing ones and Ownership (TC-9) */
    NTR_SYNC_MODE_CYCLES = 2,   /* ingress cycles and ntr_encoder_tick */
    NTR_SYNC_MODE_HALFWORDS = 3,
} ntr_sync_mode;

/* Ownership messages (trTeContext). */
typedef enum ntr_ownership {
    NTR_OWNERSHIP_OFF = 0,
    NTR_OWNERSHIP_SCONTEXT, /* the hart has scontext only */
    NTR_OWNERSHIP_HCONTEXT, /* it has hcontext too: two messages after every sync */
} ntr_ownership;

/* Which messages carry a TSTAMP besides the synchronizing ones (a set). */
enum {
    NTR_TS_BRANCH = 1u << 0,      /* branch messages and RepeatBranch */
    NTR_TS_RESOURCE = 1u << 1,    /* ResourceFull */
    NTR_TS_OWNERSHIP = 1u << 2,   /* Ownership */
    NTR_TS_ERROR = 1u << 3,       /* Error */
    NTR_TS_CORRELATION = 1u << 4, /* ProgTraceCorrelation */
    NTR_TS_ALL = 0x1f,
};

/* Takes one whole message. NTR_E_SPACE: no room now; with a FIFO the message stays there and is offered
 * again. Anything else but NTR_OK is given back by the call that made the message. */
typedef ntr_status (*ntr_message_sink)(void *user, const uint8_t *bytes, size_t size);

/* ---- filters (trTeInstFilters; trace-control section 5) ----------------------------------------- */

#define NTR_FILTERS_MAX 16

/* All conditions that are on must hold. A block is judged as a whole, by its first address. */
typedef struct ntr_filter {
    bool match_address, match_priv, match_scontext, match_hcontext, match_impdef;
    bool match_exception;           /* window: from a trap of itype 1 with a listed cause to its return */
    bool match_interrupt;           /* window: from a trap of itype 2 with a listed cause to its return */
    uint8_t priv;                   /* bit n: ntr_priv n */
    uint64_t first, last;           /* iaddr in [first, last] */
    uint64_t scontext, hcontext;
    uint64_t impdef, impdef_mask;
    uint64_t causes;                /* bit n: cause n; 0: every cause */
    uint64_t reserved[4];           /* zero */
} ntr_filter;

/* Parse "addr=0x80000000-0x80000fff,priv=m+s,scontext=5,hcontext=1,exception=2+13,interrupt,impdef=1/3".
 * Errors: NTR_E_SYNTAX, NTR_E_RANGE, NTR_E_NAME; then *column (may be NULL) is the place of the mistake. */
NTR_API ntr_status ntr_filter_parse(const char *text, ntr_filter *filter, size_t *column);

/* What a qualifier says of a block (a set). */
enum {
    NTR_QUALIFY_TRACE = 1u << 0,  /* trace it */
    NTR_QUALIFY_NOTIFY = 1u << 1, /* and report the address of its last instruction (SYNC=6) */
};

/* Asked once for every block, in order, whether tracing is on or not: the register model's filters. */
typedef unsigned (*ntr_qualifier)(void *user, const ntr_ingress *block);

/* ---- configuration ------------------------------------------------------------------------------ */

typedef struct ntr_encoder_config {
    size_t size;       /* sizeof(ntr_encoder_config) */
    ntr_params params; /* what a reader of the stream will have to know: SRC and timestamp width, implicit
                        * return mode and depth (1..32, 0: 32), sequential jump, MSB extension, all-jumps.
                        * `timestamps` NTR_TIMESTAMPS_ON: messages carry TSTAMP; any other value: none do */
    uint16_t src_id;
    uint8_t mode;      /* ntr_inst_mode */
    uint8_t icnt_bits; /* 0: 22 */
    uint8_t hist_bits; /* with the stop-bit; 0: 32 */
    const ntr_allocator *allocator;
    ntr_message_sink sink;
    void *sink_user;

    uint8_t hrepeat_bits, bcnt_bits; /* 0: 18 */
    uint8_t itype_width;      /* 3 or 4; 0: 4 */
    uint8_t compare_bits;     /* NTR_RETURN_PARTIAL: low bits (from bit 1 on) of return addresses kept; 0: 16 */
    bool inhibit_src;         /* trTeInhibitSrc */
    bool btype_detail;        /* B-TYPE 2 and 3; else 1 for both */
    bool repeated_history;    /* RCODE 2 in HTM, RepeatBranch in BTM */
    bool whole_repeats;       /* RCODE 2 for equal full registers only; else history is split wherever it gets smaller */
    bool repeat_branch;       /* send RepeatBranch in HTM too; 1.0 has it in BTM only (OQ-3) */
    bool icnt_full_sync;      /* BTM: SYNC=4 when I-CNT is full, instead of ResourceFull */
    bool full_after;          /* ResourceFull holds the instruction that filled the counter, too */
    bool hist_first;          /* I-CNT and HIST full at once: send HIST first, not I-CNT (OQ-4) */
    bool empty_hist;          /* HTM without history: TCODE 28 / 29 with HIST=1, instead of 4 / 12 */
    bool empty_cdf_0;         /* HTM: ProgTraceCorrelation without history has CDF=0, not CDF=1 and HIST=1 (OQ-10) */
    bool announce;            /* send the correlation messages that are optional (sections 9, 10) */
    bool sync_exact;          /* periodic sync right at the event, on whatever code (case 6a); else 6b */
    uint8_t sync_mode;        /* ntr_sync_mode */
    uint8_t sync_max;         /* period 2^(sync_max + 4), 0..15 */
    uint8_t start_sync;       /* SYNC of the first message */
    uint8_t stop_evcode;      /* EVCODE that ends a run (for those who call ntr_encoder_stop) */
    uint8_t ts_prescale;      /* time / 2^(2 * ts_prescale), 0..3 */
    uint8_t ts_messages;      /* NTR_TS_* set */
    uint8_t ownership;        /* ntr_ownership */
    bool scontext_first;      /* after a sync: send scontext before hcontext (OQ-16) */

    bool trigger_enable;      /* trTeInstTrigEnable: triggers may change trTeInstTracing */
    bool stall;               /* trTeInstStallEna: the hart waits for room (128 bytes) instead of losing messages */
    uint32_t fifo_bytes;      /* 0: no FIFO, messages go straight to the sink; else 76 and more */
    uint32_t fifo_restart;    /* after a loss wait until at most so many bytes are left; 0: until it is empty */
    uint32_t drain_bytes, drain_cycles; /* the FIFO gives `drain_bytes` every `drain_cycles` cycles; 0 bytes: all at once */

    uint8_t filter_count;     /* 0: trace everything; else what any of the filters lets pass */
    ntr_filter filters[NTR_FILTERS_MAX];
    ntr_qualifier qualify;    /* may be NULL; both this and the filters must let a block pass */
    void *qualify_user;
} ntr_encoder_config;

/* Defaults: HTM, widths at the specification's maximum, every optimization off, no FIFO. `size`: bytes of the caller's
 * struct. */
NTR_API void ntr_encoder_config_defaults(ntr_encoder_config *config, size_t size);

static inline void ntr_encoder_config_init(ntr_encoder_config *config) {
    ntr_encoder_config_defaults(config, sizeof *config);
}

/* NTR_OK, NTR_E_RANGE (a value outside its limits) or NTR_E_INVALID (values that exclude each other).
 * `*why` (may be NULL) then names the option and the limit. Static storage. */
NTR_API ntr_status ntr_encoder_config_check(const ntr_encoder_config *config, const char **why);

/* ---- options by name: one list for command line, plugin and topology files ----------------------- */

typedef enum ntr_option_argument {
    NTR_OPTION_FLAG,     /* --name, --no-name; as a value "on" or "off" */
    NTR_OPTION_OPTIONAL, /* --name or --name=VALUE */
    NTR_OPTION_VALUE,    /* --name VALUE */
} ntr_option_argument;

typedef struct ntr_encoder_option {
    const char *name;    /* "icnt-bits" */
    const char *value;   /* how usage shows the value: "N", "btm|htm"; a flag's are "off|on" */
    const char *help;    /* one line */
    uint8_t argument;    /* ntr_option_argument */
    bool numeric;
    uint64_t least, most;/* limits when numeric */
} ntr_encoder_option;

/* The index-th option, NULL past the last. */
NTR_API const ntr_encoder_option *ntr_encoder_option_at(size_t index);

/* Set one option; `value` NULL stands for a flag given without value. "best" sets several; "filter" adds
 * one. Errors: NTR_E_NAME (no such option), NTR_E_SYNTAX, NTR_E_RANGE, NTR_E_LIMIT (too many filters). */
NTR_API ntr_status ntr_encoder_option_set(ntr_encoder_config *config, const char *name, const char *value);

/* The option's value as text that ntr_encoder_option_set takes ("filter": not supported, NTR_E_NAME).
 * Returns the length or a negative ntr_status. */
NTR_API int ntr_encoder_option_get(const ntr_encoder_config *config, const char *name, char *out, size_t capacity);

/* ---- life ---------------------------------------------------------------------------------------- */

/* The encoder starts enabled with tracing on. Errors (*status, may be NULL): as ntr_encoder_config_check,
 * NTR_E_MEMORY. */
NTR_API ntr_encoder *ntr_encoder_new(const ntr_encoder_config *config, ntr_status *status);
NTR_API void ntr_encoder_free(ntr_encoder *encoder);

/* Feed one block. NTR_NEED_MORE: with `stall`, the FIFO is full and the sink has no room; the hart waits, push the
 * same block again. Errors: NTR_E_INGRESS (inconsistent; the encoder's state is unchanged and
 * ntr_encoder_error tells why), the sink's. */
NTR_API ntr_status ntr_encoder_push(ntr_encoder *encoder, const ntr_ingress *block);

/* "record 17: itype 7 is reserved": why the last push was refused; "" when none was. Records count from 1. */
NTR_API const char *ntr_encoder_error(const ntr_encoder *encoder);

/* Tracing ends here: emit what is pending and the ProgTraceCorrelation with this EVCODE. `next` is the
 * address execution stopped at, or NTR_ADDRESS_UNKNOWN: a jump still pending is then told by I-CNT only.
 * A push after it starts again, with SYNC 3 after EVCODE 0, 9 after EVCODE 1 and 5 after the others.
 * With a FIFO: ntr_encoder_flush empties it. Without effect while nothing is traced. */
NTR_API ntr_status ntr_encoder_stop(ntr_encoder *encoder, uint64_t next, unsigned evcode);

/* Everything in the FIFO goes to the sink now, whatever the drain rate. Errors: the sink's. */
NTR_API ntr_status ntr_encoder_flush(ntr_encoder *encoder);

/* ---- run-time control: what the registers of a trace encoder do ----------------------------------- */

/* Set trTeEnable. Clearing it also clears trTeInstTracing (TC-6); setting it clears the stall-or-overflow flag (TC-7). */
NTR_API ntr_status ntr_encoder_set_enable(ntr_encoder *encoder, bool on);

/* trTeInstTracing by software. 1->0 takes effect at the next block when a jump is pending (its target
 * is sent first), else at once. Errors: NTR_E_STATE (trTeEnable is 0). */
NTR_API ntr_status ntr_encoder_set_tracing(ntr_encoder *encoder, bool on);

/* External trigger (NTR_TRIGGER_* set), acting between two blocks: notify makes SYNC=0. Without effect
 * on tracing unless trigger_enable. */
NTR_API ntr_status ntr_encoder_trigger(ntr_encoder *encoder, unsigned actions);

/* Ask for a synchronizing message with this reason (NTR_SYNC_*) at the next block. */
NTR_API ntr_status ntr_encoder_request_sync(ntr_encoder *encoder, unsigned reason);

/* Cycles without ingress pass: the FIFO drains, cycle counters count. */
NTR_API ntr_status ntr_encoder_tick(ntr_encoder *encoder, uint64_t cycles);

/* New configuration. `sink` and `allocator` stay as they are. Errors: NTR_E_STATE (enabled, or
 * not empty), as ntr_encoder_config_check, NTR_E_MEMORY. */
NTR_API ntr_status ntr_encoder_reconfigure(ntr_encoder *encoder, const ntr_encoder_config *config);

typedef struct ntr_encoder_status {
    bool enabled;           /* trTeEnable */
    bool tracing;           /* trTeInstTracing, also as changed by triggers */
    bool active;            /* a window is open: the last block was traced */
    bool empty;             /* trTeEmpty: every message made has reached the sink */
    bool stall_or_overflow; /* trTeInstStallOrOverflow, sticky */
    bool losing;            /* messages are being lost now */
    uint32_t fifo_used;     /* bytes */
    uint64_t cycles, stall_cycles;
    uint64_t blocks, halfwords;           /* pushed and accepted; halfwords only of traced windows */
    uint64_t messages, bytes, syncs;      /* made and kept */
    uint64_t overflows;                   /* times that messages began to be lost */
    uint64_t lost_messages, lost_bytes;   /* made and dropped */
    uint64_t lost_halfwords;              /* retired in traced windows, in no I-CNT that was kept; a ResourceFull with
                                             history that was kept may lead through some of them */
    uint64_t reserved[8]; /* must be 0; for later members */
} ntr_encoder_status;

NTR_API void ntr_encoder_status_get(const ntr_encoder *encoder, ntr_encoder_status *status);

/* Write 1 to trTeInstStallOrOverflow. */
NTR_API void ntr_encoder_clear_overflow(ntr_encoder *encoder);

#ifdef __cplusplus
}
#endif
#endif
