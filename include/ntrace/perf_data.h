/* perf.data: trace that Linux perf recorded through an AUX buffer, with the side-band records that say which process
 * ran where and which files it had mapped.
 *
 * The trace of all CPUs becomes one stream, and the mappings become images of a program, bound to the process as
 * context (scontext: see ntr_perf_process). With a single process nothing is bound and the bytes of the trace are the
 * stream:
 *
 *   ntr_perf_data_new(NULL, &data);
 *   ntr_perf_data_open(data, "perf.data");
 *   ntr_perf_data_params(data, &params);      // what the file says; the rest is up to the caller
 *   ntr_perf_data_stream(data, &params, write, user);
 *   ntr_perf_data_load(data, NULL, program);
 *   // decode the bytes that `write` received, with `params` and `program`
 *
 * Sizes and offsets in the file are checked; the readable parts of a file that is cut off or damaged are read. An
 * object is used by one thread at a time. docs/perf.md describes what is read. */
#ifndef NTRACE_PERF_DATA_H
#define NTRACE_PERF_DATA_H

#include <ntrace/allocator.h>
#include <ntrace/limits.h>
#include <ntrace/bytes.h>
#include <ntrace/config.h>
#include <ntrace/params.h>
#include <ntrace/program.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_perf_data ntr_perf_data;

typedef struct ntr_perf_config {
    size_t size;                /* sizeof(ntr_perf_config) */
    const char *sysroot;        /* folder in which the paths of mappings are; NULL: / */
    const char *build_ids;      /* folder of files by build id, such as ~/.debug/.build-id; NULL: none */
    const char *const *folders; /* further folders with program files, searched by name */
    size_t folder_count;
    bool bpf_later; /* ntr_perf_data_load adds no BPF programs: the caller does, with ntr_perf_data_load_bpf */
} ntr_perf_config;

NTR_DEFINE_CONFIG_INIT(ntr_perf_config)

/* A process of which there is trace, as long as the same files are mapped at its addresses: exec, and a file mapped
 * over another one, begin a new context. */
typedef struct ntr_perf_process {
    uint32_t pid;
    const char *name;     /* its last name; "" when not known */
    uint64_t context;     /* scontext in the stream: the process id, plus 2^32 for each change of its files */
    uint64_t bytes;       /* of the stream */
    uint64_t reserved[4]; /* must be 0; for later members */
} ntr_perf_process;

/* A module of the kernel whose file is there. The file is relocatable: the caller links it, as the kernel did. */
typedef struct ntr_perf_module {
    const char *name;         /* as the kernel has it, for example virtio_blk */
    const char *path;         /* the file, not compressed; it is there as long as the object */
    uint64_t address, length; /* where its code begins; of the whole module */
    bool has_code; /* the program has its code, from a copy of /proc/kcore: the file has only names and lines for it */
    bool ambiguous; /* another module was at these addresses, nobody knows when: the file is not to be used */
    uint64_t from, until; /* valid for stream offsets from <= offset < until; until 0: no end */
    uint64_t reserved[2]; /* must be 0; for later members */
} ntr_perf_module;

/* Returns true if a file that begins with these bytes is perf.data (16 bytes are enough), or if a folder is. */
NTR_API bool ntr_perf_data_seen(ntr_bytes beginning);
NTR_API bool ntr_perf_folder_seen(const char *path);

/* `allocator` is copied; NULL: malloc. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_perf_data_new(const ntr_allocator *allocator, ntr_perf_data **out);
NTR_API void ntr_perf_data_free(ntr_perf_data *data);

/* Sets the limits of compressed records. They are copied. Call it before the file is read. */
NTR_API void ntr_perf_data_set_limits(ntr_perf_data *data, const ntr_limits *limits);

/* Sets the trace ID whose messages are read, if the trace is in CoreSight frames: 1 to 0x6f. Default, or 0: all. Call
 * it before the file is read. */
NTR_API void ntr_perf_data_set_trace_id(ntr_perf_data *data, unsigned id);

/* Reads a file or folder, or a file in memory (which must live as long as `data`; `name` is used in messages). One call
 * for each object. Errors: NTR_E_IO, NTR_E_FORMAT (not perf.data, damaged, no AUX data), NTR_E_UNSUPPORTED (trace of
 * another kind, such as Intel PT; big-endian; compressed and built without zstd), NTR_E_MEMORY. */
NTR_API ntr_status ntr_perf_data_open(ntr_perf_data *data, const char *path);
NTR_API ntr_status ntr_perf_data_read(ntr_perf_data *data, const char *name, ntr_bytes bytes);

/* Returns a sentence about the last error, or "". */
NTR_API const char *ntr_perf_data_error(const ntr_perf_data *data);

/* Returns who wrote the trace, for example "xuantie_ntrace: blocks with headers". */
NTR_API const char *ntr_perf_data_producer(const ntr_perf_data *data);

/* Stores the stream parameters that the file contains; the others are left as they are. Returns their set (1 <<
 * ntr_parameter). */
NTR_API uint32_t ntr_perf_data_params(const ntr_perf_data *data, ntr_params *params);

/* Returns the first fragment of the trace, for inference of the other parameters. */
NTR_API ntr_bytes ntr_perf_data_sample(const ntr_perf_data *data);

/* Makes one stream of all trace and passes it to `write` in order. *params: how the trace is to be read; afterwards,
 * how the stream is: with several buffers and no SRC, SRC is added and is the number of the CPU. Once for each object.
 * Errors: those of `write`, NTR_E_MEMORY, those of ntr_params_check, NTR_E_LIMIT (more CPUs than SRC can tell apart),
 * NTR_E_UNSUPPORTED (SRC does not tell the sources apart; ntr_perf_data_error says which). */
NTR_API ntr_status ntr_perf_data_stream(ntr_perf_data *data, ntr_params *params,
                                        ntr_status (*write)(void *user, const void *bytes, size_t size), void *user);

/* Adds the mapped files to a program: before ntr_perf_data_stream without contexts, for inference; after it as the
 * stream needs them. Files that are not there or that have another build id are listed in the losses. `config` may be
 * NULL. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_perf_data_load(ntr_perf_data *data, const ntr_perf_config *config, ntr_program *program);

/* Adds the BPF programs, after the modules that the caller has linked: the kernel has put programs where modules were
 * before, and the image that is added last is visible. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_perf_data_load_bpf(ntr_perf_data *data, ntr_program *program);

/* Returns the module number `index`, after ntr_perf_data_load; NULL past the last. Valid until the next load. */
NTR_API const ntr_perf_module *ntr_perf_data_module(const ntr_perf_data *data, size_t index);

/* Compares a program file with the build ids that are recorded for files of its name, without folders (a name that
 * begins with "vmlinux": for the kernel). Returns false if there is none, otherwise true, and sets *same. */
NTR_API bool ntr_perf_data_knows(const ntr_perf_data *data, const char *path, bool *same);

/* Returns the process number `index`, after ntr_perf_data_stream; NULL past the last. */
NTR_API const ntr_perf_process *ntr_perf_data_process(const ntr_perf_data *data, size_t index);

/* Returns what is missing, one sentence each, or NULL past the last. */
NTR_API const char *ntr_perf_data_loss(const ntr_perf_data *data, size_t index);

/* Returns whether a part of the trace is not there or could not be read: AUX records say that some is missing, the file
 * is damaged or cut off, or its records expand to more than the limit. One of the losses says so. */
NTR_API bool ntr_perf_data_is_damaged(const ntr_perf_data *data);

#ifdef __cplusplus
}
#endif
#endif
