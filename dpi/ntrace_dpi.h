/* The golden model behind DPI-C: what ntrace_pkg.sv imports. docs/dpi.md tells how to use it.
 *
 * Only types that every simulator passes alike: handles, 32- and 64-bit unsigned numbers, strings. Every _new gives a
 * handle, also for bad arguments; then _error says what was wrong and every call is refused. Numbers that are 0 for
 * success and negative otherwise are ntr_status. Strings given back live until the next call with their handle. */
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
    NTR_DPI_SAME_CYCLE = 1u << 4, /* one more block of the cycle before */
};

/* ---- encoder: blocks in, the messages that are right out */

/* `options`: the encoder's (docs/encoder.md), "mode=btm icnt-bits=8 announce=off". */
NTR_API void *ntr_dpi_encoder_new(const char *options);
NTR_API void ntr_dpi_encoder_free(void *encoder);
NTR_API const char *ntr_dpi_encoder_error(void *encoder);

/* One block of the ingress port; members as in docs/ingress.md. */
NTR_API int ntr_dpi_encoder_push(void *encoder, uint64_t iaddr, unsigned iretire, unsigned ilastsize, unsigned itype,
                                 unsigned priv, unsigned flags, uint64_t stamp);
NTR_API int ntr_dpi_encoder_context(void *encoder, unsigned ctype, uint64_t scontext, uint64_t hcontext);
NTR_API int ntr_dpi_encoder_tracing(void *encoder, unsigned on);       /* trTeInstTracing */
NTR_API int ntr_dpi_encoder_request_sync(void *encoder, unsigned sync);/* a reason, with the next block */
NTR_API int ntr_dpi_encoder_stop(void *encoder, uint64_t next, unsigned evcode);

/* The next byte the model has sent, -1 when there is none yet. */
NTR_API int ntr_dpi_encoder_take(void *encoder);

/* A message as `ntrace dump` shows it, from its bytes as hexadecimal digits. */
NTR_API const char *ntr_dpi_encoder_describe(void *encoder, const char *bytes);

/* ---- comparison: what two streams say was executed */

/* `program`: the ELF file. `design`, `model`: options of the encoders that made the two streams. */
NTR_API void *ntr_dpi_compare_new(const char *program, const char *design, const char *model);
NTR_API void ntr_dpi_compare_free(void *compare);
NTR_API const char *ntr_dpi_compare_error(void *compare);

/* The next byte of the design's stream (side 0) or the model's (1). Errors: NTR_E_MEMORY. */
NTR_API int ntr_dpi_compare_byte(void *compare, unsigned side, unsigned byte);

/* Decode both to their ends. 0: the same execution; 1: not, and _difference says where; negative: an error. */
NTR_API int ntr_dpi_compare_finish(void *compare);
NTR_API const char *ntr_dpi_compare_difference(void *compare);

/* ---- checker: rules of the specification that a stream breaks (docs/check.md) */

/* `program`: the ELF file, or "" to judge messages alone. `options`: of the encoder that made the stream. */
NTR_API void *ntr_dpi_check_new(const char *program, const char *options);
NTR_API void ntr_dpi_check_free(void *check);
NTR_API const char *ntr_dpi_check_error(void *check);

/* The next byte; the stream's end. Errors: NTR_E_STATE, NTR_E_MEMORY. */
NTR_API int ntr_dpi_check_byte(void *check, unsigned byte);
NTR_API int ntr_dpi_check_finish(void *check);

/* The next finding and its severity (0 note, 1 warning, 2 error), "" when there is none: "sync-reserved: message 12
 * @0x1f ProgTraceSync SYNC: SYNC must not have a reserved value (section 8)". */
NTR_API const char *ntr_dpi_check_take(void *check, unsigned *severity);

/* ---- replay: recorded blocks as stimulus */

/* `path`: ingress records as text (docs/ingress.md). */
NTR_API void *ntr_dpi_replay_new(const char *path);
NTR_API void ntr_dpi_replay_free(void *replay);
NTR_API const char *ntr_dpi_replay_error(void *replay);

/* 1: the next block; 0: the end; negative: an error. */
NTR_API int ntr_dpi_replay_next(void *replay, uint64_t *iaddr, unsigned *iretire, unsigned *ilastsize, unsigned *itype,
                                unsigned *priv, unsigned *flags, uint64_t *stamp);

#ifdef __cplusplus
}
#endif
#endif
