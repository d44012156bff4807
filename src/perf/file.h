/* The file perf.data: header, attributes, features, and all records sorted by time.
 *
 * Three forms are read: the file of `perf record -o FILE`, the pipe form (`-o -`), whose attributes and features are
 * records, and the folder form with one file of records for each CPU. Records may be compressed (COMPRESSED).
 *
 * Every size in the file is checked. What is cut off or damaged ends the records there (`cut`); nothing is read outside
 * of the file. */
#ifndef NTR_PERF_FILE_H
#define NTR_PERF_FILE_H

#include "perf/bytes.h"

#include <ntrace/allocator.h>
#include <ntrace/limits.h>
#include <ntrace/status.h>

/* Types of records. */
enum {
    NTR_PERF_MMAP = 1,
    NTR_PERF_LOST = 2,
    NTR_PERF_COMM = 3,
    NTR_PERF_EXIT = 4,
    NTR_PERF_FORK = 7,
    NTR_PERF_MMAP2 = 10,
    NTR_PERF_AUX = 11,
    NTR_PERF_ITRACE_START = 12,
    NTR_PERF_SWITCH = 14,
    NTR_PERF_SWITCH_CPU_WIDE = 15,
    NTR_PERF_KSYMBOL = 17,
    NTR_PERF_TEXT_POKE = 20,
    NTR_PERF_AUX_OUTPUT_HW_ID = 21,
    NTR_PERF_USER_FIRST = 64, /* records from here on have no id block */
    NTR_PERF_HEADER_ATTR = 64,
    NTR_PERF_BUILD_ID = 67,
    NTR_PERF_AUXTRACE_INFO = 70,
    NTR_PERF_AUXTRACE = 71,
    NTR_PERF_TIME_CONV = 79,
    NTR_PERF_HEADER_FEATURE = 80,
    NTR_PERF_COMPRESSED = 81,
    NTR_PERF_COMPRESSED2 = 83,
};

enum {
    NTR_PERF_MISC_KERNEL = 1, /* of the low three bits */
    NTR_PERF_MISC_MODE = 7,
    NTR_PERF_MISC_EXEC = 1 << 13,     /* COMM */
    NTR_PERF_MISC_OUT = 1 << 13,      /* SWITCH */
    NTR_PERF_MISC_BUILD_ID = 1 << 14, /* MMAP2 */
    NTR_PERF_MISC_ID_SIZE = 1 << 15,  /* BUILD_ID */
};

enum {
    NTR_PERF_FEATURE_BUILD_ID = 2,
    NTR_PERF_FEATURE_RELEASE = 4,
    NTR_PERF_FEATURE_PMU = 16,
    NTR_PERF_FEATURE_BPF = 25,
    NTR_PERF_FEATURES = 256,
};

struct ntr_perf_attr {
    uint32_t type;
    uint64_t sample_type;
    bool sample_id_all;
    const uint8_t *ids; /* u64 each */
    size_t id_count;
};

struct ntr_perf_record {
    uint64_t time, order; /* `order`: place in the file */
    const uint8_t *body;
    uint32_t body_size; /* without the id block */
    uint16_t type, misc;
    uint32_t pid, tid, cpu; /* of the id block; UINT32_MAX: not there */
};

/* A block of AUX data; its bytes lie behind its record. */
struct ntr_perf_block {
    uint64_t offset; /* place in the buffer's stream */
    const uint8_t *bytes;
    uint64_t size;
    uint32_t index, tid, cpu; /* of the buffer; UINT32_MAX: none */
};

struct ntr_perf_file {
    const ntr_allocator *allocator;
    ntr_limits limits;
    struct ntr_perf_part {
        void *mapping;
        size_t size;
    } *parts;
    size_t part_count, part_capacity;
    struct ntr_perf_attr *attrs;
    size_t attr_count, attr_capacity;
    struct ntr_perf_record *records;
    size_t record_count, record_capacity;
    struct ntr_perf_block *blocks;
    size_t block_count, block_capacity;
    ntr_bytes features[NTR_PERF_FEATURES];
    ntr_bytes info;    /* body of AUXTRACE_INFO */
    uint8_t *unpacked; /* decompressed records */
    size_t unpacked_size, unpacked_capacity;
    uint64_t last_time;
    bool cut;      /* records or AUX data are missing at the end, or damaged */
    bool limited; /* compressed records expand to more than the limit */
    uint64_t lost; /* records that the kernel could not write */
    char error[256];
};

/* Whether a file that begins with these bytes is perf.data. 16 bytes are enough. */
bool ntr_perf_file_is(ntr_bytes beginning);

/* Reads a file, a folder (`path`), or a file in memory, which must live as long as `file`. `file` is zeroed but for
 * `allocator`; release it in any case. Errors: NTR_E_IO, NTR_E_FORMAT, NTR_E_UNSUPPORTED, NTR_E_MEMORY; file->error
 * describes them. */
ntr_status ntr_perf_file_open(struct ntr_perf_file *file, const char *path);
ntr_status ntr_perf_file_read(struct ntr_perf_file *file, const char *name, ntr_bytes bytes);
void ntr_perf_file_release(struct ntr_perf_file *file);

/* The name of the PMU with this type (feature PMU_MAPPINGS), or NULL. */
const char *ntr_perf_pmu_name(const struct ntr_perf_file *file, uint32_t type);

ntr_status ntr_perf_fail(struct ntr_perf_file *file, ntr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Append the records in `bytes`, then sort all by time. */
ntr_status ntr_perf_records_add(struct ntr_perf_file *file, ntr_bytes bytes);
ntr_status ntr_perf_records_finish(struct ntr_perf_file *file);

/* file.c: an attribute of the header or of HEADER_ATTR. `ids`: u64 each. */
ntr_status ntr_perf_attr_add(struct ntr_perf_file *file, ntr_bytes attr, ntr_bytes ids);

#endif
