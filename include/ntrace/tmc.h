/* The memory of a CoreSight TMC: where its data are, oldest first. Flat buffers, scatter-gather tables, buffers that
 * have wrapped. The data are formatter frames: <ntrace/frames.h>. */
#ifndef NTRACE_TMC_H
#define NTRACE_TMC_H

#include <ntrace/allocator.h>
#include <ntrace/config.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTR_TMC_PAGE_BYTES 4096u

/* Bits of the registers STS and AXICTL. */
#define NTR_TMC_STS_FULL       1u
#define NTR_TMC_STS_READY      0x04u /* it is stopped, and has written everything */
#define NTR_TMC_STS_MEM_ERR    0x20u /* an access to memory failed */
#define NTR_TMC_AXICTL_SCATTER 0x80u

/* The registers of a stopped TMC. Addresses are byte addresses. */
typedef struct ntr_tmc_memory {
    size_t size;    /* sizeof(ntr_tmc_memory) */
    uint64_t base;  /* DBALO, DBAHI: the buffer, or with `scattered` the first page of the table; an ETB or ETF: 0 */
    uint64_t bytes; /* of the buffer: RSZ * 4 */
    uint64_t rwp;   /* RWP, RWPHI: where the next byte would be written */
    bool full;      /* STS.Full: the write pointer has gone round */
    bool scattered; /* AXICTL bit 7: scatter-gather */
    const ntr_allocator *allocator; /* NULL: malloc and free */
} ntr_tmc_memory;

NTR_DEFINE_CONFIG_INIT(ntr_tmc_memory)

/* Reads `size` bytes of a page of the table. */
typedef ntr_status (*ntr_tmc_read)(void *user, uint64_t address, uint8_t *bytes, size_t size);

/* Receives a part of the data: addresses [address, address + size). Parts come oldest first. */
typedef ntr_status (*ntr_tmc_part)(void *user, uint64_t address, uint64_t size);

/* Why ntr_tmc_parts has returned NTR_E_RANGE. */
typedef struct ntr_tmc_error {
    const char *what; /* "RWP", "RSZ", or "the scatter-gather table" */
    const char *expected;
    uint64_t found;   /* an address, a size or an entry of the table */
    uint64_t address; /* of the entry of the table; 0: none */
} ntr_tmc_error;

/* Passes all parts to `part`. `read` may be NULL if the buffer is not scattered. Errors: NTR_E_RANGE (the registers or
 * the table contradict each other; *error, which may be NULL, says how), NTR_E_MEMORY, NTR_E_INVALID, those of `read`
 * and `part`. */
NTR_API ntr_status ntr_tmc_parts(const ntr_tmc_memory *memory, ntr_tmc_read read, ntr_tmc_part part, void *user,
                                 ntr_tmc_error *error);

#ifdef __cplusplus
}
#endif
#endif
