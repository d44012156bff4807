/* The file perf.data: header, one event attribute, records, features. */
#include "export/perf_bytes.h"

#include "base/allocator.h"

#include <string.h>

/* ---- the attribute */

enum {
    PERF_ATTR_SIZE = 128,
    PERF_FILE_HEADER = 104,
    PERF_ID = 1,
    PERF_SAMPLE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8, /* IP, TID, TIME, CALLCHAIN, CPU, PERIOD */
    PERF_BRANCH_STACK = 1 << 11,
    PERF_BRANCHES = 1 << 0 | 1 << 3 | 1 << 16,                          /* USER, ANY, TYPE_SAVE */
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

ntr_status ntr_perf_file_write(ntr_export *x, ntr_perf_samples *s, uint64_t every) {
    ntr_perf_bytes head = {.allocator = x->allocator}, data = head, tail = head;

    ntr_perf_add_processes(x, &data, s);
    ntr_perf_add_samples(x, &data, s);
    add_header(&head, s, every, data.size);
    add_features(&tail, x, s, every, head.size + data.size);
    bool failed = head.failed || data.failed || tail.failed;
    const ntr_perf_bytes *parts[] = {&head, &data, &tail};
    for (int i = 0; i < 3 && !failed; i++)
        if (parts[i]->size) ntr_out_bytes(&x->out, parts[i]->data, parts[i]->size);
    for (int i = 0; i < 3; i++) ntr_dealloc(x->allocator, parts[i]->data);
    return failed ? NTR_E_MEMORY : NTR_OK;
}
