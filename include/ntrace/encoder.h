/* Encoder: turns ingress blocks into N-Trace messages. N-Trace 1.0 sections 6 to 13.
 *
 * Use: set up a config (ntr_encoder_config_init, then its members or ntr_encoder_option_set), create one encoder per
 * hart, push the blocks of the hart in order, and end with ntr_encoder_stop and ntr_encoder_flush. The encoder calls
 * the sink once for every complete message. The work per block is bounded; only ntr_encoder_new and
 * ntr_encoder_reconfigure allocate.
 *
 * The encoder is late by one block: the message of a jump, a trap or a synchronization contains the address of the
 * next block. It is sent when that block is pushed, or by ntr_encoder_stop. */
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

/* trTeInstSyncMode: the unit of the period of SYNC=2 (periodic synchronization). */
typedef enum ntr_sync_mode {
    NTR_SYNC_MODE_OFF = 0,
    NTR_SYNC_MODE_MESSAGES = 1, /* messages except synchronizing messages and Ownership (TC-9) */
    NTR_SYNC_MODE_CYCLES = 2,   /* ingress cycles and ntr_encoder_tick */
    NTR_SYNC_MODE_HALFWORDS = 3, /* retired halfwords */
} ntr_sync_mode;

/* How repeated_history (HTM) divides the history into messages. The branches are the same in all of them. */
typedef enum ntr_history_repeats {
    NTR_REPEATS_ANY = 0, /* the messages of the least total size */
    NTR_REPEATS_WHOLE,   /* RCODE 2 for equal full registers only */
    NTR_REPEATS_QUICK,   /* a few percent larger than NTR_REPEATS_ANY, in a tenth of the time */
} ntr_history_repeats;

/* Ownership messages (trTeContext). */
typedef enum ntr_ownership {
    NTR_OWNERSHIP_OFF = 0,
    NTR_OWNERSHIP_SCONTEXT, /* one message with scontext */
    NTR_OWNERSHIP_HCONTEXT, /* one with scontext, one with hcontext: two after every synchronizing message */
    NTR_OWNERSHIP_VIRTUAL,  /* as SCONTEXT while hcontext has always been 0, then as HCONTEXT */
} ntr_ownership;

/* Set of messages that carry TSTAMP. Synchronizing messages always carry it. */
enum {
    NTR_TS_MESSAGE_BRANCH = 1u << 0,      /* branch messages and RepeatBranch */
    NTR_TS_MESSAGE_RESOURCE = 1u << 1,    /* ResourceFull */
    NTR_TS_MESSAGE_OWNERSHIP = 1u << 2,   /* Ownership */
    NTR_TS_MESSAGE_ERROR = 1u << 3,       /* Error */
    NTR_TS_MESSAGE_CORRELATION = 1u << 4, /* ProgTraceCorrelation */
    NTR_TS_MESSAGE_ALL = 0x1f,
};

/* Receives one complete message; `bytes` is valid during the call. Returns NTR_OK, or NTR_E_SPACE when the sink has no
 * space: the message then stays in the FIFO and is offered again later. The call of the encoder that made the message
 * returns any other status, and NTR_E_SPACE too if there is no FIFO. */
typedef ntr_status (*ntr_message_sink)(void *user, const uint8_t *bytes, size_t size);

/* ---- filters (trTeInstFilters; trace-control section 5) ----------------------------------------- */

#define NTR_FILTERS_MAX 16

/* A filter matches a block if all conditions that are switched on hold. The address condition tests the first
 * address of the block. */
typedef struct ntr_filter {
    bool match_address, match_priv, match_scontext, match_hcontext, match_impdef;
    bool match_exception;           /* window: from an exception with a listed cause to the return from it */
    bool match_interrupt;           /* window: from an interrupt with a listed cause to the return from it */
    uint8_t priv;                   /* bit n: ntr_priv n */
    uint64_t first, last;           /* iaddr in [first, last] */
    uint64_t scontext, hcontext;
    uint64_t impdef, impdef_mask;   /* bits of `impdef` set in the mask must be equal */
    uint64_t causes;                /* bit n: cause n; 0: every cause */
    uint64_t reserved[4];           /* must be 0; for later members */
} ntr_filter;

/* Parses "addr=0x80000000-0x80000fff,priv=m+s,scontext=5,hcontext=1,exception=2+13,interrupt,impdef=1/3".
 * Errors: NTR_E_SYNTAX, NTR_E_RANGE, NTR_E_NAME; *column (may be NULL) is then the 0-based column of the error. */
NTR_API ntr_status ntr_filter_parse(const char *text, ntr_filter *filter, size_t *column);

/* Result of a qualifier (a set). */
enum {
    NTR_QUALIFY_TRACE = 1u << 0,  /* the block is traced */
    NTR_QUALIFY_NOTIFY = 1u << 1, /* a synchronizing message with SYNC=6 follows the block */
};

/* Decides if a block is traced. It is called once for every block, in order, also while tracing is off. The system
 * model implements its filter registers with it. Returns an NTR_QUALIFY_* set. */
typedef unsigned (*ntr_qualifier)(void *user, const ntr_ingress *block);

/* ---- configuration ------------------------------------------------------------------------------ */

typedef struct ntr_encoder_config {
    size_t size;       /* sizeof(ntr_encoder_config) */
    ntr_params params; /* stream parameters, which the decoder needs too: widths of SRC and TSTAMP, implicit
                        * return mode and depth (1..32, 0: 32), sequential jump, MSB extension, all-jumps.
                        * Messages carry TSTAMP only if `timestamps` is NTR_TIMESTAMPS_ON */
    uint16_t src_id;   /* value of SRC */
    uint8_t mode;      /* ntr_inst_mode */
    uint8_t icnt_bits; /* 0: 22 */
    uint8_t hist_bits; /* with the stop-bit; 0: 32 */
    const ntr_allocator *allocator; /* may be NULL; must live as long as the encoder */
    ntr_message_sink sink;          /* must not be NULL */
    void *sink_user;                /* passed to the sink */

    uint8_t hrepeat_bits, bcnt_bits; /* 0: 18 */
    uint8_t itype_width;      /* 3 or 4; 0: 4 */
    uint8_t compare_bits;     /* NTR_RETURN_PARTIAL: number of address bits compared, from bit 1 up; 0: 16 */
    bool inhibit_src;         /* trTeInhibitSrc */
    bool btype_detail;        /* B-TYPE 2 for exceptions and 3 for interrupts; else 1 for both */
    bool repeated_history;    /* RCODE 2 in HTM, RepeatBranch in BTM */
    uint8_t history_repeats;  /* ntr_history_repeats */
    bool repeat_branch;       /* RepeatBranch in HTM too; N-Trace 1.0 defines it for BTM only (OQ-3) */
    bool icnt_full_sync;      /* BTM: a full I-CNT makes a message with SYNC=4 instead of ResourceFull */
    bool full_after;          /* ResourceFull includes the block that fills the counter */
    bool hist_first;          /* I-CNT and HIST full at the same block: HIST is sent first, else I-CNT (OQ-4) */
    bool empty_hist;          /* HTM, empty history: TCODE 28 and 29 with HIST=1 instead of TCODE 4 and 12 */
    bool empty_cdf_0;         /* HTM, empty history: ProgTraceCorrelation with CDF=0, not CDF=1 and HIST=1 (OQ-10) */
    bool announce;            /* send the optional ProgTraceCorrelation messages (sections 9, 10) */
    bool sync_exact;          /* periodic synchronization at the next block (section 9, case 6a); else at the next
                      * branch message (6b) */
    uint8_t sync_mode;        /* ntr_sync_mode */
    uint8_t sync_max;         /* period 2^(sync_max + 4), 0..15 */
    uint8_t start_sync;       /* SYNC of the first message */
    uint8_t stop_evcode;      /* EVCODE of the last message; callers pass it to ntr_encoder_stop */
    uint8_t ts_prescale;      /* TSTAMP counts time / 4^ts_prescale, 0..3 */
    uint8_t ts_messages;      /* NTR_TS_MESSAGE_* set */
    uint8_t ownership;        /* ntr_ownership */
    bool scontext_first;      /* after a synchronizing message: scontext before hcontext (OQ-16) */

    bool trigger_enable;      /* trTeInstTrigEnable: triggers may change trTeInstTracing */
    bool stall;               /* trTeInstStallEna: the hart waits for space in the FIFO (128 bytes) instead of losing
                 * messages */
    uint32_t fifo_bytes;      /* 0: no FIFO, the sink gets messages at once; else 76 or more */
    uint32_t fifo_restart;    /* after a loss, sending resumes when at most this many bytes are left */
    uint32_t drain_bytes, drain_cycles; /* drain rate: bytes per cycles; 0 bytes: no limit */

    uint8_t filter_count;     /* 0: no filter; else a block is traced if at least one filter matches it */
    ntr_filter filters[NTR_FILTERS_MAX];
    ntr_qualifier qualify;    /* may be NULL; a block is traced only if the filters and this allow it */
    void *qualify_user;
    uint16_t
        frame_bytes; /* no message crosses a multiple of so many bytes; the space before it is idle. 0: no frames */
    bool frame_closes; /* a frame ends when less than 32 bytes would be left after the message */
    bool repeat_instruction; /* a branch or jump to itself: its repetitions are one message (RepeatInstruction) */
    uint32_t device_id; /* value of DeviceID, which is sent before each start; 0: none */
    bool check_returns; /* NTR_RETURN_COUNT: a return that does not go to the instruction after its call gets a message,
                         * as with NTR_RETURN_FULL. Encoders in hardware, which only count, cannot do so */
    bool reserved_codes; /* allow reserved values of SYNC and EVCODE, for tests of decoders */
    bool early_returns; /* a return is also inferred in the message that reports its call, as the reference encoder
                         * does, against section 11.2 (OQ-18) */
} ntr_encoder_config;

/* Sets the defaults: HTM, the largest widths of the specification, no optimization, no FIFO. `size` is the size of the
 * caller's struct in bytes. */
NTR_API void ntr_encoder_config_defaults(ntr_encoder_config *config, size_t size);

/* Sets the defaults in a struct of this version of the header. */
static inline void ntr_encoder_config_init(ntr_encoder_config *config) {
    ntr_encoder_config_defaults(config, sizeof *config);
}

/* Checks a config. Errors: NTR_E_RANGE (a value is outside its limits), NTR_E_INVALID (values exclude each other, or
 * `size` is not set). *why (`why` may be NULL) is then a text with the option and its limit, in static storage. */
NTR_API ntr_status ntr_encoder_config_check(const ntr_encoder_config *config, const char **why);

/* ---- options by name, for command line, plugin and topology files --------------------------------- */

typedef enum ntr_option_argument {
    NTR_OPTION_FLAG, /* --name, --no-name; the value is "on" or "off" */
    NTR_OPTION_OPTIONAL, /* --name or --name=VALUE */
    NTR_OPTION_VALUE, /* --name VALUE */
} ntr_option_argument;

typedef struct ntr_encoder_option {
    const char *name; /* "icnt-bits" */
    const char *value; /* form of the value: "N", "btm|htm"; "off|on" for a flag */
    const char *help; /* one line of help */
    uint8_t argument; /* ntr_option_argument */
    bool numeric; /* the value is a number from `least` to `most` */
    uint64_t least, most;
} ntr_encoder_option;

/* Returns the option with this index, or NULL past the last. Static storage. */
NTR_API const ntr_encoder_option *ntr_encoder_option_at(size_t index);

/* Sets one option. `value` is NULL for a flag without a value. "best" sets several members; "filter" adds a filter.
 * Errors: NTR_E_NAME (no such option), NTR_E_SYNTAX, NTR_E_RANGE, NTR_E_LIMIT (too many filters). */
NTR_API ntr_status ntr_encoder_option_set(ntr_encoder_config *config, const char *name, const char *value);

/* Writes the value of an option as text that ntr_encoder_option_set accepts. Returns the length without the NUL, or a
 * negative ntr_status: NTR_E_NAME (no such option, or one without a single value: "filter", "best"), NTR_E_SPACE. */
NTR_API int ntr_encoder_option_get(const ntr_encoder_config *config, const char *name, char *out, size_t capacity);

/* ---- the encoder ---------------------------------------------------------------------------------- */

/* Makes an encoder that is enabled, with tracing on. The config is copied. Errors: as ntr_encoder_config_check,
 * NTR_E_INVALID (no sink) or NTR_E_MEMORY. */
NTR_API ntr_status ntr_encoder_new(const ntr_encoder_config *config, ntr_encoder **out);

/* Frees the encoder; NULL is allowed. Messages in the FIFO are lost: call ntr_encoder_flush before. */
NTR_API void ntr_encoder_free(ntr_encoder *encoder);

/* Encodes one block. Returns NTR_NEED_MORE when `stall` is set, the FIFO is full and the sink has no space: the hart
 * has to wait, and the caller pushes the same block again. Errors: NTR_E_INGRESS (the block is inconsistent; the
 * state of the encoder is unchanged, and ntr_encoder_error returns the reason), errors of the sink. */
NTR_API ntr_status ntr_encoder_push(ntr_encoder *encoder, const ntr_ingress *block);

/* Returns the reason of the last refused block, "record 17: itype 7 is reserved", or "" when none was refused. Records
 * are numbered from 1. The text belongs to the encoder and is valid until the next push. */
NTR_API const char *ntr_encoder_error(const ntr_encoder *encoder);

/* A load or store of the hart: the data side of the ingress port. */
typedef struct ntr_data_record {
    uint8_t access; /* ntr_data_access of message.h */
    uint8_t bytes; /* size: 0 to 8 */
    uint64_t address, data;
} ntr_data_record;

/* Sends a data message for an access of the blocks pushed so far, if a trace window is open. The first one after each
 * synchronizing message is DataWriteSync or DataReadSync, the others have relative addresses. Errors: NTR_E_STATE
 * (params.dialect has no data messages: "nexus-data" and "ctte" have), NTR_E_RANGE, errors of the sink. */
NTR_API ntr_status ntr_encoder_access(ntr_encoder *encoder, const ntr_data_record *record);

/* Ends tracing: sends the pending branch message and ProgTraceCorrelation with this EVCODE. `next` is the address
 * where execution stopped. With NTR_ADDRESS_UNKNOWN the target of a pending indirect jump is not sent;
 * ProgTraceCorrelation then only counts up to the jump. A later push starts again, with SYNC 3 after EVCODE 0, 9
 * after EVCODE 1 and 5 after others. Messages may stay in the FIFO until ntr_encoder_flush. No effect while nothing
 * is traced. Errors: NTR_E_RANGE (`evcode` above 15, reserved without
 * `reserved_codes`, or an odd address), errors of the sink. */
NTR_API ntr_status ntr_encoder_stop(ntr_encoder *encoder, uint64_t next, unsigned evcode);

/* Gives all messages in the FIFO to the sink, whatever the drain rate. Errors: as the sink. */
NTR_API ntr_status ntr_encoder_flush(ntr_encoder *encoder);

typedef struct ntr_encoder_status {
    bool enabled; /* trTeEnable */
    bool tracing; /* trTeInstTracing, which triggers change too */
    bool active; /* a trace window is open: the last block was traced */
    bool empty; /* trTeEmpty: all messages have reached the sink */
    bool stall_or_overflow; /* trTeInstStallOrOverflow, sticky */
    bool losing; /* messages are being lost now */
    uint32_t fifo_used; /* bytes */
    uint64_t cycles, stall_cycles;
    uint64_t blocks, halfwords; /* accepted blocks; halfwords retired in trace windows */
    uint64_t messages, bytes, syncs; /* messages kept, their bytes; synchronizing messages made */
    uint64_t overflows; /* number of losses; each may lose many messages */
    uint64_t lost_messages, lost_bytes; /* messages lost by overflow */
    uint64_t lost_halfwords; /* retired in trace windows, but in no I-CNT that was kept. The history of a
                              * ResourceFull message that was kept may cover some of them */
    uint64_t misplaced_returns; /* NTR_RETURN_COUNT: not to the instruction after their call. The stream says that they
                                 * were, up to the next synchronizing message */
    uint64_t reserved[7]; /* must be 0; for later members */
} ntr_encoder_status;

/* Fills the state and the counters. */
NTR_API void ntr_encoder_status_get(const ntr_encoder *encoder, ntr_encoder_status *status);

#ifdef __cplusplus
}
#endif
#endif
