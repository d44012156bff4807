/* A perf.data file with trace of one or more CPUs or threads, on its way to one stream and a program.
 *
 * The AUX data of each buffer is divided into fragments (aux.c): one for each AUX record. The side-band records become
 * tasks with their mappings (tasks.c), and, for each CPU, which task ran when (running.c). The relation of the trace's
 * time to perf's is found (clock.c). Then each fragment is read message by message and cut into pieces, at the times
 * at which another task begins to run or mappings change (pieces.c). The pieces of all buffers, sorted by time, are the
 * stream (stream.c). At the start of a piece an Ownership message is inserted, with the process as its context, so that
 * the images of a process are bound to a context like any other (images.c). */
#ifndef NTR_PERF_STATE_H
#define NTR_PERF_STATE_H

#include "perf/file.h"

#include <ntrace/clock.h>
#include <ntrace/frames.h>
#include <ntrace/perf_data.h>
#include <ntrace/program.h>

#define NTR_PERF_NOBODY UINT32_MAX /* no process, no CPU, no thread */

/* One AUX record's part of a buffer. */
struct ntr_perf_fragment {
    uint64_t offset, size; /* in the stream of the buffer */
    uint64_t begin, end;   /* perf's time: the trace is between both */
    uint32_t pid;          /* of the AUX record, or NTR_PERF_NOBODY */
    uint8_t format;        /* of the AUX record's flags: enum ntr_perf_format */
    bool loss;             /* something is missing before the fragment */
    bool apart;            /* does not continue the fragment before, for other reasons: begins with a header */
    bool wrapped;          /* may begin inside a message */
    const uint8_t *bytes;  /* inside the file, or `copy` */
    uint8_t *copy;
    uint64_t first_time, last_time; /* of the trace, if `timed` */
    bool timed;
};

/* The trace of one CPU, or of one thread. */
struct ntr_perf_buffer {
    uint32_t index, cpu, tid;
    uint32_t src;               /* see enum ntr_perf_sources */
    size_t blocks, block_count; /* in ntr_perf_file.blocks */
    uint64_t started;           /* ITRACE_START */
    struct ntr_perf_fragment *fragments;
    size_t fragment_count, fragment_capacity;
    uint8_t *out; /* messages of the pieces */
    size_t out_size, out_capacity;
};

/* From `first` on, before `last`; in perf's time. */
struct ntr_perf_life {
    uint64_t first, last;
};
#define NTR_PERF_ALWAYS ((struct ntr_perf_life){0, UINT64_MAX})

/* A file mapped into a process, or the kernel. */
struct ntr_perf_mapping {
    uint32_t pid;         /* NTR_PERF_NOBODY: the kernel */
    uint32_t first, last; /* generations of the process */
    uint64_t address, length, offset;
    const char *path;
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: not known */
    uint64_t time;             /* of the record */
    struct ntr_perf_life life; /* of a module: when it is there */
    bool ambiguous;            /* ... it is not known when: another one is at the same addresses */
    bool repeated;             /* ... which an earlier record says, too */
    bool copied;               /* ... whose code is that of a copy of /proc/kcore */
    size_t previous;       /* current mapping of the same bucket, plus 1 */
};

/* The files at the addresses of a process change: it is created, executes a program (`program`), or maps a file over
 * another one. The times between have numbers, its generations. */
struct ntr_perf_start {
    uint32_t pid, generation;
    uint64_t time;
    bool program;
    size_t previous; /* of the same bucket, plus 1 */
};

/* What is at the addresses of a process in one generation; the context (scontext) of its code. */
static inline uint64_t ntr_perf_space(uint32_t pid, uint32_t generation) {
    return (uint64_t)generation << 32 | pid;
}

static inline bool ntr_perf_mapping_is_in(const struct ntr_perf_mapping *m, uint64_t space) {
    return m->pid == (uint32_t)space && m->first <= space >> 32 && space >> 32 <= m->last;
}

/* From `time` on, the process has another name. */
struct ntr_perf_name {
    uint32_t pid;
    uint64_t time;
    const char *name;
};

/* A thread, and since when it is one of this process: the number may be used again. */
struct ntr_perf_thread {
    uint32_t tid, pid;
    uint64_t time;
};

/* From `time` on, `pid` runs on the CPU. */
struct ntr_perf_switch {
    uint32_t cpu, pid;
    uint64_t time;
};

/* Bytes of the kernel before and after a change. */
struct ntr_perf_poke {
    uint64_t time, address;
    ntr_bytes before, after;
};

/* An Ownership context and the process that has it. */
struct ntr_perf_owner {
    uint64_t scontext;
    uint32_t pid;
};

struct ntr_perf_piece {
    uint64_t time, order;
    uint64_t space;
    uint32_t buffer;
    size_t at, size;   /* in `out` of the buffer */
    uint64_t position; /* in the stream */
};

/* When messages of a SRC came: in ticks of the trace, and in perf's time. sources.c */
struct ntr_perf_times {
    uint64_t first, last;
};
struct ntr_perf_span {
    uint16_t src;
    bool timed;      /* `ticks` is valid */
    uint32_t buffer; /* its number, */
    size_t fragment; /* and that of the fragment */
    struct ntr_perf_times ticks, record;
};

/* Where SRC of the stream comes from. With `added` and `replaced` it is ntr_perf_buffer.src. */
enum ntr_perf_sources {
    NTR_PERF_SOURCES_OWN,      /* the messages have it */
    NTR_PERF_SOURCES_ADDED,    /* several buffers, and no SRC in the messages */
    NTR_PERF_SOURCES_REPLACED, /* several buffers with the same SRC */
};

/* perf's time from the trace's: either (ticks * mult >> shift) + zero, or ticks * rate + offset. */
struct ntr_perf_clock {
    bool known, linear;
    uint64_t mult, zero;
    unsigned shift;
    double rate, offset;
};

enum { NTR_PERF_BUCKETS = 4096 };

enum ntr_perf_form { NTR_PERF_PLAIN, NTR_PERF_BLOCKS, NTR_PERF_FRAMES };

/* PERF_AUX_FLAG_PMU_FORMAT_TYPE of the PMUs of RISC-V trace. */
enum ntr_perf_format { NTR_PERF_FORMAT_OPEN = 0, NTR_PERF_FORMAT_ETRACE = 1, NTR_PERF_FORMAT_NTRACE = 2 };

struct ntr_perf_data {
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator;
    struct ntr_perf_file file;
    char *path;
    enum ntr_perf_form form;
    ntr_params params; /* as far as the file says them */
    uint32_t params_set;
    uint8_t trace_id;  /* of CoreSight frames: the one to read; 0: all */
    ntr_frames *frames; /* what was found in CoreSight frames, or NULL */
    bool is_etrace;        /* AUXTRACE_INFO says so */
    bool trace_missing;    /* AUX records say so */
    bool info_damaged;     /* AUXTRACE_INFO does not say it of all CPUs */
    enum ntr_perf_sources sources;
    const char *producer;  /* in words */
    bool bind;             /* more than one space: contexts are inserted */
    bool owner_seen;       /* the trace has Ownership messages, */
    bool modes_sent;       /* also ones that do not belong to a synchronizing message: those of changes of mode */
    bool contexts_are_threads; /* scontext is the number of a thread, as Linux sets it: it says who runs */

    struct ntr_perf_buffer *buffers;
    size_t buffer_count, buffer_capacity;
    struct ntr_perf_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct ntr_perf_start *starts;
    size_t start_count, start_capacity;
    size_t current[NTR_PERF_BUCKETS], starts_of[NTR_PERF_BUCKETS]; /* lists by process id: last item plus 1 */
    struct ntr_perf_name *names;
    size_t name_count, name_capacity;
    struct ntr_perf_thread *threads; /* sorted by number, then time */
    size_t thread_count, thread_capacity;
    struct ntr_perf_switch *switches; /* sorted by CPU, then time */
    size_t switch_count, switch_capacity;
    bool switch_seen; /* context switches were recorded */
    uint64_t *changes; /* times at which mappings are replaced; sorted */
    size_t change_count, change_capacity;
    struct ntr_perf_poke *pokes;
    size_t poke_count, poke_capacity;
    struct ntr_perf_clock clock;
    struct ntr_perf_owner *owners; /* without a clock */
    size_t owner_count, owner_capacity;
    struct ntr_perf_span *spans;   /* sorted by SRC when they are checked */
    size_t span_count, span_capacity;
    struct ntr_perf_piece *pieces; /* sorted by time when the stream is made */
    size_t piece_count, piece_capacity;
    uint64_t stream_size;

    bool kernel_copied; /* its code is that of a copy of /proc/kcore */
    ntr_perf_module *modules;
    size_t module_count, module_capacity;
    int *unpacked; /* descriptors of files of modules that were compressed */
    size_t unpacked_count, unpacked_capacity;
    size_t missing_modules;  /* without a file, */
    char missing_module[256]; /* and the first of them */

    const char **losses; /* sentences */
    size_t loss_count, loss_capacity;
    ntr_perf_process *processes; /* that have pieces */
    size_t process_count, process_capacity;
    char error[256];
};

/* Appends a zeroed item to an array of the struct; NULL: out of memory. */
#define NTR_PERF_ADD(data, array, count, capacity)                                                                     \
    (ntr_reserve((data)->allocator, (void **)&(data)->array, &(data)->capacity, (data)->count + 1,                     \
                 sizeof *(data)->array)                                                                                \
         ? NULL                                                                                                        \
         : (memset(&(data)->array[(data)->count], 0, sizeof *(data)->array), &(data)->array[(data)->count++]))

/* Adds a sentence to the losses. Errors: NTR_E_MEMORY. */
ntr_status ntr_perf_lose(struct ntr_perf_data *data, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A new string, or NULL. */
char *ntr_perf_copy_text(const ntr_allocator *allocator, const char *text);

/* aux.c */
ntr_status ntr_perf_aux_find(struct ntr_perf_data *data); /* buffers and fragments */

/* Whose data it is. Headers and frames are taken off the fragments. */
ntr_status ntr_perf_form_find(struct ntr_perf_data *data);

/* sources.c: after the survey. `most`: the largest number of a buffer. Errors: NTR_E_UNSUPPORTED, with a sentence: SRC
 * does not tell the CPUs apart. */
ntr_status ntr_perf_sources_check(struct ntr_perf_data *data, unsigned src_bits, uint32_t most);

/* Errors: NTR_E_UNSUPPORTED, with a sentence: messages of several trace IDs cannot be told apart by SRC. */
ntr_status ntr_perf_frames_check(struct ntr_perf_data *data, unsigned src_bits);

/* tasks.c */
ntr_status ntr_perf_tasks_read(struct ntr_perf_data *data);
uint32_t ntr_perf_generation(const struct ntr_perf_data *data, uint32_t pid, uint64_t time);
/* The process of a thread, or NTR_PERF_NOBODY. */
uint32_t ntr_perf_process_of(const struct ntr_perf_data *data, uint64_t tid, uint64_t time);
ntr_status ntr_perf_count_process(struct ntr_perf_data *data, uint64_t space, uint64_t bytes);
const char *ntr_perf_task_name(const struct ntr_perf_data *data, uint32_t pid);

/* running.c */
ntr_status ntr_perf_running_read(struct ntr_perf_data *data);
/* The process that runs on the CPU at this time. *next: when another begins to run; UINT64_MAX: never. */
uint32_t ntr_perf_running_at(const struct ntr_perf_data *data, uint32_t cpu, uint64_t time, uint64_t *next);

/* clock.c */
void ntr_perf_clock_find(struct ntr_perf_data *data);
uint64_t ntr_perf_clock_time(const struct ntr_perf_clock *clock, uint64_t ticks);

/* owners.c: the times of fragments, and the contexts of processes */
ntr_status ntr_perf_survey(struct ntr_perf_data *data, const ntr_params *params);
uint32_t ntr_perf_owner_of(const struct ntr_perf_data *data, uint64_t scontext);

/* pieces.c: `params` of the trace, `out` of the stream */
ntr_status ntr_perf_pieces_make(struct ntr_perf_data *data, const ntr_params *params, const ntr_params *out);

/* modules.c: forgets all modules. */
void ntr_perf_modules_release(struct ntr_perf_data *data);

/* lives.c: when each module is there. Returns whether a time says when a record was made. Sets the part of the stream
 * in which an image is valid; false: it has none. */
ntr_status ntr_perf_lives_find(struct ntr_perf_data *data);
bool ntr_perf_time_is_known(const struct ntr_perf_data *data, uint64_t time);
bool ntr_perf_life_place(const struct ntr_perf_data *data, struct ntr_perf_life life, ntr_image_options *options);

/* stream.c */
uint64_t ntr_perf_stream_position(const struct ntr_perf_data *data, uint64_t time);

#endif
