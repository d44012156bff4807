/* Code of BPF programs that the kernel has translated. perf saves it at the end of a recording, with the address of
 * each function (feature BPF_PROG_INFO); KSYMBOL records have the names, and say when a function came and went. The
 * name has the tag of the function, a hash of the program, so that several at one address are told apart. If the times
 * do not say which was there, the code of none is used.
 *
 * The feature is a count, then for each program: u32 size of `info`, u32 size of `data`, u64 which arrays there are,
 * `info` (struct bpf_prog_info of the kernel) and `data`. Pointers of `info` are offsets in `data`. */
#include "perf/bytes.h"
#include "perf/images.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"

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
    INFO_TAG_COUNT = 180,
    INFO_TAGS = 184,
    INFO_WITH_TAGS = 192,
};
enum {
    HAS_CODE = 1 << 0,
    HAS_ADDRESSES = 1 << 3,
    HAS_LENGTHS = 1 << 4,
    HAS_ALL = HAS_CODE | HAS_ADDRESSES | HAS_LENGTHS,
    HAS_TAGS = 1 << 8,
};
enum { BPF_FUNCTIONS_MAX = 1 << 14, BPF_SYMBOLS_MAX = 1 << 14, BPF_TAG_BYTES = 8 };

struct program_info {
    const uint8_t *info;
    ntr_bytes code, addresses, lengths, tags;
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
    p->tags = (ntr_bytes){p->info + INFO_TAG, BPF_TAG_BYTES};
    if (info_size >= INFO_WITH_TAGS && arrays & HAS_TAGS && ntr_little(p->info + INFO_TAG_COUNT, 4) == addresses)
        p->tags = part(all, ntr_little(p->info + INFO_TAGS, 8), BPF_TAG_BYTES * addresses);
    if (p->code.data && p->addresses.data && p->lengths.data) p->count = (uint32_t)addresses;
    return true;
}

/* ---- functions and symbols */

struct bpf_function {
    uint64_t address;
    ntr_bytes code;
    char name[sizeof "bpf_prog_" + 2 * BPF_TAG_BYTES]; /* with which its symbol begins; "": not known */
    bool used;
};

/* A KSYMBOL record. */
struct bpf_symbol {
    uint64_t address, length, time;
    struct ntr_perf_life life;
    const char *name;
    bool ends;     /* the symbol is removed */
    bool repeated; /* an earlier record says it, too */
    bool undated;  /* another one is at its addresses, nobody knows when */
};

struct bpf {
    const ntr_allocator *allocator;
    struct bpf_function *functions;
    size_t function_count, function_capacity;
    struct bpf_symbol *symbols; /* in the order of time */
    size_t symbol_count, symbol_capacity;
};

static ntr_status take_function(struct bpf *all, const struct program_info *p, uint32_t index, ntr_bytes code) {
    struct bpf_function *f = NTR_PERF_ADD(all, functions, function_count, function_capacity);
    char *at;

    if (!f) return NTR_E_MEMORY;
    f->address = ntr_little(p->addresses.data + 8 * (size_t)index, 8);
    f->code = code;
    if (BPF_TAG_BYTES * (index + 1) > p->tags.size) return NTR_OK;
    at = f->name + snprintf(f->name, sizeof f->name, "bpf_prog_");
    for (unsigned i = 0; i < BPF_TAG_BYTES; i++, at += 2)
        snprintf(at, 3, "%02x", p->tags.data[BPF_TAG_BYTES * index + i]);
    return NTR_OK;
}

/* The code of the functions of a program is one after the other. */
static ntr_status take_program(struct bpf *all, const struct program_info *p) {
    size_t at = 0;

    for (uint32_t i = 0; i < p->count && all->function_count < BPF_FUNCTIONS_MAX; i++) {
        const uint64_t size = ntr_little(p->lengths.data + 4 * (size_t)i, 4);
        if (size > p->code.size - at) break;
        if (size) TRY(take_function(all, p, i, (ntr_bytes){p->code.data + at, (size_t)size}));
        at += (size_t)size;
    }
    return NTR_OK;
}

static ntr_status take_symbol(struct bpf *all, const struct ntr_perf_record *r) {
    enum { KSYMBOL_UNREGISTER = 1 };
    struct ntr_perf_cursor c = ntr_perf_cursor_at(r->body, r->body_size);
    struct bpf_symbol s = {.address = ntr_perf_u64(&c), .time = r->time};

    s.length = ntr_perf_u32(&c);
    ntr_perf_u16(&c); /* type */
    s.ends = ntr_perf_u16(&c) & KSYMBOL_UNREGISTER;
    s.name = ntr_perf_text(&c);
    if (c.broken || !s.length) return NTR_OK;
    struct bpf_symbol *symbol = NTR_PERF_ADD(all, symbols, symbol_count, symbol_capacity);
    if (!symbol) return NTR_E_MEMORY;
    *symbol = s;
    return NTR_OK;
}

/* ---- times */

static bool touch(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
    return a - b < b_size || b - a < a_size;
}

/* A symbol ends with its own end, or with the next one that takes some of its addresses. */
static void date(const struct ntr_perf_data *data, const struct bpf *all, size_t number) {
    struct bpf_symbol *s = &all->symbols[number];

    s->life = (struct ntr_perf_life){ntr_perf_time_is_known(data, s->time) ? s->time : 0, UINT64_MAX};
    for (size_t i = number + 1; i < all->symbol_count; i++) {
        struct bpf_symbol *o = &all->symbols[i];
        const bool same = o->address == s->address && strcmp(o->name, s->name) == 0;
        if (o->ends ? !same : !touch(s->address, s->length, o->address, o->length)) continue;
        o->repeated |= same && !o->ends;
        if (same && !o->ends) continue;
        if (ntr_perf_time_is_known(data, o->time) && o->time > s->time) {
            s->life.last = o->time;
            return;
        }
        if (!o->ends) s->undated = o->undated = true;
    }
}

/* ---- code */

static ntr_status add_code(struct ntr_perf_data *data, ntr_program *program, const struct bpf_function *f,
                           const char *name, struct ntr_perf_life life) {
    char made[32];
    ntr_image_options o;

    ntr_image_options_init(&o);
    if (!ntr_perf_life_place(data, life, &o)) return NTR_OK;
    snprintf(made, sizeof made, "bpf_prog_%" PRIx64, f->address);
    o.bias = f->address;
    o.name = *name ? name : made;
    ntr_perf_bind_kernel(data, &o);
    ntr_status status = ntr_program_add_raw(program, f->code, &o);
    if (status == NTR_OK) status = ntr_program_name_image(program, o.name, f->address, f->code.size);
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

static ntr_status lose_function(struct ntr_perf_data *data, uint64_t address) {
    if (!data->piece_count) return NTR_OK; /* no stream is made yet, and no time is known */
    return ntr_perf_lose(data,
                         "BPF code at 0x%" PRIx64 ": several programs were at this address, and the recording does not "
                         "say when; the code of none is used",
                         address);
}

static bool has_tag(const char *name) {
    return strncmp(name, "bpf_prog_", 9) == 0 && strspn(name + 9, "0123456789abcdef") >= 2 * BPF_TAG_BYTES;
}

/* The code of a symbol; two functions of one tag may differ in the addresses of their data. */
static ntr_status add_symbol(struct ntr_perf_data *data, ntr_program *program, struct bpf *all,
                             const struct bpf_symbol *s) {
    const struct bpf_function *found = NULL;
    bool differ = false;

    for (size_t i = 0; i < all->function_count; i++) {
        struct bpf_function *f = &all->functions[i];
        if (f->address != s->address) continue;
        if (has_tag(s->name) && strncmp(s->name, f->name, strlen(f->name)) != 0) continue;
        differ |=
            found && (found->code.size != f->code.size || memcmp(found->code.data, f->code.data, f->code.size) != 0);
        found = f;
        f->used = true;
    }
    if (!found) return NTR_OK;
    if (differ || s->undated) return lose_function(data, s->address);
    return add_code(data, program, found, s->name, s->life);
}

/* A function without a symbol is there all the time, if nothing else is. */
static ntr_status add_other(struct ntr_perf_data *data, ntr_program *program, const struct bpf *all,
                            const struct bpf_function *f) {
    bool alone = true;

    for (size_t i = 0; i < all->symbol_count; i++)
        alone &= !touch(f->address, f->code.size, all->symbols[i].address, all->symbols[i].length);
    for (size_t i = 0; i < all->function_count; i++)
        alone &= &all->functions[i] == f ||
                 !touch(f->address, f->code.size, all->functions[i].address, all->functions[i].code.size);
    return alone ? add_code(data, program, f, f->name, NTR_PERF_ALWAYS) : lose_function(data, f->address);
}

static ntr_status add_all(struct ntr_perf_data *data, ntr_program *program, struct bpf *all) {
    for (size_t i = 0; i < all->symbol_count; i++)
        if (!all->symbols[i].ends && !all->symbols[i].repeated) date(data, all, i);
    for (size_t i = 0; i < all->symbol_count; i++)
        if (!all->symbols[i].ends && !all->symbols[i].repeated) TRY(add_symbol(data, program, all, &all->symbols[i]));
    for (size_t i = 0; i < all->function_count; i++)
        if (!all->functions[i].used) TRY(add_other(data, program, all, &all->functions[i]));
    return NTR_OK;
}

static ntr_status load(struct ntr_perf_data *data, ntr_program *program, struct bpf *all) {
    const ntr_bytes feature = data->file.features[NTR_PERF_FEATURE_BPF];
    struct ntr_perf_cursor c = ntr_perf_cursor_at(feature.data, feature.size);
    struct program_info p = {0};

    for (uint32_t left = ntr_perf_u32(&c); left && next_program(&c, &p); left--) TRY(take_program(all, &p));
    if (c.broken) TRY(ntr_perf_lose(data, "the code of BPF programs is damaged, or its end is missing"));
    for (size_t i = 0; i < data->file.record_count && all->function_count; i++) {
        if (data->file.records[i].type != NTR_PERF_KSYMBOL) continue;
        if (all->symbol_count == BPF_SYMBOLS_MAX)
            return ntr_perf_lose(data, "it has more than %d records KSYMBOL: code of BPF programs is not used",
                                 BPF_SYMBOLS_MAX);
        TRY(take_symbol(all, &data->file.records[i]));
    }
    return add_all(data, program, all);
}

ntr_status ntr_perf_data_load_bpf(ntr_perf_data *data, ntr_program *program) {
    struct bpf all = {.allocator = data->allocator};

    if (!data->file.features[NTR_PERF_FEATURE_BPF].data) return NTR_OK;
    const ntr_status status = load(data, program, &all);
    ntr_dealloc(data->allocator, all.functions);
    ntr_dealloc(data->allocator, all.symbols);
    return status;
}
