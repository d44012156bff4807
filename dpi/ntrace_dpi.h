/* The reference model for SystemVerilog testbenches: the DPI-C functions that ntrace_pkg.sv imports. docs/dpi.md
 * describes their use.
 *
 * Arguments have only types that all simulators pass in the same way: handles, unsigned numbers of 32 and 64 bits, and
 * strings. Every _new function returns a handle, even if an argument is invalid; _error then returns the reason, and
 * calls that need a valid handle fail with NTR_E_STATE. _error returns "" if there is no error. _new returns NULL only
 * when out of memory; every function accepts NULL. Functions that return int return an ntr_status, unless specified
 * otherwise. Returned strings are valid until the next call with the same handle. Each handle is freed with its _free
 * function. */
#ifndef NTRACE_DPI_H
#define NTRACE_DPI_H

#include <ntrace/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `flags` of a block. */
enum {
    NTR_DPI_SIJUMP = 1u << 0,
    NTR_DPI_HALTED = 1u << 1,
    NTR_DPI_RESET = 1u << 2,
    NTR_DPI_NO_IADDR = 1u << 3,   /* iaddr is not valid */
    NTR_DPI_SAME_CYCLE = 1u << 4, /* another block of the same cycle as the previous block */
};

/* ---- encoder: converts ingress blocks to the expected messages */

/* `options` are encoder options (docs/encoder.md), for example "mode=btm icnt-bits=8 announce=off". */
NTR_API void *ntr_dpi_encoder_new(const char *options);
NTR_API void ntr_dpi_encoder_free(void *encoder);
NTR_API const char *ntr_dpi_encoder_error(void *encoder);

/* Encodes one block of the ingress port. The parameters are described in docs/ingress.md; `flags` is a set of
 * NTR_DPI_*. */
NTR_API int ntr_dpi_encoder_push(void *encoder, uint64_t iaddr, unsigned iretire, unsigned ilastsize, unsigned itype,
                                 unsigned priv, unsigned flags, uint64_t stamp);

/* Sets the contexts from the next block on, and the ctype of the next block. */
NTR_API int ntr_dpi_encoder_context(void *encoder, unsigned ctype, uint64_t scontext, uint64_t hcontext);

/* Sets trTeInstTracing from the next block on. */
NTR_API int ntr_dpi_encoder_tracing(void *encoder, unsigned on);

/* Requests a synchronizing message with the reason SYNC=`sync` at the next block. */
NTR_API int ntr_dpi_encoder_request_sync(void *encoder, unsigned sync);

/* Ends tracing at the address `next`, with ProgTraceCorrelation and EVCODE=`evcode`. */
NTR_API int ntr_dpi_encoder_stop(void *encoder, uint64_t next, unsigned evcode);

/* Returns the next byte sent by the model, or -1 if there is none yet. */
NTR_API int ntr_dpi_encoder_take(void *encoder);

/* Returns a message in the text form of `ntrace dump`, without number and offset. `bytes` are its bytes as hexadecimal
 * digits. */
NTR_API const char *ntr_dpi_encoder_describe(void *encoder, const char *bytes);

/* ---- comparison of the executions of two streams */

/* `program` is the ELF file. `design` and `model` are the options of the encoders of the two streams. */
NTR_API void *ntr_dpi_compare_new(const char *program, const char *design, const char *model);
NTR_API void ntr_dpi_compare_free(void *compare);
NTR_API const char *ntr_dpi_compare_error(void *compare);

/* Appends a byte to the stream of the design (side 0) or of the model (side 1). Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API int ntr_dpi_compare_byte(void *compare, unsigned side, unsigned byte);

/* Decodes both streams to their ends. Returns 0 if the executions are equal, 1 if they differ (_difference returns the
 * first difference as text), or a negative ntr_status. */
NTR_API int ntr_dpi_compare_finish(void *compare);
NTR_API const char *ntr_dpi_compare_difference(void *compare);

/* ---- checker: checks a stream against the rules of the specification (docs/check.md) */

/* `program` is the ELF file, or "" to check messages without the execution. `options` are the options of the encoder of
 * the stream. */
NTR_API void *ntr_dpi_check_new(const char *program, const char *options);
NTR_API void ntr_dpi_check_free(void *check);
NTR_API const char *ntr_dpi_check_error(void *check);

/* _byte checks the next byte of the stream; _finish ends the stream. Errors: NTR_E_STATE, NTR_E_MEMORY. */
NTR_API int ntr_dpi_check_byte(void *check, unsigned byte);
NTR_API int ntr_dpi_check_finish(void *check);

/* Returns the next finding, or "" if there is none, and its severity (0 note, 1 warning, 2 error). Example:
 * "sync-reserved: message 12 @0x1f ProgTraceSync SYNC: SYNC must not have a reserved value (section 8)". */
NTR_API const char *ntr_dpi_check_take(void *check, unsigned *severity);

/* ---- replay: recorded blocks as stimulus of a testbench */

/* `path` is a file of ingress records (docs/ingress.md). */
NTR_API void *ntr_dpi_replay_new(const char *path);
NTR_API void ntr_dpi_replay_free(void *replay);
NTR_API const char *ntr_dpi_replay_error(void *replay);

/* Reads the next block. Returns 1, or 0 at the end of the file, or a negative ntr_status. */
NTR_API int ntr_dpi_replay_next(void *replay, uint64_t *iaddr, unsigned *iretire, unsigned *ilastsize, unsigned *itype,
                                unsigned *priv, unsigned *flags, uint64_t *stamp);

#ifdef __cplusplus
}
#endif
#endif
