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
    NTR_MESSAGES_DATA = 1u << 4, /* data trace and watchpoints */
};

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
    bool ts_xor;                 /* TSTAMP of messages that do not synchronize is an XOR instead of a difference */
    bool rcode_counts;           /* ResourceFull with RCODE 8 or 9: RDATA0 counts branches not taken or taken */
    bool zero_idle;              /* 0x00 between messages is idle, as 0xFF is */
    bool swap_is_call;           /* a co-routine swap always has a message and only pushes on the return stack */
    bool branch_on_jump;         /* BTM: DirectBranch may end at a direct jump */
    bool jalr_to_next_silent;    /* BTM: no message for JALR to the next instruction */
    bool history_whole;          /* HTM: outcomes of branches after the end of HIST are unknown; else not taken */
    bool trap_counts;            /* ECALL and EBREAK retire; their trap is sent like an indirect jump */
    bool data_loss;              /* Error with ECODE 2: only data messages were lost */
    bool sync_branch_from_faddr; /* TCODE 29: HIST may lack the outcome of the last branch */
} ntr_dialect;

/* Returns the dialect of this name, or NULL. Static storage. */
NTR_API const ntr_dialect *ntr_dialect_find(const char *name);

/* Returns the dialect with this index (0 is N-Trace 1.0), or NULL past the last. Static storage. */
NTR_API const ntr_dialect *ntr_dialect_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
