/* Dialects: constant tables of how streams of older hardware and tools differ from N-Trace 1.0. docs/dialects.md
 * describes the differences. */
#ifndef NTRACE_DIALECT_H
#define NTRACE_DIALECT_H

#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set of the rows of messages.def that a stream of the dialect may contain. */
enum {
    NTR_MESSAGES_1_0 = 1u << 0,
    NTR_MESSAGES_SIFIVE = 1u << 1,
    NTR_MESSAGES_TTDFD = 1u << 2,
    NTR_MESSAGES_CTTE = 1u << 3,
    NTR_MESSAGES_DATA = 1u << 4, /* data trace and watchpoints */
    NTR_MESSAGES_ANDES = 1u << 5,
};

/* What TSTAMP of messages that do not synchronize is. */
typedef enum ntr_ts_rule {
    NTR_TS_RULE_DIALECT = 0, /* as in the dialect */
    NTR_TS_RULE_DIFFERENCE,  /* to the TSTAMP before: it is added */
    NTR_TS_RULE_XOR,         /* with the last time */
    NTR_TS_RULE_ABSOLUTE,    /* the time itself, in all messages */
} ntr_ts_rule;

/* What CONTEXT of an Ownership message with FORMAT 0 is. */
typedef enum ntr_context0 {
    NTR_CONTEXT0_DIALECT = 0, /* as in the dialect */
    NTR_CONTEXT0_NONE,        /* it is ignored */
    NTR_CONTEXT0_SCONTEXT,
    NTR_CONTEXT0_HCONTEXT,
} ntr_context0;

typedef struct ntr_dialect {
    const char *name;
    const char *summary; /* one line of description */

    /* Defaults of ntr_params. */
    uint8_t src_bits;
    uint8_t ts_width;
    uint8_t implicit_return; /* ntr_implicit_return */
    uint8_t timestamps;      /* ntr_timestamps */
    uint32_t return_stack;
    uint8_t data_address;    /* ntr_data_address */

    /* Differences from N-Trace 1.0. */
    uint8_t messages;            /* NTR_MESSAGES_* set */
    uint8_t addr_bits;           /* width of addresses, sign-extended without extend_addr; 0: as N-Trace 1.0 */
    uint8_t ts_rule;             /* ntr_ts_rule; 0: difference */
    bool rcode_counts;           /* ResourceFull with RCODE 8 or 9: RDATA0 counts branches not taken or taken */
    bool zero_idle;              /* 0x00 between messages is idle, as 0xFF is */
    bool swap_is_call;           /* a co-routine swap always has a message and only pushes on the return stack */
    bool branch_on_jump;         /* BTM: DirectBranch may end at a direct jump */
    bool jalr_to_next_silent;    /* BTM: no message for JALR to the next instruction */
    bool history_whole;          /* HTM: outcomes of branches after the end of HIST are unknown; else not taken */
    bool trap_counts;            /* ECALL and EBREAK retire; their trap is sent like an indirect jump */
    bool data_loss;              /* Error with ECODE 2: only data messages were lost */
    bool sync_branch_from_faddr; /* TCODE 29: HIST may lack the outcome of the last branch */
    bool any_end_idle;           /* every byte with MSEO 11 between messages is idle */
    bool empty_icnt;             /* I-CNT 0 after fixed fields that end at a byte boundary has no byte */
    bool repeat_xors;            /* RepeatBranch: U-ADDR is applied again in each repetition */
    bool stop_hides_target; /* a stop right after a jump: the jump's message has U-ADDR 0 whatever its target was */
    bool htm_count_sync; /* HTM: SYNC 4 when I-CNT is full */
    uint8_t context0; /* ntr_context0; 0: none */
    const char
        *encoder; /* options of an encoder that writes the dialect, "mode=htm icnt-bits=12"; NULL: there is none */
    bool describes_itself; /* the encoder sends Config before the first synchronizing message */
    bool trap_ownership; /* an Ownership message follows every trap and trap return, whether the context changes or not
                          */
    bool trap_value; /* TrapValue follows the Ownership message of a trap */
    bool drops_stragglers; /* flow messages before a synchronizing one are of the session before: no gap */
    bool untimed_ownership; /* no TSTAMP in Ownership after ProgTraceSync or before TrapValue, and in ProgTraceSync at
                               time 0 */
} ntr_dialect;

/* Returns the dialect of this name, or NULL. Static storage. */
NTR_API const ntr_dialect *ntr_dialect_find(const char *name);

/* Returns the dialect with this index (0 is N-Trace 1.0), or NULL past the last. Static storage. */
NTR_API const ntr_dialect *ntr_dialect_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
