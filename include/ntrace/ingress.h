/* Sources of ingress blocks (ingress_block.h): their text form, and the classifier, which makes them from executed code
 * (code blocks, lists of program counters, logs of Spike and of cores). */
#ifndef NTRACE_INGRESS_H
#define NTRACE_INGRESS_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/encoder.h>
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

#define NTR_INGRESS_COLUMNS      17 /* of a block */
#define NTR_INGRESS_DATA_COLUMNS 4 /* of an access of it */
#define NTR_INGRESS_TEXT_MAX     320 /* longest line of ntr_ingress_format, with NUL */

/* State of reading. The first line that is neither blank nor a comment names the columns. */
typedef struct ntr_ingress_reader {
    uint8_t columns[NTR_INGRESS_COLUMNS + NTR_INGRESS_DATA_COLUMNS];
    uint8_t count; /* 0: the header has not been read */
    bool has_access; /* the last record has a load or store: `access`, for ntr_encoder_access after the block */
    uint64_t line; /* lines read so far */
    uint64_t record; /* records read so far */
    char error[96]; /* text of the last error: "column itype: \"x\" is not a number" */
    ntr_data_record access;
} ntr_ingress_reader;

/* Prepares a reader for the first line of a text. */
NTR_API void ntr_ingress_reader_init(ntr_ingress_reader *reader);

/* Reads one line, without its line feed. Returns NTR_OK when *block is the next record, NTR_NEED_MORE for a header, a
 * comment or a blank line. Errors (text in reader->error): NTR_E_SYNTAX, NTR_E_NAME (unknown column), NTR_E_RANGE. */
NTR_API ntr_status ntr_ingress_read(ntr_ingress_reader *reader, const char *line, size_t length, ntr_ingress *block);

/* Returns the header line for the lines of ntr_ingress_format, without line feed. Static storage. */
NTR_API const char *ntr_ingress_header(void);

/* Writes a block as a line, without line feed. Returns its length, or NTR_E_SPACE. */
NTR_API int ntr_ingress_format(const ntr_ingress *block, char *out, size_t capacity);

/* ---- code blocks --------------------------------------------------------------------------------- */

/* Straight code, up to and including the first instruction that can change the flow. One execution of it is
 * described by the block and the address that follows. */
typedef struct ntr_code_block {
    uint64_t start;
    uint64_t target; /* of a branch, direct jump or call */
    uint32_t instructions; /* number that retires: without ECALL and EBREAK */
    uint32_t halfwords; /* of these instructions */
    uint8_t last_size; /* bytes of the last instruction that retires */
    uint8_t flow; /* ntr_flow of the last instruction; NTR_FLOW_TRAP for ECALL and EBREAK */
    uint8_t itype; /* ntr_itype of the last instruction, NTR_ITYPE_NOT_TAKEN for a branch */
    uint8_t jump_register; /* register jumps: rs1 */
    uint8_t constant_register; /* register that LUI or AUIPC wrote directly before the last instruction (with
                                * NTR_FLOW_LINEAR: as the last instruction); 0: none */
    bool table_jump; /* CM.JT, CM.JALT without its table: `target` is where execution goes */
} ntr_code_block;

/* Decodes the code block at `address` from its bytes. The block ends after `instructions` instructions at the latest
 * (0: no limit), or where the bytes end. `isa` is an NTR_ISA_* set. Errors: NTR_E_SPACE (the bytes hold no complete
 * instruction). The targets of table jumps (Zcmt) stay unknown: `table_jump`. */
NTR_API ntr_status ntr_code_block_scan(const uint8_t *bytes, size_t size, uint64_t address, unsigned isa,
                                       uint32_t instructions, ntr_code_block *block);

/* ---- classifier: executed code to ingress blocks -------------------------------------------------- */

typedef struct ntr_classifier ntr_classifier;
struct ntr_encoder;

/* Receives one block, valid during the call. A status other than NTR_OK is returned by the call that made the block. */
typedef ntr_status (*ntr_ingress_sink)(void *user, const ntr_ingress *block);

typedef struct ntr_classifier_config {
    size_t size; /* sizeof(ntr_classifier_config) */
    const ntr_allocator *allocator;
    const ntr_program *program; /* for program counters; may be NULL if only code blocks are entered */
    struct ntr_encoder *encoder; /* receives the blocks; if NULL, `sink` does */
    ntr_ingress_sink sink;
    void *sink_user;
    uint8_t itype_width; /* 3 or 4; 0: 4 */
    bool all_jumps; /* 3-bit itype: direct jumps have itype 5 (trTeInstEnAllJumps) */
    uint32_t retires; /* limit of instructions in a block made from program counters; 0: none */
    const uint64_t *cuts; /* addresses where a block made from program counters must start, for example
                           * the bounds of address filters; copied */
    size_t cut_count;
} ntr_classifier_config;

NTR_DEFINE_CONFIG_INIT(ntr_classifier_config)

/* Makes a classifier. `program`, `encoder` and `allocator` must live as long as it does. Errors: NTR_E_INVALID
 * (neither encoder nor sink), NTR_E_RANGE (itype_width), NTR_E_MEMORY. */
NTR_API ntr_status ntr_classifier_new(const ntr_classifier_config *config, ntr_classifier **out);

/* Frees the classifier; NULL is allowed. */
NTR_API void ntr_classifier_free(ntr_classifier *classifier);

/* State of the hart from the next instruction on. Initially M mode and contexts 0. */
typedef struct ntr_hart_state {
    uint8_t priv; /* ntr_priv */
    uint64_t scontext, hcontext; /* a change is reported with ctype 1 */
    uint64_t time; /* ticks, when the next block has retired; 0: not known, time advances by 1 per retired halfword */
} ntr_hart_state;

/* Sets the state of the hart. Errors: as ntr_classifier_push. */
NTR_API ntr_status ntr_classifier_set_state(ntr_classifier *classifier, const ntr_hart_state *state);

/* Enters executed code: the next instructions are those of `block`, which is copied. The ingress block is sent when
 * the successor is known. If `block` does not follow the previous block, the classifier reports a trap between them.
 * Errors: those of the encoder or sink. */
NTR_API ntr_status ntr_classifier_enter(ntr_classifier *classifier, const ntr_code_block *block);

/* Enters one or many program counters in execution order. ECALL and EBREAK do not retire: they are exceptions, and
 * the next program counter is the first of the handler. Errors: NTR_E_STATE (the classifier has no program),
 * NTR_E_NO_IMAGE (the address is in ntr_classifier_error), NTR_E_MEMORY, those of the encoder or sink. */
NTR_API ntr_status ntr_classifier_push(ntr_classifier *classifier, uint64_t pc);
NTR_API ntr_status ntr_classifier_push_many(ntr_classifier *classifier, const uint64_t *pcs, size_t count);

/* Enters a trap. `itype` is NTR_ITYPE_EXCEPTION or NTR_ITYPE_INTERRUPT; `epc` is the address of the instruction that
 * trapped or would have executed next, or NTR_ADDRESS_UNKNOWN. The code entered next is the handler. `cause` and
 * `tval` are for filters. Errors: NTR_E_INVALID (`itype`), those of ntr_classifier_push. */
NTR_API ntr_status ntr_classifier_trap(ntr_classifier *classifier, unsigned itype, uint64_t epc, uint64_t cause,
                                       uint64_t tval);

/* Ends the execution, or a part of it that the next code does not follow: sends the held block. *next (`next` may be
 * NULL) is the address that would follow, for ntr_encoder_stop, or NTR_ADDRESS_UNKNOWN. Errors: those of
 * ntr_classifier_push. */
NTR_API ntr_status ntr_classifier_finish(ntr_classifier *classifier, uint64_t *next);

/* A place where the code that was entered does not follow the code before it, and no trap was entered. */
typedef struct ntr_discontinuity {
    uint64_t expected, found; /* the address that follows, and that of the code, or of the instruction that trapped */
    uint64_t number; /* of the program counter in the list, from 1; 0: code was not entered as a list */
    uint64_t reserved[1]; /* 0; for later members */
} ntr_discontinuity;

/* Returns the number of discontinuities that no trap explains. They are interrupts in what was sent. Stores the first
 * one in *first (NULL: not), if there is one. */
NTR_API uint64_t ntr_classifier_discontinuities(const ntr_classifier *classifier, ntr_discontinuity *first);

/* Returns the text of the last error, "pc 4711: no program image at 0x80001234", or "". The classifier owns it. */
NTR_API const char *ntr_classifier_error(const ntr_classifier *classifier);

/* ---- Spike logs: -l, --log-commits, or both ------------------------------------------------------- */

typedef struct ntr_spike_log ntr_spike_log;

/* Makes a reader of the lines of one hart (`core N:`), which enters its retired instructions into the classifier. The
 * instructions are in the log; no program is needed. `xlen` 0: found from the width of the addresses. Errors:
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_spike_log_new(ntr_classifier *classifier, unsigned hart, unsigned xlen,
                                     const ntr_allocator *allocator, ntr_spike_log **out);
NTR_API void ntr_spike_log_free(ntr_spike_log *log);

/* Returns the number of lines with an instruction of the hart. */
NTR_API uint64_t ntr_spike_log_count(const ntr_spike_log *log);

/* Reads one line. Lines that are not from Spike are ignored. Errors: NTR_E_SYNTAX (a damaged line, text in
 * ntr_spike_log_error), those of the classifier. */
NTR_API ntr_status ntr_spike_log_line(ntr_spike_log *log, const char *line, size_t length);

/* Ends the log. Call ntr_classifier_finish afterwards. Errors: those of the classifier. */
NTR_API ntr_status ntr_spike_log_finish(ntr_spike_log *log);

/* Returns the text of the last error, "line 12: opcode expected", or "". The log owns it. */
NTR_API const char *ntr_spike_log_error(const ntr_spike_log *log);

/* ---- logs of cores: RVVI-TEXT, and RVFI as text --------------------------------------------------- */

typedef enum ntr_core_log_format {
    NTR_CORE_LOG_RVVI = 0, /* RVVI-TEXT 0.1 to 0.3 */
    NTR_CORE_LOG_RVFI, /* a table of RVFI signals whose first line names the columns, or the log of CVA6 */
} ntr_core_log_format;

typedef struct ntr_core_log ntr_core_log;

/* Makes a reader of the instructions of one hart, which enters them into the classifier. Those that trapped are
 * exceptions, not retired. The instructions are in the log; no program is needed. `xlen` 0: the log has it. Errors:
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_core_log_new(ntr_classifier *classifier, ntr_core_log_format format, unsigned hart,
                                    unsigned xlen, const ntr_allocator *allocator, ntr_core_log **out);
NTR_API void ntr_core_log_free(ntr_core_log *log);

/* Returns the number of instructions of the hart that retired or trapped. */
NTR_API uint64_t ntr_core_log_count(const ntr_core_log *log);

/* Reads one line. Errors: NTR_E_SYNTAX (text in ntr_core_log_error), those of the classifier. */
NTR_API ntr_status ntr_core_log_line(ntr_core_log *log, const char *line, size_t length);

/* Ends the log. Call ntr_classifier_finish afterwards. Errors: as ntr_core_log_line. */
NTR_API ntr_status ntr_core_log_finish(ntr_core_log *log);

/* Returns the text of the last error, "line 12: MODE: expected a number", or "". The log owns it. */
NTR_API const char *ntr_core_log_error(const ntr_core_log *log);

#ifdef __cplusplus
}
#endif
#endif
