/* Making ingress blocks (ingress_block.h): from their text form, and, with the classifier, from what was executed:
 * code blocks, lists of program counters, Spike logs. */
#ifndef NTRACE_INGRESS_H
#define NTRACE_INGRESS_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/ingress_block.h>
#include <ntrace/isa.h>
#include <ntrace/program.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- text form: comma-separated, docs/ingress.md ------------------------------------------------- */

#define NTR_INGRESS_COLUMNS 17
#define NTR_INGRESS_TEXT_MAX 320 /* longest line ntr_ingress_format can make, with NUL */

/* Reads lines; the first one that is neither blank nor comment names the columns. */
typedef struct ntr_ingress_reader {
    uint8_t columns[NTR_INGRESS_COLUMNS];
    uint8_t count;   /* 0: the header has not been read */
    uint64_t line;   /* lines read so far */
    uint64_t record; /* records given out so far */
    char error[120]; /* about the last failure: "column itype: \"x\" is not a number" */
} ntr_ingress_reader;

NTR_API void ntr_ingress_reader_init(ntr_ingress_reader *reader);

/* Read one line (without its line feed). NTR_OK: *block is the next record. NTR_NEED_MORE: a header, a
 * comment or a blank line. Errors: NTR_E_SYNTAX, NTR_E_NAME (unknown column), NTR_E_RANGE. */
NTR_API ntr_status ntr_ingress_read(ntr_ingress_reader *reader, const char *line, size_t length, ntr_ingress *block);

/* The header that ntr_ingress_format's lines need, without line feed. Static storage. */
NTR_API const char *ntr_ingress_header(void);

/* One record as a line, without line feed. Returns its length, or NTR_E_SPACE. */
NTR_API int ntr_ingress_format(const ntr_ingress *block, char *out, size_t capacity);

/* ---- code blocks --------------------------------------------------------------------------------- */

/* Straight code: up to and including the first instruction that can change the flow. All that is needed
 * to know of it per execution is where control went next. */
typedef struct ntr_code_block {
    uint64_t start;
    uint64_t target;        /* of a branch, direct jump or call */
    uint32_t instructions;  /* that retire: ECALL and EBREAK do not */
    uint32_t halfwords;     /* of those */
    uint8_t last_size;      /* bytes of the last one that retires */
    uint8_t flow;           /* ntr_flow of the last instruction; NTR_FLOW_TRAP for ECALL and EBREAK */
    uint8_t itype;          /* ntr_itype of it, NTR_ITYPE_NOT_TAKEN for a branch */
    uint8_t jump_register;  /* register jumps: rs1 */
    uint8_t constant_register; /* last but one instruction is LUI or AUIPC and writes this; 0: it is not. When
                                * flow is linear: the last one */
} ntr_code_block;

/* Classify the code at `address` from its bytes; stops after `instructions` of them at the latest (0: no
 * limit), or where the bytes end. `isa` is a set of NTR_ISA_*. NTR_E_SPACE: not one whole instruction.
 * Table jumps have no known target here: give the program instead (ntr_classifier_push). */
NTR_API ntr_status ntr_code_block_scan(const uint8_t *bytes, size_t size, uint64_t address, unsigned isa,
                                       uint32_t instructions, ntr_code_block *block);

/* ---- classifier: what was executed in, ingress blocks out ----------------------------------------- */

typedef struct ntr_classifier ntr_classifier;
struct ntr_encoder;

/* Takes one block; anything but NTR_OK is given back by the call that made it. */
typedef ntr_status (*ntr_ingress_sink)(void *user, const ntr_ingress *block);

typedef struct ntr_classifier_config {
    size_t size;                 /* sizeof(ntr_classifier_config) */
    const ntr_allocator *allocator;
    const ntr_program *program;  /* for program counters; may be NULL when only code blocks are entered */
    struct ntr_encoder *encoder; /* where the blocks go; or, when NULL: */
    ntr_ingress_sink sink;
    void *sink_user;
    uint8_t itype_width;         /* 3 or 4; 0: 4 */
    bool all_jumps;              /* 3-bit itype: 5 for direct jumps (trTeInstEnAllJumps) */
    uint32_t retires;            /* at most so many instructions in a block made from program counters; 0: no limit */
    const uint64_t *cuts;        /* blocks made from program counters never hold code on both sides of these */
    size_t cut_count;            /* (bounds of address filters); copied */
} ntr_classifier_config;

NTR_DEFINE_CONFIG_INIT(ntr_classifier_config)

NTR_API ntr_classifier *ntr_classifier_new(const ntr_classifier_config *config, ntr_status *status);
NTR_API void ntr_classifier_free(ntr_classifier *classifier);

/* What holds from the next instruction on. Starts as M mode, contexts 0. */
typedef struct ntr_hart_state {
    uint8_t priv;  /* ntr_priv */
    uint64_t scontext, hcontext; /* a change is reported with ctype 1 */
    uint64_t time; /* 0: not told; time goes on by one a retired halfword */
} ntr_hart_state;

NTR_API ntr_status ntr_classifier_set_state(ntr_classifier *classifier, const ntr_hart_state *state);

/* The next instructions executed are exactly those of `block` (copied; the caller may reuse it). It comes
 * out as ingress when what follows is known. A block that does not follow the one before means a trap in between. */
NTR_API ntr_status ntr_classifier_enter(ntr_classifier *classifier, const ntr_code_block *block);

/* One program counter, or many, in execution order. An ECALL or EBREAK among them did not retire: it is an
 * exception whose handler is the next one. Errors: NTR_E_NO_IMAGE (ntr_classifier_error tells where), the
 * encoder's or sink's. */
NTR_API ntr_status ntr_classifier_push(ntr_classifier *classifier, uint64_t pc);
NTR_API ntr_status ntr_classifier_push_many(ntr_classifier *classifier, const uint64_t *pcs, size_t count);

/* A trap is taken now: `itype` NTR_ITYPE_EXCEPTION or NTR_ITYPE_INTERRUPT, `epc` the address that would have
 * been next (the instruction that trapped), NTR_ADDRESS_UNKNOWN if nobody knows. The handler follows. */
NTR_API ntr_status ntr_classifier_trap(ntr_classifier *classifier, unsigned itype, uint64_t epc, uint64_t cause,
                                       uint64_t tval);

/* The execution ends here, or is interrupted by something that is not told: give out the block that is
 * still held. `*next` (may be NULL) is the address that would follow, or NTR_ADDRESS_UNKNOWN: for ntr_encoder_stop. */
NTR_API ntr_status ntr_classifier_finish(ntr_classifier *classifier, uint64_t *next);

/* "pc 4711: no program image at 0x80001234": the last failure; "" when there was none. */
NTR_API const char *ntr_classifier_error(const ntr_classifier *classifier);

/* ---- Spike logs: -l, --log-commits, or both ------------------------------------------------------- */

typedef struct ntr_spike_log ntr_spike_log;

/* Reads the lines of one hart (`core   N:`) and enters what retired into the classifier; instructions come
 * from the log itself, no program is needed. `xlen` 0: told by the width of the addresses. */
NTR_API ntr_spike_log *ntr_spike_log_new(ntr_classifier *classifier, unsigned hart, unsigned xlen,
                                         const ntr_allocator *allocator);
NTR_API void ntr_spike_log_free(ntr_spike_log *log);

/* How many lines told an instruction of the hart. */
NTR_API uint64_t ntr_spike_log_count(const ntr_spike_log *log);

/* One line, without its line feed. Lines that are none of Spike's are skipped. Errors: NTR_E_SYNTAX (a line of
 * Spike's that is damaged; ntr_spike_log_error), the classifier's. */
NTR_API ntr_status ntr_spike_log_line(ntr_spike_log *log, const char *line, size_t length);

/* End of the log; the classifier is to be finished afterwards. */
NTR_API ntr_status ntr_spike_log_finish(ntr_spike_log *log);

/* "line 12: opcode expected"; "" when there was no failure. */
NTR_API const char *ntr_spike_log_error(const ntr_spike_log *log);

#ifdef __cplusplus
}
#endif
#endif
