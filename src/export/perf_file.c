/* The file perf.data: header, one event attribute, records, features. */
#include "analysis/functions.h"
#include "base/allocator.h"
#include "base/bytes.h"
#include "export/perf_record.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct ntr_perf_bytes {
    const ntr_allocator *allocator;
    uint8_t *data;
    size_t size, capacity;
    bool failed; /* out of memory */
    bool unreadable; /* a file of the program, or its copy cannot be written */
} ntr_perf_bytes;

static void ntr_perf_end_record(ntr_perf_bytes *b, size_t at);

static void ntr_perf_add_bytes(ntr_perf_bytes *b, const void *bytes, size_t size) {
    b->failed |= ntr_reserve(b->allocator, (void **)&b->data, &b->capacity, b->size + size, 1) != 0;
    if (b->failed) return;
    memcpy(b->data + b->size, bytes, size);
    b->size += size;
}

static void add_number(ntr_perf_bytes *b, uint64_t value, unsigned size) {
    uint8_t bytes[8];

    ntr_little_put(bytes, value, size);
    ntr_perf_add_bytes(b, bytes, size);
}

static void ntr_perf_add_u16(ntr_perf_bytes *b, uint64_t value) {
    add_number(b, value, 2);
}

static void ntr_perf_add_u32(ntr_perf_bytes *b, uint64_t value) {
    add_number(b, value, 4);
}

static void ntr_perf_add_u64(ntr_perf_bytes *b, uint64_t value) {
    add_number(b, value, 8);
}

/* Up to the NUL, then zeros up to a multiple of 8. */
static void ntr_perf_add_name(ntr_perf_bytes *b, const char *name) {
    static const char zeros[8];
    size_t size = strlen(name) + 1;

    ntr_perf_add_bytes(b, name, size);
    ntr_perf_add_bytes(b, zeros, -size % 8);
}

/* Returns where the record begins; ntr_perf_end_record stores its size there. */
static size_t ntr_perf_begin_record(ntr_perf_bytes *b, unsigned type, unsigned misc) {
    size_t at = b->size;

    ntr_perf_add_u32(b, type);
    ntr_perf_add_u16(b, misc);
    ntr_perf_add_u16(b, 0);
    return at;
}

static void ntr_perf_end_record(ntr_perf_bytes *b, size_t at) {
    if (b->failed) return;
    ntr_little_put(b->data + at + 6, b->size - at, 2);
}

/* ---- The records of the file perf.data. */

/* TID, TIME, CPU: at the end of records that are no samples. */
static void add_ids(ntr_perf_bytes *b, uint32_t pid, uint32_t tid, uint64_t time) {
    ntr_perf_add_u32(b, pid);
    ntr_perf_add_u32(b, tid);
    ntr_perf_add_u64(b, time);
    ntr_perf_add_u64(b, 0); /* CPU */
}

/* ---- processes, their files and threads */

typedef struct ntr_perf_row {
    uint32_t pid, tid;
    uint16_t src;
} ntr_perf_row;

enum { TYPE_COMM = 3, TYPE_SAMPLE = 9, TYPE_MMAP2 = 10, MISC_OF_KERNEL = 1, MISC_OF_USER = 2 };

static void add_comm(ntr_perf_bytes *b, uint32_t pid, uint32_t tid, const char *name) {
    enum { COMM_MOST = 15 };
    char comm[COMM_MOST + 1] = "trace";
    size_t at = ntr_perf_begin_record(b, TYPE_COMM, MISC_OF_USER);

    if (name && *name) {
        const size_t size = strlen(name) < COMM_MOST ? strlen(name) : COMM_MOST;
        memcpy(comm, name, size);
        comm[size] = 0;
    }
    ntr_perf_add_u32(b, pid);
    ntr_perf_add_u32(b, tid);
    ntr_perf_add_name(b, comm);
    add_ids(b, pid, tid, 0);
    ntr_perf_end_record(b, at);
}

/* What is mapped from a time on. */
typedef struct perf_map {
    uint32_t pid;
    uint64_t time, start, size, offset;
    const char *path;
} perf_map;

static void add_mmap(ntr_perf_bytes *b, const perf_map *m) {
    size_t at = ntr_perf_begin_record(b, TYPE_MMAP2, MISC_OF_USER);

    ntr_perf_add_u32(b, m->pid);
    ntr_perf_add_u32(b, m->pid);
    ntr_perf_add_u64(b, m->start);
    ntr_perf_add_u64(b, m->size);
    ntr_perf_add_u64(b, m->offset);
    ntr_perf_add_u64(b, 0); /* device */
    ntr_perf_add_u64(b, 0); /* inode */
    ntr_perf_add_u64(b, 0); /* generation */
    ntr_perf_add_u32(b, 5); /* read, execute */
    ntr_perf_add_u32(b, 2); /* private */
    ntr_perf_add_name(b, m->path);
    add_ids(b, m->pid, m->pid, m->time);
    ntr_perf_end_record(b, at);
}

static void add_segment(ntr_perf_bytes *b, perf_map m, uint64_t bias, const GElf_Phdr *p) {
    const uint64_t page = 4096, start = (p->p_vaddr + bias) & ~(page - 1), skipped = p->p_vaddr + bias - start;

    m.start = start;
    m.size = (p->p_filesz + skipped + page - 1) & ~(page - 1);
    m.offset = p->p_offset - skipped;
    add_mmap(b, &m);
}

static void add_memory(ntr_perf_bytes *b, perf_map m, uint64_t first, uint64_t end) {
    m.start = first;
    m.size = end - first;
    m.path = "//anon";
    if (m.size) add_mmap(b, &m);
}

static void add_segments(const ntr_export *x, ntr_perf_bytes *b, perf_map m, const ntr_image_info *image,
                         size_t number) {
    char path[4096], copy[4096];
    size_t count = 0;
    const ntr_status cleaned = ntr_perf_clean(x, number, image->path, copy, sizeof copy);
    const char *used = cleaned == NTR_OK ? copy : image->path;
    b->failed |= cleaned == NTR_E_MEMORY;
    b->unreadable |= cleaned == NTR_E_IO;
    int file = realpath(used, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

    if (file < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        b->unreadable = true;
        return;
    }
    m.path = path;
    errno = 0; /* libelf has no code for "no memory"; malloc sets errno */
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    b->unreadable |= !elf || elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(elf, (int)i, &p))
            b->unreadable = true;
        else if (p.p_type == PT_LOAD && p.p_flags & PF_X)
            add_segment(b, m, image->bias, &p);
    }
    b->failed |= errno == ENOMEM;
    elf_end(elf);
    close(file);
}

static bool is_of(const ntr_image_info *image, uint32_t pid) {
    const ntr_context context = {.has_scontext = true, .scontext = image->options.scontext};
    return !image->options.has_scontext || ntr_perf_pid(&context) == pid;
}

/* Returns the name of a process: what the system called it, otherwise the name of its first file, which is the program;
 * the title of the trace when neither is known. */
static const char *name_of(ntr_export *x, uint32_t pid) {
    const ntr_tasks *tasks = ntr_functions_tasks(x->analysis.functions);
    const ntr_task *task = tasks ? ntr_tasks_context(tasks, pid) : NULL;
    const char *shared = NULL; /* of a file that all contexts have */
    ntr_image_info image;

    if (task) return task->name;
    for (size_t i = 0; ntr_program_image(x->analysis.program, i, &image) == NTR_OK; i++) {
        const char *path = image.options.name ? image.options.name : image.path;
        if (!image.path || !is_of(&image, pid) || (shared && !image.options.has_scontext)) continue;
        const char *slash = strrchr(path, '/');
        const char *name = slash && slash[1] ? slash + 1 : path;
        if (image.options.has_scontext) return name;
        shared = name;
    }
    return shared ? shared : x->analysis.title;
}

static bool is_there(const ntr_image_info *image, uint64_t position) {
    return image->options.from <= position && (!image->options.until || position < image->options.until);
}

/* The changes [first, end) at one position, of one process: perf takes what was mapped last. */
typedef struct perf_mapping {
    const ntr_export *x;
    const ntr_perf_samples *samples;
    ntr_perf_bytes *bytes;
    perf_map like;
    size_t first, end;
} perf_mapping;

static bool take_image(const perf_mapping *m, size_t number, ntr_image_info *image) {
    return ntr_program_image(m->x->analysis.program, number, image) == NTR_OK && is_of(image, m->like.pid);
}

/* A file ends: memory without a file is there. */
static void end_files(const perf_mapping *m) {
    ntr_image_info image;

    for (size_t i = m->first; i < m->end; i++)
        if (take_image(m, m->samples->changes[i].image, &image) && image.path &&
            image.options.until == m->samples->changes[i].position)
            add_memory(m->bytes, m->like, image.low, image.high);
}

/* Is something else at addresses of the file from now on, or is it the file that begins? */
static bool is_touched(const perf_mapping *m, const ntr_image_info *file) {
    ntr_image_info other;

    for (size_t i = m->first; i < m->end; i++)
        if (take_image(m, m->samples->changes[i].image, &other) && file->low < other.high && other.low < file->high)
            return true;
    return false;
}

static void add_files(const perf_mapping *m) {
    ntr_image_info image;

    for (size_t i = 0; i < m->samples->file_count; i++)
        if (take_image(m, m->samples->files[i], &image) && is_there(&image, m->samples->changes[m->first].position) &&
            is_touched(m, &image))
            add_segments(m->x, m->bytes, m->like, &image, m->samples->files[i]);
}

/* Code without a file, where the file does not name it. */
static void add_code(const perf_mapping *m) {
    ntr_image_info image;

    for (size_t i = m->first; i < m->end; i++) {
        const ntr_perf_change *change = &m->samples->changes[i];
        if (!take_image(m, change->image, &image) || image.path || image.options.from != change->position) continue;
        for (uint64_t first = image.low, end;
             ntr_perf_memory(m->x->analysis.program, &image, change->image, &first, &end); first = end)
            add_memory(m->bytes, m->like, first, end);
    }
}

static void add_images(const ntr_export *x, ntr_perf_bytes *b, const ntr_perf_samples *s, uint32_t pid) {
    perf_mapping m = {x, s, b, {.pid = pid}, 0, 0};

    for (; m.first < s->changes_reached; m.first = m.end) {
        const ntr_perf_change *at = &s->changes[m.first];
        for (m.end = m.first + 1; m.end < s->changes_reached && s->changes[m.end].position == at->position;) m.end++;
        m.like.time = at->time;
        end_files(&m);
        add_files(&m);
        add_code(&m);
    }
}

static void add_process(ntr_export *x, ntr_perf_bytes *b, const ntr_perf_samples *s, const ntr_perf_row *threads,
                        size_t count) {
    const uint32_t pid = threads[0].pid;
    const char *name = name_of(x, pid);

    add_comm(b, pid, pid, name);
    add_images(x, b, s, pid);
    for (size_t i = 0; i < count; i++) {
        const char *own = ntr_export_source(x, threads[i].src);
        if (own || threads[i].tid != pid) add_comm(b, pid, threads[i].tid, own ? own : name);
    }
}

static int compare_threads(const void *a, const void *b) {
    const ntr_perf_row *x = a, *y = b;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    return (x->src > y->src) - (x->src < y->src);
}

/* Makes the list of all threads: the first source of a process has its number, each other one a number of its own. */
static size_t list_threads(ntr_perf_row *list, const ntr_perf_samples *s) {
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++) list[i] = (ntr_perf_row){.pid = s->items[i].pid, .src = s->items[i].src};
    if (s->count) qsort(list, s->count, sizeof *list, compare_threads);
    for (size_t i = 0; i < s->count; i++)
        if (!kept || compare_threads(&list[kept - 1], &list[i])) list[kept++] = list[i];
    uint32_t next = kept ? list[kept - 1].pid + 1 : 0;
    for (size_t i = 0; i < kept; i++) list[i].tid = i && list[i - 1].pid == list[i].pid ? next++ : list[i].pid;
    return kept;
}

/* Adds the records of the processes of the samples, with their files and threads. */
static void ntr_perf_add_processes(ntr_export *x, ntr_perf_bytes *b, const ntr_perf_samples *s,
                                   const ntr_perf_row *threads, size_t count) {
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && threads[next].pid == threads[i].pid;) next++;
        add_process(x, b, s, threads + i, next - i);
    }
}

/* ---- samples */

enum { CHAIN_SHOWN = 126 };
static const uint64_t context_user = (uint64_t)-512, context_kernel = (uint64_t)-128;

static void add_chain(ntr_perf_bytes *b, const ntr_perf_samples *s, const ntr_perf_sample *sample) {
    const uint32_t depth = s->nodes[sample->chain].depth, shown = depth < CHAIN_SHOWN ? depth : CHAIN_SHOWN;
    uint32_t node = sample->chain;

    ntr_perf_add_u64(b, 2 + shown);
    ntr_perf_add_u64(b, sample->kernel ? context_kernel : context_user);
    ntr_perf_add_u64(b, sample->address);
    for (uint32_t i = 0; i < shown; i++) {
        ntr_perf_add_u64(b, s->nodes[node].return_to);
        node = s->nodes[node].parent;
    }
}

/* Bit 1: predicted; bits 20 to 23: the kind. */
static uint64_t branch_flags(unsigned end) {
    static const uint8_t kinds[NTR_SPAN_KINDS] = {
        [NTR_SPAN_TAKEN] = 1,        [NTR_SPAN_JUMP] = 2,          [NTR_SPAN_INDIRECT_JUMP] = 3,
        [NTR_SPAN_CALL] = 4,         [NTR_SPAN_INDIRECT_CALL] = 5, [NTR_SPAN_RETURN] = 6,
        [NTR_SPAN_TRAP_RETURN] = 11, [NTR_SPAN_INTERRUPT] = 12,    [NTR_SPAN_CO_SWAP] = 5,
    };
    return 2 | (uint64_t)kinds[end] << 20;
}

static void add_sample(ntr_perf_bytes *b, const ntr_perf_samples *s, size_t number, uint32_t tid) {
    const ntr_perf_sample *sample = &s->items[number];
    size_t at = ntr_perf_begin_record(b, TYPE_SAMPLE, sample->kernel ? MISC_OF_KERNEL : MISC_OF_USER);

    ntr_perf_add_u64(b, sample->address);
    ntr_perf_add_u32(b, sample->pid);
    ntr_perf_add_u32(b, tid);
    ntr_perf_add_u64(b, sample->time);
    ntr_perf_add_u64(b, sample->src); /* CPU */
    ntr_perf_add_u64(b, sample->period);
    add_chain(b, s, sample);
    if (s->depth) ntr_perf_add_u64(b, sample->branches);
    for (unsigned i = 0; i < sample->branches; i++) {
        const ntr_perf_branch *branch = &s->branches[number * s->depth + i];
        ntr_perf_add_u64(b, branch->from);
        ntr_perf_add_u64(b, branch->to);
        ntr_perf_add_u64(b, branch_flags(branch->end));
    }
    ntr_perf_end_record(b, at);
}

/* Places of the samples in order of time. */
typedef struct perf_place {
    uint64_t time;
    size_t number;
} perf_place;

static int compare_times(const void *a, const void *b) {
    const perf_place *x = a, *y = b;

    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static uint32_t tid_of(const ntr_perf_row *threads, size_t count, const ntr_perf_sample *sample) {
    const ntr_perf_row key = {.pid = sample->pid, .src = sample->src};
    const ntr_perf_row *found = bsearch(&key, threads, count, sizeof *threads, compare_threads);
    return found ? found->tid : sample->pid;
}

static void ntr_perf_add_samples(ntr_export *x, ntr_perf_bytes *b, const ntr_perf_samples *s,
                                 const ntr_perf_row *threads, size_t count) {
    perf_place *places = ntr_alloc(x->allocator, s->count + 1, sizeof *places);

    b->failed |= !places;
    for (size_t i = 0; places && i < s->count; i++) places[i] = (perf_place){s->items[i].time, i};
    if (places && s->count) qsort(places, s->count, sizeof *places, compare_times);
    for (size_t i = 0; places && i < s->count; i++)
        add_sample(b, s, places[i].number, tid_of(threads, count, &s->items[places[i].number]));
    ntr_dealloc(x->allocator, places);
}

/* ---- the attribute */

enum {
    PERF_ATTR_SIZE = 128,
    PERF_FILE_HEADER = 104,
    PERF_ID = 1,
    PERF_SAMPLE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8, /* IP, TID, TIME, CALLCHAIN, CPU, PERIOD */
    PERF_BRANCH_STACK = 1 << 11,
    PERF_BRANCHES = 1 << 0 | 1 << 3 | 1 << 16, /* USER, ANY, TYPE_SAVE */
    PERF_FLAGS = 1 << 5 | 1 << 6 | 1 << 8 | 1 << 9 | 1 << 18 | 1 << 23, /* exclude kernel, hv; mmap, comm, ids, mmap2 */
};

static void add_attr(ntr_perf_bytes *b, const ntr_perf_samples *s, uint64_t every) {
    size_t begin = b->size;

    ntr_perf_add_u32(b, 0); /* hardware */
    ntr_perf_add_u32(b, PERF_ATTR_SIZE);
    ntr_perf_add_u64(b, 1); /* instructions */
    ntr_perf_add_u64(b, every);
    ntr_perf_add_u64(b, PERF_SAMPLE | (s->depth ? PERF_BRANCH_STACK : 0));
    ntr_perf_add_u64(b, 0);
    ntr_perf_add_u64(b, PERF_FLAGS);
    while (!b->failed && b->size - begin < 72) ntr_perf_add_u64(b, 0);
    ntr_perf_add_u64(b, s->depth ? PERF_BRANCHES : 0);
    while (!b->failed && b->size - begin < PERF_ATTR_SIZE) ntr_perf_add_u64(b, 0);
}

/* ---- features */

static void add_string(ntr_perf_bytes *b, const char *text) {
    ntr_perf_add_u32(b, (strlen(text) + 8) / 8 * 8);
    ntr_perf_add_name(b, text);
}

static void add_event(ntr_perf_bytes *b, const ntr_perf_samples *s, uint64_t every) {
    ntr_perf_add_u32(b, 1);
    ntr_perf_add_u32(b, PERF_ATTR_SIZE);
    add_attr(b, s, every);
    ntr_perf_add_u32(b, 1);
    add_string(b, "instructions");
    ntr_perf_add_u64(b, PERF_ID);
}

enum { FEATURE_HOST = 3, FEATURE_VERSION = 5, FEATURE_ARCH = 6, FEATURE_EVENT = 12, FEATURE_LAST };

static void add_feature(ntr_perf_bytes *b, const ntr_export *x, const ntr_perf_samples *s, uint64_t every,
                        unsigned feature) {
    switch (feature) {
    case FEATURE_HOST: add_string(b, "ntrace"); break;
    case FEATURE_VERSION: add_string(b, "ntrace"); break;
    case FEATURE_ARCH: add_string(b, ntr_program_xlen(x->analysis.program) == 32 ? "riscv32" : "riscv64"); break;
    default: add_event(b, s, every); break;
    }
}

static const uint8_t features[] = {FEATURE_HOST, FEATURE_VERSION, FEATURE_ARCH, FEATURE_EVENT};

/* Behind the data: {offset, size} of each, then their contents. */
static void add_features(ntr_perf_bytes *b, const ntr_export *x, const ntr_perf_samples *s, uint64_t every,
                         uint64_t end) {
    ntr_perf_bytes contents = {.allocator = b->allocator};
    uint64_t first = end + 16 * sizeof features;

    for (size_t i = 0; i < sizeof features; i++) {
        size_t at = contents.size;
        add_feature(&contents, x, s, every, features[i]);
        ntr_perf_add_u64(b, first + at);
        ntr_perf_add_u64(b, contents.size - at);
    }
    b->failed |= contents.failed;
    if (contents.size) ntr_perf_add_bytes(b, contents.data, contents.size);
    ntr_dealloc(contents.allocator, contents.data);
}

/* ---- the file */

static void add_header(ntr_perf_bytes *b, const ntr_perf_samples *s, uint64_t every, uint64_t data_size) {
    const uint64_t ids = PERF_FILE_HEADER, attrs = ids + 8, data = attrs + PERF_ATTR_SIZE + 16;
    uint64_t bits = 0;

    for (size_t i = 0; i < sizeof features; i++) bits |= UINT64_C(1) << features[i];
    ntr_perf_add_bytes(b, "PERFILE2", 8);
    ntr_perf_add_u64(b, PERF_FILE_HEADER);
    ntr_perf_add_u64(b, PERF_ATTR_SIZE + 16);
    ntr_perf_add_u64(b, attrs);
    ntr_perf_add_u64(b, PERF_ATTR_SIZE + 16);
    ntr_perf_add_u64(b, data);
    ntr_perf_add_u64(b, data_size);
    ntr_perf_add_u64(b, 0); /* event types */
    ntr_perf_add_u64(b, 0);
    ntr_perf_add_u64(b, bits);
    for (int i = 0; i < 3; i++) ntr_perf_add_u64(b, 0);
    ntr_perf_add_u64(b, PERF_ID);
    add_attr(b, s, every);
    ntr_perf_add_u64(b, ids);
    ntr_perf_add_u64(b, 8);
}

void ntr_perf_abandon(ntr_export *x) {
    ntr_image_info image;

    for (size_t i = 0; ntr_program_image(x->analysis.program, i, &image) == NTR_OK; i++)
        if (image.path) ntr_perf_clean_remove(x, i, image.path);
}

ntr_status ntr_perf_file_write(ntr_export *x, ntr_perf_samples *s, uint64_t every) {
    ntr_perf_bytes head = {.allocator = x->allocator}, data = head, tail = head;

    ntr_perf_row *threads = ntr_alloc(x->allocator, s->count + 1, sizeof *threads);
    if (!threads) return NTR_E_MEMORY;
    const size_t count = list_threads(threads, s);
    ntr_perf_add_processes(x, &data, s, threads, count);
    ntr_perf_add_samples(x, &data, s, threads, count);
    ntr_dealloc(x->allocator, threads);
    add_header(&head, s, every, data.size);
    add_features(&tail, x, s, every, head.size + data.size);
    ntr_status failed = head.failed || data.failed || tail.failed ? NTR_E_MEMORY : data.unreadable ? NTR_E_IO : NTR_OK;
    const ntr_perf_bytes *parts[] = {&head, &data, &tail};
    for (int i = 0; i < 3 && !failed; i++)
        if (parts[i]->size) ntr_out_bytes(&x->out, parts[i]->data, parts[i]->size);
    for (int i = 0; i < 3; i++) ntr_dealloc(x->allocator, parts[i]->data);
    if (failed == NTR_E_IO)
        snprintf(x->error, sizeof x->error,
                 "a file of the program cannot be read, or its copy in OUTPUT.images cannot be written");
    if (failed) ntr_perf_abandon(x);
    return failed;
}
