/* Parts of the file perf.data in memory. The first failure to get memory is kept; what is added after it is ignored. */
#ifndef NTR_EXPORT_PERF_BYTES_H
#define NTR_EXPORT_PERF_BYTES_H

#include "export/perf_record.h"

typedef struct ntr_perf_bytes {
    const ntr_allocator *allocator;
    uint8_t *data;
    size_t size, capacity;
    bool failed;
} ntr_perf_bytes;

void ntr_perf_add_bytes(ntr_perf_bytes *b, const void *bytes, size_t size);
void ntr_perf_add_u16(ntr_perf_bytes *b, uint64_t value);
void ntr_perf_add_u32(ntr_perf_bytes *b, uint64_t value);
void ntr_perf_add_u64(ntr_perf_bytes *b, uint64_t value);

/* Up to the NUL, then zeros up to a multiple of 8. */
void ntr_perf_add_name(ntr_perf_bytes *b, const char *name);

/* Returns where the record begins; ntr_perf_end_record stores its size there. */
size_t ntr_perf_begin_record(ntr_perf_bytes *b, unsigned type, unsigned misc);
void ntr_perf_end_record(ntr_perf_bytes *b, size_t at);

/* The records of the processes of the samples with their files, and those of the samples, in order of time. */
void ntr_perf_add_processes(ntr_export *x, ntr_perf_bytes *b, const ntr_perf_samples *s);
void ntr_perf_add_samples(ntr_export *x, ntr_perf_bytes *b, const ntr_perf_samples *s);

#endif
