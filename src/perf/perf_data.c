#include "base/allocator.h"
#include "base/macros.h"
#include "dialect/params.h"
#include "perf/state.h"

#include <ntrace/frames.h>
#include <ntrace/transport.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* ---- Whose trace the AUX data is, and what encloses the messages. docs/perf.md, "Producers".
 *
 * The type number of AUXTRACE_INFO is not reliable: producers chose theirs before the kernel had one. The name of the
 * PMU and the bytes decide.
 *
 *   plain   the messages as the RAM sink had them
 *   blocks  each fragment begins with a header of 24 bytes (XuanTie's kernel)
 *   frames  CoreSight formatter frames of 16 bytes, with one ATB ID for each bridge */

/* ---- XuanTie: u32 size, inst_mode, src_bits, timestamp_bits, trace_ram_wrap, align */

enum { BLOCK_HEADER = 24, BLOCK_BTM = 3, BLOCK_HTM = 6 };

struct block_header {
    uint32_t size, mode, src_bits, timestamp_bits, wrapped, align;
};

static bool read_header(const struct ntr_perf_fragment *f, struct block_header *h) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(f->bytes, f->bytes ? (size_t)f->size : 0);

    *h = (struct block_header){.size = ntr_perf_u32(&c)};
    h->mode = ntr_perf_u32(&c);
    h->src_bits = ntr_perf_u32(&c);
    h->timestamp_bits = ntr_perf_u32(&c);
    h->wrapped = ntr_perf_u32(&c);
    h->align = ntr_perf_u32(&c);
    return !c.broken && h->size == BLOCK_HEADER && (h->mode == BLOCK_BTM || h->mode == BLOCK_HTM) &&
           h->src_bits <= 12 && h->timestamp_bits <= 64 && h->wrapped <= 1 && h->align == 0;
}

static ntr_status differ(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                         const struct ntr_perf_fragment *f) {
    return ntr_perf_lose(data,
                         "buffer %" PRIu32 ", byte 0x%" PRIx64
                         ": expected the header of a block, found none or another width of SRC; %" PRIu64
                         " bytes are left out",
                         buffer->index, f->offset, f->size);
}

static ntr_status take_header(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                              struct ntr_perf_fragment *f) {
    struct block_header h;

    if (!f->size) return NTR_OK;
    if (!read_header(f, &h) || h.src_bits != data->params.src_bits) {
        TRY(differ(data, buffer, f));
        f->size = 0;
        f->loss = true;
        return NTR_OK;
    }
    f->bytes += BLOCK_HEADER;
    f->size -= BLOCK_HEADER;
    f->apart = true;
    f->wrapped = h.wrapped;
    f->loss |= h.wrapped;
    return NTR_OK;
}

/* ---- every fragment of the file */

typedef ntr_status (*fragment_function)(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                                        struct ntr_perf_fragment *f);

static ntr_status for_each(struct ntr_perf_data *data, fragment_function function) {
    for (size_t i = 0; i < data->buffer_count; i++)
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++)
            TRY(function(data, &data->buffers[i], &data->buffers[i].fragments[k]));
    return NTR_OK;
}

static const struct ntr_perf_fragment *first_fragment(const struct ntr_perf_data *data) {
    for (size_t i = 0; i < data->buffer_count; i++)
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++)
            if (data->buffers[i].fragments[k].size) return &data->buffers[i].fragments[k];
    return NULL;
}

static void set_param(struct ntr_perf_data *data, unsigned parameter) {
    data->params_set |= 1u << parameter;
}

/* ---- CoreSight frames: messages of several IDs in one stream; SRC says which CPU sent a message. A message continues
 * in the next fragment of the buffer, unless something is missing between both. */

struct payload {
    const ntr_allocator *allocator;
    uint8_t *bytes;
    size_t size, capacity;
};

static ntr_status take_payload(void *user, const uint8_t *bytes, size_t size) {
    struct payload *to = user;

    if (ntr_reserve(to->allocator, (void **)&to->bytes, &to->capacity, to->size + size, 1)) return NTR_E_MEMORY;
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return NTR_OK;
}

static ntr_status take_off(const struct ntr_perf_data *data, struct ntr_perf_fragment *f, bool first) {
    struct payload to = {.allocator = data->allocator};
    ntr_status status = NTR_OK;

    if (first || f->loss || f->apart) {
        unsigned skip = 0;
        if (!ntr_frames_seen((ntr_bytes){f->bytes, (size_t)f->size}, &skip)) skip = 0;
        status = ntr_frames_restart(data->frames, f->wrapped || skip, skip);
    }
    if (status == NTR_OK) status = ntr_frames_feed(data->frames, f->bytes, (size_t)f->size, take_payload, &to);
    if (status != NTR_OK) {
        ntr_dealloc(data->allocator, to.bytes);
        return status;
    }
    ntr_dealloc(data->allocator, f->copy);
    f->bytes = f->copy = to.bytes;
    f->size = to.size;
    return NTR_OK;
}

static ntr_status take_buffer(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer) {
    bool first = true;

    for (size_t i = 0; i < buffer->fragment_count; i++) {
        if (!buffer->fragments[i].size) continue;
        TRY(take_off(data, &buffer->fragments[i], first));
        first = false;
    }
    return NTR_OK;
}

/* Where AUXTRACE_INFO is damaged, the messages say a width of SRC that is certain. */
static ntr_status take_frames(struct ntr_perf_data *data) {
    enum { SRC_CERTAIN = 12 };
    ntr_frames_options options;

    ntr_frames_options_init(&options);
    options.id = data->trace_id;
    options.allocator = data->allocator;
    data->form = NTR_PERF_FRAMES;
    TRY(ntr_frames_new(&options, &data->frames));
    for (size_t i = 0; i < data->buffer_count; i++) TRY(take_buffer(data, &data->buffers[i]));
    if (data->info_damaged && !(data->params_set & 1u << NTR_PARAMETER_SRC_BITS) &&
        ntr_frames_src_bits(data->frames) == SRC_CERTAIN) {
        data->params.src_bits = SRC_CERTAIN;
        set_param(data, NTR_PARAMETER_SRC_BITS);
    }
    if (!data->trace_id || ntr_frames_id_bytes(data->frames, data->trace_id)) return NTR_OK;
    return ntr_perf_fail(&data->file, NTR_E_FORMAT, "%s: expected messages with trace ID %u, found none", data->path,
                         data->trace_id);
}

/* Returns whether any fragment has frames. */
static bool are_frames(const struct ntr_perf_data *data) {
    unsigned skip;

    for (size_t i = 0; i < data->buffer_count; i++) {
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++) {
            const struct ntr_perf_fragment *f = &data->buffers[i].fragments[k];
            if (ntr_frames_seen((ntr_bytes){f->bytes, (size_t)f->size}, &skip)) return true;
        }
    }
    return false;
}

/* ---- AUXTRACE_INFO */

static const char *const other_traces[] = {
    "", "Intel PT", "Intel BTS", "CoreSight (Arm ETM)", "Arm SPE", "s390 CPU measurement", "HiSilicon PTT"};

/* SpacemiT: what AUXTRACE_INFO says of a CPU. */
struct cpu_entry {
    uint64_t cpu;
    bool is_etrace;
    uint8_t src_bits; /* 0: SRC is inhibited */
    uint16_t src;     /* SRC of its messages */
    uint8_t trace_id; /* of AUX_OUTPUT_HW_ID; 0: not known */
};

/* CPU, number of parameters, and these: format, context, inhibit SRC, SRC bits, SRC ID. Returns false if the entry ends
 * early, or has no such width. */
static bool read_cpu(struct ntr_perf_cursor *c, struct cpu_entry *entry) {
    enum { CPU_FORMAT, CPU_CONTEXT, CPU_INHIBIT, CPU_SRC_BITS, CPU_SRC_ID, CPU_USED };
    uint64_t values[CPU_USED] = {0};

    entry->cpu = ntr_perf_u64(c);
    uint64_t count = ntr_perf_u64(c);
    for (uint64_t i = 0; i < count && !c->broken; i++) {
        uint64_t value = ntr_perf_u64(c);
        if (i < CPU_USED) values[i] = value;
    }
    if (c->broken || count < CPU_USED || values[CPU_SRC_BITS] > 12) return false;
    entry->trace_id = 0;
    entry->is_etrace = values[CPU_FORMAT] == 0;
    entry->src_bits = values[CPU_INHIBIT] ? 0 : (uint8_t)values[CPU_SRC_BITS];
    entry->src = (uint16_t)(values[CPU_SRC_ID] & ((1u << entry->src_bits) - 1));
    return true;
}

/* Adds " 3" to a list of CPUs; one that is too long ends in "...". */
static void list_cpu(char *list, size_t size, uint64_t cpu) {
    const size_t used = strlen(list);
    char text[32];
    const int length = snprintf(text, sizeof text, " %" PRIu64, cpu);

    if (used + (size_t)length + sizeof " ..." <= size)
        memcpy(list + used, text, (size_t)length + 1);
    else if (used < 3 || strcmp(list + used - 3, "...") != 0)
        snprintf(list + used, size - used, " ...");
}

/* The CPUs that have traced: each wrote a record AUX_OUTPUT_HW_ID. `all`: which they are is not known. */
struct traced {
    bool all;
    uint64_t cpus[NTR_SOURCES_MAX / 64];
    uint8_t ids[NTR_SOURCES_MAX];
};

static void note_traced(struct traced *traced, const struct ntr_perf_record *r) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
    const uint64_t value = ntr_perf_u64(&c);

    traced->cpus[r->cpu / 64] |= UINT64_C(1) << r->cpu % 64;
    if (!c.broken) traced->ids[r->cpu] = (uint8_t)(value & 0xff);
}

static struct traced find_traced(const struct ntr_perf_file *file) {
    struct traced traced = {.all = file->lost || file->cut};
    bool any = false;

    for (size_t i = 0; i < file->record_count; i++) {
        const struct ntr_perf_record *r = &file->records[i];
        if (r->type != NTR_PERF_AUX_OUTPUT_HW_ID) continue;
        any = true;
        if (r->cpu < NTR_SOURCES_MAX)
            note_traced(&traced, r);
        else
            traced.all = true;
    }
    traced.all |= !any;
    return traced;
}

static bool has_traced(const struct traced *traced, uint64_t cpu) {
    return traced->all || cpu >= NTR_SOURCES_MAX || traced->cpus[cpu / 64] >> cpu % 64 & 1;
}

/* Two CPUs whose messages have the same trace ID and the same SRC: nothing tells them apart. */
static ntr_status refuse_twins(struct ntr_perf_data *data, const struct cpu_entry *entry,
                               struct cpu_entry by_id[NTR_ATB_ID_RESERVED]) {
    struct cpu_entry *other = entry->trace_id < NTR_ATB_ID_RESERVED ? &by_id[entry->trace_id] : NULL;

    if (!entry->trace_id || !other) return NTR_OK;
    if (other->trace_id && other->src == entry->src && other->cpu != entry->cpu) {
        char src[16] = "no SRC";
        if (entry->src_bits) snprintf(src, sizeof src, "SRC %u", entry->src);
        return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED,
                             "%s: AUXTRACE_INFO: CPUs %" PRIu64 " and %" PRIu64 ": both have trace ID %u and %s, so "
                             "nothing tells their messages apart; record one of them (perf record -C)",
                             data->path, other->cpu, entry->cpu, entry->trace_id, src);
    }
    *other = *entry;
    return NTR_OK;
}

static ntr_status refuse_cpus(struct ntr_perf_data *data, const struct cpu_entry *first, const char *formats,
                              const char *widths) {
    static const char *const names[] = {"N-Trace", "E-Trace"};

    if (*formats)
        return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED,
                             "%s: AUXTRACE_INFO: expected one FORMAT, found %s of CPU %" PRIu64 ", %s of CPU%s",
                             data->path, names[first->is_etrace], first->cpu, names[!first->is_etrace], formats);
    return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED,
                         "%s: AUXTRACE_INFO: expected one width of SRC, found %u of CPU %" PRIu64 ", another of CPU%s",
                         data->path, first->src_bits, first->cpu, widths);
}

/* The frames of all CPUs are in one buffer and become one stream, which has one format and one width of SRC. CPUs
 * that have not traced may differ. */
static ntr_status read_cpus(struct ntr_perf_data *data, struct ntr_perf_cursor *c, uint32_t count) {
    const struct traced traced = find_traced(&data->file);
    struct cpu_entry first = {0}, entry, by_id[NTR_ATB_ID_RESERVED] = {{0}};
    char formats[80] = "", widths[80] = "";
    bool known = false;
    uint32_t at = 0;

    for (; at < count && read_cpu(c, &entry); at++) {
        if (!has_traced(&traced, entry.cpu)) continue;
        if (entry.cpu < NTR_SOURCES_MAX) entry.trace_id = traced.ids[entry.cpu];
        TRY(refuse_twins(data, &entry, by_id));
        if (!known) first = entry;
        known = true;
        if (entry.is_etrace != first.is_etrace) list_cpu(formats, sizeof formats, entry.cpu);
        if (entry.src_bits != first.src_bits) list_cpu(widths, sizeof widths, entry.cpu);
    }
    if (*formats || *widths) return refuse_cpus(data, &first, formats, widths);
    data->is_etrace = first.is_etrace;
    if (known) {
        data->params.src_bits = first.src_bits;
        set_param(data, NTR_PARAMETER_SRC_BITS);
    }
    data->info_damaged = at < count || !known;
    if (!known)
        return ntr_perf_lose(data,
                             "AUXTRACE_INFO: expected the entry of a CPU that has traced, with FORMAT and a width "
                             "of SRC up to 12, found none: the width of SRC is not known");
    if (at < count)
        return ntr_perf_lose(data,
                             "AUXTRACE_INFO: expected entries of %" PRIu32 " CPUs, found %" PRIu32
                             ": the others are read as CPU %" PRIu64,
                             count, at, first.cpu);
    return NTR_OK;
}

/* The PMUs of RISC-V trace, in the drivers of Linux and its forks. */
static bool is_riscv(const char *pmu) {
    static const char *const names[] = {"rvtrace", "xuantie_ntrace", "riscv_trace", "gtrace"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(pmu, names[i]) == 0) return true;
    return false;
}

static ntr_status find_pmu(struct ntr_perf_data *data, const char **name) {
    struct ntr_perf_cursor c = ntr_perf_cursor_at(data->file.info.data, data->file.info.size);
    uint32_t type = ntr_perf_u32(&c);

    ntr_perf_u32(&c);
    uint64_t private = ntr_perf_u64(&c);
    *name = NULL;
    for (size_t i = 0; i < data->file.attr_count && !*name; i++) {
        const char *pmu = ntr_perf_pmu_name(&data->file, data->file.attrs[i].type);
        if (pmu && is_riscv(pmu)) *name = pmu;
    }
    if (data->file.info.data && !*name && type < sizeof other_traces / sizeof *other_traces)
        return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED, "%s: expected N-Trace, found %s", data->path,
                             type ? other_traces[type] : "no kind of trace");
    if (!c.broken && private >> 32 && ntr_perf_left(&c) >= 8) return read_cpus(data, &c, (uint32_t)private);
    return NTR_OK;
}

/* For CoreSight's PMUs the flags mean something else: only what is known to be RISC-V trace is asked. */
static ntr_status refuse_etrace(struct ntr_perf_data *data, const struct ntr_perf_buffer *buffer,
                                struct ntr_perf_fragment *f) {
    (void)buffer;
    if (!f->size || f->format == NTR_PERF_FORMAT_OPEN || f->format == NTR_PERF_FORMAT_NTRACE) return NTR_OK;
    return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED, "%s: the trace is %s (AUX flag 0x%02x00), not N-Trace",
                         data->path, f->format == NTR_PERF_FORMAT_ETRACE ? "E-Trace" : "of an unknown format",
                         f->format);
}

static ntr_status find_blocks(struct ntr_perf_data *data, const struct block_header *h) {
    const ntr_dialect *dialect = ntr_dialect_find("xuantie");

    data->form = NTR_PERF_BLOCKS;
    if (dialect) {
        ntr_params_init(&data->params, dialect);
        set_param(data, NTR_PARAMETER_DIALECT);
    }
    data->params.src_bits = (uint8_t)h->src_bits;
    data->params.timestamps = h->timestamp_bits ? NTR_TIMESTAMPS_ON : NTR_TIMESTAMPS_OFF;
    data->params.ts_width = (uint8_t)h->timestamp_bits;
    set_param(data, NTR_PARAMETER_SRC_BITS);
    set_param(data, NTR_PARAMETER_TIMESTAMPS);
    if (h->timestamp_bits) set_param(data, NTR_PARAMETER_TS_WIDTH);
    return for_each(data, take_header);
}

ntr_status ntr_perf_form_find(struct ntr_perf_data *data) {
    const struct ntr_perf_fragment *first = first_fragment(data);
    struct block_header h;
    const char *pmu;

    TRY(find_pmu(data, &pmu));
    if (!first) return ntr_perf_fail(&data->file, NTR_E_FORMAT, "%s: expected AUX data, found none", data->path);
    data->producer = pmu ? pmu : "unknown PMU";
    if (pmu) TRY(for_each(data, refuse_etrace));
    if (data->is_etrace)
        return ntr_perf_fail(&data->file, NTR_E_UNSUPPORTED,
                             "%s: the trace is E-Trace (FORMAT 0 in AUXTRACE_INFO), not N-Trace", data->path);
    if (read_header(first, &h)) return find_blocks(data, &h);
    if (are_frames(data)) return take_frames(data);
    if (!data->trace_id) return NTR_OK;
    return ntr_perf_fail(&data->file, NTR_E_FORMAT, "%s: trace ID %u: expected CoreSight frames, found none",
                         data->path, data->trace_id);
}

bool ntr_perf_data_seen(ntr_bytes beginning) {
    return ntr_perf_file_is(beginning);
}

bool ntr_perf_folder_seen(const char *path) {
    char name[4096];
    uint8_t bytes[16];

    if (snprintf(name, sizeof name, "%s/data", path) >= (int)sizeof name) return false;
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    size_t size = 0;
    while (size < sizeof bytes) {
        const ssize_t got = read(file, bytes + size, sizeof bytes - size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        size += (size_t)got;
    }
    close(file);
    return ntr_perf_file_is((ntr_bytes){bytes, size});
}

ntr_status ntr_perf_data_new(const ntr_allocator *allocator, ntr_perf_data **out) {
    *out = NULL;
    ntr_perf_data *data = ntr_alloc(allocator, 1, sizeof *data);

    if (!data) return NTR_E_MEMORY;
    if (allocator) {
        data->allocator_copy = *allocator;
        data->allocator = &data->allocator_copy;
    }
    data->file.allocator = data->allocator;
    ntr_params_init(&data->params, NULL);
    *out = data;
    return NTR_OK;
}

void ntr_perf_data_set_limits(ntr_perf_data *data, const ntr_limits *limits) {
    data->file.limits = *limits;
}

void ntr_perf_data_set_trace_id(ntr_perf_data *data, unsigned id) {
    data->trace_id = id < NTR_ATB_ID_RESERVED ? (uint8_t)id : 0;
}

static void release_buffers(ntr_perf_data *data) {
    for (size_t i = 0; i < data->buffer_count; i++) {
        struct ntr_perf_buffer *b = &data->buffers[i];
        for (size_t k = 0; k < b->fragment_count; k++) ntr_dealloc(data->allocator, b->fragments[k].copy);
        ntr_dealloc(data->allocator, b->fragments);
        ntr_dealloc(data->allocator, b->out);
    }
    ntr_dealloc(data->allocator, data->buffers);
}

void ntr_perf_data_free(ntr_perf_data *data) {
    if (!data) return;
    ntr_allocator copy = data->allocator_copy;
    const ntr_allocator *allocator = data->allocator ? &copy : NULL;
    void *blocks[] = {data->path,    data->mappings, data->starts,   data->names,  data->switches,
                      data->changes, data->pokes,    data->owners,   data->pieces, data->processes,
                      data->threads, data->modules,  data->unpacked, data->spans};

    release_buffers(data);
    ntr_frames_free(data->frames);
    ntr_perf_modules_release(data);
    for (size_t i = 0; i < data->loss_count; i++) ntr_dealloc(allocator, (void *)(uintptr_t)data->losses[i]);
    ntr_dealloc(allocator, data->losses);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ntr_dealloc(allocator, blocks[i]);
    ntr_perf_file_release(&data->file);
    ntr_dealloc(allocator, data);
}

static ntr_status understand(ntr_perf_data *data) {
    TRY(ntr_perf_aux_find(data));
    TRY(ntr_perf_form_find(data));
    TRY(ntr_perf_tasks_read(data));
    TRY(ntr_perf_running_read(data));
    if (data->file.limited)
        TRY(ntr_perf_lose(data, "its records: expected at most %llu bytes (limit perf-output), found more",
                          (unsigned long long)ntr_limits_get(&data->file.limits, NTR_LIMIT_PERF_OUTPUT)));
    else if (data->file.cut)
        TRY(ntr_perf_lose(data, "the file is damaged, or its end is missing"));
    if (data->file.lost)
        TRY(ntr_perf_lose(data, "%llu records of the kernel were lost", (unsigned long long)data->file.lost));
    return NTR_OK;
}

static ntr_status ended(ntr_perf_data *data, ntr_status status) {
    if (status == NTR_OK) return status;
    snprintf(data->error, sizeof data->error, "%s", data->file.error[0] ? data->file.error : ntr_status_text(status));
    return status;
}

ntr_status ntr_perf_data_open(ntr_perf_data *data, const char *path) {
    data->path = ntr_perf_copy_text(data->allocator, path);
    if (!data->path) return ended(data, NTR_E_MEMORY);
    ntr_status status = ntr_perf_file_open(&data->file, path);
    return ended(data, status == NTR_OK ? understand(data) : status);
}

ntr_status ntr_perf_data_read(ntr_perf_data *data, const char *name, ntr_bytes bytes) {
    data->path = ntr_perf_copy_text(data->allocator, name);
    if (!data->path) return ended(data, NTR_E_MEMORY);
    ntr_status status = ntr_perf_file_read(&data->file, name, bytes);
    return ended(data, status == NTR_OK ? understand(data) : status);
}

const char *ntr_perf_data_error(const ntr_perf_data *data) {
    return data->error;
}

const char *ntr_perf_data_producer(const ntr_perf_data *data) {
    return data->producer ? data->producer : "";
}

uint32_t ntr_perf_data_params(const ntr_perf_data *data, ntr_params *params) {
    ntr_params_copy(params, &data->params, data->params_set);
    return data->params_set;
}

ntr_bytes ntr_perf_data_sample(const ntr_perf_data *data) {
    for (size_t i = 0; i < data->buffer_count; i++)
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++)
            if (data->buffers[i].fragments[k].size)
                return (ntr_bytes){data->buffers[i].fragments[k].bytes, (size_t)data->buffers[i].fragments[k].size};
    return (ntr_bytes){0};
}

const ntr_perf_process *ntr_perf_data_process(const ntr_perf_data *data, size_t index) {
    return index < data->process_count ? &data->processes[index] : NULL;
}

bool ntr_perf_data_is_damaged(const ntr_perf_data *data) {
    return data->file.cut || data->file.limited || data->info_damaged || data->trace_missing;
}

const char *ntr_perf_data_loss(const ntr_perf_data *data, size_t index) {
    return index < data->loss_count ? data->losses[index] : NULL;
}
