/* What a reader has to know of a stream and cannot see in it: the encoder's configuration.
 *
 * N-Trace 1.0 sections 4 (SRC), 7 (addresses, timestamps), 11 (optimizations). A zero-filled struct
 * with `size` set is the plain N-Trace 1.0 stream of a single hart. */
#ifndef NTRACE_PARAMS_H
#define NTRACE_PARAMS_H

#include <ntrace/dialect.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether messages may end in TSTAMP. Presence is visible in the stream, so the default believes it. */
typedef enum ntr_timestamps {
    NTR_TIMESTAMPS_SEEN = 0, /* take a TSTAMP where there is one */
    NTR_TIMESTAMPS_ON,       /* a synchronizing message without TSTAMP is worth a note */
    NTR_TIMESTAMPS_OFF,      /* bytes after the payload are a defect */
} ntr_timestamps;

/* trTeInstImplicitReturnMode (section 11.2). */
typedef enum ntr_implicit_return {
    NTR_RETURN_OFF = 0,
    NTR_RETURN_COUNT = 1,
    NTR_RETURN_PARTIAL = 2,
    NTR_RETURN_FULL = 3,
} ntr_implicit_return;

typedef struct ntr_params {
    size_t size;                /* sizeof(ntr_params) */
    const ntr_dialect *dialect; /* NULL: N-Trace 1.0 */
    uint8_t src_bits;           /* width of SRC, 0..12 */
    uint8_t timestamps;         /* ntr_timestamps */
    uint8_t ts_width;           /* bits of the time counter, for rollover; 0: 64 */
    uint8_t implicit_return;    /* ntr_implicit_return */
    uint8_t xlen;               /* 32 or 64; 0: 64 */
    bool sequential_jump;       /* trTeInstEnSequentialJump */
    bool extend_addr;           /* trTeInstExtendAddrMSB */
    bool all_jumps;             /* trTeInstEnAllJumps */
    uint32_t return_stack;      /* call-stack depth assumed by the decoder; 0: as deep as needed */
} ntr_params;

/* Fill with the dialect's defaults (NULL: N-Trace 1.0). */
NTR_API void ntr_params_init(ntr_params *params, const ntr_dialect *dialect);

/* NTR_OK, or NTR_E_RANGE / NTR_E_INVALID when a member is outside its limits. */
NTR_API ntr_status ntr_params_check(const ntr_params *params);

#ifdef __cplusplus
}
#endif
#endif
