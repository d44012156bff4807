/* Code of BPF programs that the kernel has translated. perf saves it at the end of a recording, with the address of
 * each function (feature BPF_PROG_INFO); KSYMBOL records have the names. Where two functions were at one address in the
 * course of the recording, the code of neither is used: it has no times.
 *
 * The feature is a count, then for each program: u32 size of `info`, u32 size of `data`, u64 which arrays there are,
 * `info` (struct bpf_prog_info of the kernel) and `data`. Pointers of `info` are offsets in `data`. */
#include "perf/bytes.h"
#include "perf/images.h"

#include "base/macros.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    INFO_TAG = 8,
    INFO_CODE_SIZE = 16,
    INFO_CODE = 24,
    INFO_ADDRESS_COUNT = 104,
    INFO_LENGTH_COUNT = 108,
    INFO_ADDRESSES = 112,
    INFO_LENGTHS = 120,
    INFO_LEAST = 128, /* bytes up to here */
};
enum {
    HAS_CODE = 1 << 0,
    HAS_ADDRESSES = 1 << 3,
    HAS_LENGTHS = 1 << 4,
    HAS_ALL = HAS_CODE | HAS_ADDRESSES | HAS_LENGTHS
};
enum { BPF_FUNCTIONS_MAX = 1 << 14 };

struct program_info {
    const uint8_t *info;
    ntr_bytes code, addresses, lengths;
    uint32_t count;
};

/* A part of `data`, or nothing. */
static ntr_bytes part(ntr_bytes data, uint64_t offset, uint64_t size) {
    if (offset > data.size || size > data.size - offset) return (ntr_bytes){0};
    return (ntr_bytes){data.data + offset, (size_t)size};
}

/* The next program. Returns false at the end, or where the feature is damaged. */
static bool next_program(struct ntr_perf_cursor *c, struct program_info *p) {
    const uint32_t info_size = ntr_perf_u32(c), data_size = ntr_perf_u32(c);
    const uint64_t arrays = ntr_perf_u64(c);

    p->info = ntr_perf_take(c, info_size);
    const ntr_bytes all = {ntr_perf_take(c, data_size), data_size};
    if (c->broken) return false;
    p->count = 0;
    if (info_size < INFO_LEAST || (arrays & HAS_ALL) != HAS_ALL) return true;
    const uint64_t addresses = ntr_little(p->info + INFO_ADDRESS_COUNT, 4);
    if (addresses != ntr_little(p->info + INFO_LENGTH_COUNT, 4)) return true;
    p->code = part(all, ntr_little(p->info + INFO_CODE, 8), ntr_little(p->info + INFO_CODE_SIZE, 4));
    p->addresses = part(all, ntr_little(p->info + INFO_ADDRESSES, 8), 8 * addresses);
    p->lengths = part(all, ntr_little(p->info + INFO_LENGTHS, 8), 4 * addresses);
    if (p->code.data && p->addresses.data && p->lengths.data) p->count = (uint32_t)addresses;
    return true;
}

/* ---- names */

struct registered {
    const char *name;
    unsigned count; /* how often something was registered at the address */
};

static struct registered find_name(const struct ntr_perf_data *data, uint64_t address) {
    enum { KSYMBOL_UNREGISTER = 1 };
    struct registered found = {0};

    for (size_t i = 0; i < data->file.record_count; i++) {
        const struct ntr_perf_record *r = &data->file.records[i];
        if (r->type != NTR_PERF_KSYMBOL) continue;
        struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
        const uint64_t at = ntr_perf_u64(&c);
        ntr_perf_u32(&c); /* length */
        ntr_perf_u16(&c); /* type */
        const bool ends = ntr_perf_u16(&c) & KSYMBOL_UNREGISTER;
        const char *name = ntr_perf_text(&c);
        if (c.broken || at != address || ends || (found.name && strcmp(found.name, name) == 0)) continue;
        found.name = name;
        found.count++;
    }
    return found;
}

/* ---- */

static ntr_status add_function(struct ntr_perf_data *data, ntr_program *program, const struct program_info *p,
                               uint64_t address, ntr_bytes code) {
    const struct registered found = find_name(data, address);
    char name[300];
    ntr_image_options o;

    if (found.count > 1)
        return ntr_perf_lose(
            data, "BPF code at 0x%" PRIx64 ": several programs were at this address; the code of none is used",
            address);
    ntr_image_options_init(&o);
    snprintf(name, sizeof name, "bpf_prog_%016" PRIx64, __builtin_bswap64(ntr_little(p->info + INFO_TAG, 8)));
    o.bias = address;
    o.name = found.name ? found.name : name;
    ntr_perf_bind_kernel(data, &o);
    const ntr_status status = ntr_program_add_raw(program, code, &o);
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

/* The code of the functions of a program is one after the other. */
static ntr_status add_program(struct ntr_perf_data *data, ntr_program *program, const struct program_info *p,
                              unsigned *functions) {
    size_t at = 0;

    for (uint32_t i = 0; i < p->count && *functions < BPF_FUNCTIONS_MAX; i++, ++*functions) {
        const uint64_t size = ntr_little(p->lengths.data + 4 * (size_t)i, 4);
        if (size > p->code.size - at) break;
        if (size)
            TRY(add_function(data, program, p, ntr_little(p->addresses.data + 8 * (size_t)i, 8),
                             (ntr_bytes){p->code.data + at, (size_t)size}));
        at += (size_t)size;
    }
    return NTR_OK;
}

ntr_status ntr_perf_bpf_load(struct ntr_perf_data *data, ntr_program *program) {
    const ntr_bytes feature = data->file.features[NTR_PERF_FEATURE_BPF];
    struct ntr_perf_cursor c = ntr_perf_cursor_at(feature.data, feature.size);
    struct program_info p = {0};
    unsigned functions = 0;

    if (!feature.data) return NTR_OK;
    for (uint32_t left = ntr_perf_u32(&c); left && next_program(&c, &p); left--)
        TRY(add_program(data, program, &p, &functions));
    if (c.broken) return ntr_perf_lose(data, "the code of BPF programs is damaged, or its end is missing");
    return NTR_OK;
}
