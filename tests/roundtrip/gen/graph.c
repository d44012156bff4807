/* Functions are first drafted with labels, then given sizes, then addresses, then bits. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

#define DRAFTS_MAX 400 /* branches reach from end to end */

/* An instruction before it has an address. */
typedef struct draft {
    gen_kind kind;
    bool compressed, pc_relative, paired; /* paired: a register jump whose GEN_SET comes just before */
    uint8_t rd, rs, pattern;
    int label;  /* where it goes: draft of this function (may be one past the last) ... */
    int callee; /* ... or function; both -1: no static target */
} draft;

typedef struct sketch {
    draft draft[DRAFTS_MAX];
    int count;
    unsigned region;
    bool handler;
    uint64_t address[DRAFTS_MAX + 1];
} sketch;

typedef struct builder {
    gen_graph *graph;
    prng *random;
    sketch *sketch; /* of every function */
    sketch *now;    /* the one being drafted */
} builder;

static const uint8_t links[] = {1, 5};
static const uint8_t others[] = {6, 7, 28, 31};

static bool one_in(builder *b, unsigned n) {
    return prng_below(b->random, n) == 0;
}

static draft *add(builder *b, gen_kind kind) {
    sketch *s = b->now;
    draft *d = &s->draft[s->count < DRAFTS_MAX - 1 ? s->count++ : s->count - 1];
    *d = (draft){.kind = kind, .label = -1, .callee = -1};
    d->compressed = b->graph->options.compressed && prng_chance(b->random, 600);
    return d;
}

static void straight(builder *b) {
    for (unsigned n = prng_below(b->random, one_in(b, 20) ? 60 : 5); n > 0; n--) add(b, GEN_PLAIN);
}

/* A direct or register call, jump or return with operands that make it that kind. */
static draft *add_transfer(builder *b, gen_kind kind) {
    draft *d = add(b, kind);
    uint8_t link = PRNG_PICK(b->random, links), other = PRNG_PICK(b->random, others);
    d->rd = kind == GEN_CALL || kind == GEN_REG_CALL ? link : 0;
    d->rs = kind == GEN_RETURN ? link : other;
    if (kind == GEN_JUMP_LINK || kind == GEN_REG_LINK) d->rd = other;
    if (kind == GEN_RETURN && one_in(b, 8)) {
        d->rd = other; /* a return with another rd stays a return */
        d->compressed = false;
    }
    if (kind == GEN_REG_CALL && one_in(b, 4)) {
        d->rs = link; /* rd = rs = link is a call */
    }
    if (kind == GEN_SWAP) {
        d->rd = link;
        d->rs = link == 1 ? 5 : 1;
    }
    if (kind == GEN_REG_LINK || kind == GEN_JUMP_LINK || (kind == GEN_REG_CALL && link == 5) ||
        (kind == GEN_SWAP && link == 5))
        d->compressed = false; /* c.jalr writes ra */
    return d;
}

/* lui/auipc and a register jump: sequentially inferable. */
static void add_pair(builder *b, gen_kind kind, int callee) {
    draft set = *add(b, GEN_SET);
    b->now->count--;
    draft *jump = add_transfer(b, kind);
    set.pc_relative = one_in(b, 2);
    set.rd = jump->rs;
    set.callee = jump->callee = callee;
    set.compressed &= !set.pc_relative;
    jump->paired = true;
    jump->compressed = false; /* it adds the low 12 bits */
    jump->pc_relative = set.pc_relative;
    draft second = *jump;
    b->now->count--;
    *add(b, GEN_SET) = set;
    *add(b, kind) = second;
}

static int some_function(builder *b) {
    return (int)prng_below(b->random, b->graph->options.functions);
}

static void add_call(builder *b) {
    int callee = some_function(b);
    unsigned far = b->sketch[callee].region != b->now->region;
    switch (prng_below(b->random, 6)) {
    case 0: add_transfer(b, GEN_REG_CALL); break;
    case 1: add_pair(b, GEN_REG_CALL, callee); break;
    case 2: add_pair(b, b->graph->options.odd_returns && one_in(b, 3) ? GEN_SWAP : GEN_REG_CALL, callee); break;
    default:
        if (far)
            add_pair(b, GEN_REG_CALL, callee);
        else
            add_transfer(b, GEN_CALL)->callee = callee;
    }
}

static void body(builder *b, unsigned constructs, unsigned depth);

static void add_if(builder *b, unsigned depth) {
    int branch = b->now->count, skip = -1;
    add(b, GEN_BRANCH)->pattern = (uint8_t)prng_below(b->random, GEN_LOOP);
    if (depth) body(b, prng_below(b->random, 3), depth - 1);
    if (one_in(b, 2)) {
        skip = b->now->count;
        add_transfer(b, one_in(b, 4) ? GEN_JUMP_LINK : GEN_JUMP);
    }
    b->now->draft[branch].label = b->now->count;
    if (skip >= 0) {
        straight(b);
        b->now->draft[skip].label = b->now->count;
    }
}

static void add_loop(builder *b, unsigned depth) {
    int start = b->now->count;
    if (!one_in(b, 3)) {
        straight(b);
        if (depth) body(b, prng_below(b->random, 3), depth - 1);
    } /* else: a branch to itself */
    draft *d = add(b, GEN_BRANCH);
    d->label = start;
    d->pattern = one_in(b, 6) ? GEN_LONG_LOOP : GEN_LOOP;
}

static void add_local_call(builder *b) {
    int call = b->now->count;
    add_transfer(b, GEN_CALL);
    straight(b);
    int jump = b->now->count;
    add_transfer(b, GEN_JUMP);
    b->now->draft[call].label = b->now->count;
    straight(b);
    add_transfer(b, GEN_RETURN);
    b->now->draft[jump].label = b->now->count;
}

static void add_leave(builder *b) {
    bool odd = b->graph->options.odd_returns;
    switch (prng_below(b->random, odd ? 5 : 3)) {
    case 0: add_transfer(b, GEN_RETURN); break;
    case 1: add_pair(b, GEN_REG_JUMP, some_function(b)); break; /* tail call */
    case 2: add_transfer(b, GEN_REG_JUMP); break;
    case 3: add_pair(b, GEN_RETURN, some_function(b)); break;
    default: add_transfer(b, GEN_SWAP); break;
    }
}

static void construct(builder *b, unsigned depth) {
    switch (prng_below(b->random, 24)) {
    case 0:
    case 1:
    case 2: add_if(b, depth); break;
    case 3:
    case 4:
    case 5: add_loop(b, depth); break;
    case 6:
    case 7:
    case 8:
    case 9: add_call(b); break;
    case 10: add_local_call(b); break;
    case 11: add_transfer(b, GEN_REG_JUMP); break; /* a switch: any label of the function */
    case 12: add_transfer(b, GEN_REG_LINK); break;
    case 13: add_transfer(b, GEN_SWAP); break;
    case 14: add(b, GEN_ECALL)->compressed = false; break;
    case 15: add(b, GEN_EBREAK); break;
    case 16: add(b, GEN_SCONTEXT)->compressed = false; break;
    case 17: add(b, GEN_HCONTEXT)->compressed = false; break;
    case 18:
        if (depth == 0) add_leave(b);
        break;
    case 19: { /* the constant is for another register: not inferable */
        draft *set = add(b, GEN_SET);
        set->rd = 8;
        set->callee = 0;
        add_transfer(b, GEN_REG_JUMP);
        break;
    }
    default: straight(b); break;
    }
}

static void body(builder *b, unsigned constructs, unsigned depth) {
    for (unsigned i = 0; i < constructs && b->now->count < DRAFTS_MAX - 80; i++) {
        construct(b, depth);
        if (prng_chance(b->random, 700)) straight(b);
    }
}

static void draft_function(builder *b, sketch *s) {
    b->now = s;
    add(b, GEN_PLAIN); /* a handler that traps at once would do so for ever */
    body(b, prng_range(b->random, 1, b->graph->options.size), 2);
    add_transfer(b, GEN_RETURN);
    if (s->handler) {
        draft *last = &s->draft[s->count - 1];
        *last = (draft){.kind = GEN_TRAP_RETURN, .label = -1, .callee = -1};
    }
}

/* ---- sizes, addresses, bits ------------------------------------------------------------------------ */

static gen_code code_of(const builder *b, const sketch *s, int i) {
    const draft *d = &s->draft[i];
    gen_code code = {.kind = d->kind,
                     .xlen = b->graph->options.xlen,
                     .compressed = d->compressed,
                     .pc_relative = d->pc_relative,
                     .low = d->paired,
                     .rd = d->rd,
                     .rs = d->rs,
                     .pc = s->address[i],
                     .set_pc = s->address[d->paired ? i - 1 : i]};
    if (d->label >= 0)
        code.target = s->address[d->label];
    else if (d->callee >= 0)
        code.target = b->sketch[d->callee].address[0];
    return code;
}

static void place(sketch *s, uint64_t address) {
    for (int i = 0; i <= s->count; i++) {
        s->address[i] = address;
        if (i < s->count) address += s->draft[i].compressed ? 2 : 4;
    }
}

/* A constant out of lui's reach is made by auipc; out of its reach too, not at all. */
static void give_way(draft *set) {
    draft *jump = set + 1;
    if (jump->paired && !set->pc_relative) {
        set->pc_relative = jump->pc_relative = true;
        return;
    }
    *set = (draft){.kind = GEN_PLAIN, .label = -1, .callee = -1};
    jump->paired = false;
    jump->callee = -1;
}

/* Widen what does not reach, until everything does. */
static bool arrange(builder *b, sketch *s) {
    bool arranged = true;
    for (int i = 0; i < s->count; i++) {
        draft *d = &s->draft[i];
        gen_code code = code_of(b, s, i);
        if (gen_code_fits(&code)) continue;
        arranged = false;
        if (d->compressed)
            d->compressed = false;
        else
            give_way(d); /* everything else reaches */
    }
    return arranged;
}

static void lay_out(builder *b) {
    gen_graph *g = b->graph;
    uint64_t mask = g->options.xlen == 32 ? UINT32_MAX : UINT64_MAX;
    bool arranged = false;
    prng gaps = prng_fork(b->random);
    while (!arranged) {
        prng gap = gaps; /* the same gaps every time, or it would not arrange */
        for (unsigned r = 0; r < g->regions; r++) {
            uint64_t at = g->region[r].base;
            for (unsigned f = 0; f < g->options.functions; f++)
                if (b->sketch[f].region == r) {
                    at += 4 * prng_below(&gap, 20);
                    at = (at + 3) & ~UINT64_C(3) & mask;
                    place(&b->sketch[f], at);
                    at = b->sketch[f].address[b->sketch[f].count];
                }
            g->region[r].size = at - g->region[r].base;
        }
        arranged = true;
        for (unsigned f = 0; f < g->options.functions; f++) arranged &= arrange(b, &b->sketch[f]);
    }
}

static void write_insn(builder *b, unsigned f, int i) {
    gen_graph *g = b->graph;
    const sketch *s = &b->sketch[f];
    const draft *d = &s->draft[i];
    gen_region *r = &g->region[s->region];
    gen_code code = code_of(b, s, i);
    size_t offset = code.pc - r->base;
    gen_insn *insn = &g->insn[g->insns];
    *insn = (gen_insn){.pc = code.pc,
                       .target = code.target,
                       .kind = (uint8_t)d->kind,
                       .rd = d->rd,
                       .rs = d->rs,
                       .pattern = d->pattern,
                       .function = f,
                       .has_target = d->label >= 0 || d->callee >= 0};
    insn->size = (uint8_t)gen_code_write(&code, b->random, r->bytes + offset);
    r->at[offset / 2] = (int32_t)g->insns++;
}

static void write_all(builder *b) {
    gen_graph *g = b->graph;
    uint32_t total = 0;
    for (unsigned f = 0; f < g->options.functions; f++) total += (uint32_t)b->sketch[f].count;
    g->insn = calloc(total, sizeof *g->insn);
    for (unsigned r = 0; r < g->regions; r++) {
        gen_region *region = &g->region[r];
        region->bytes = calloc(region->size + 1, 1);
        region->at = malloc((region->size / 2 + 1) * sizeof *region->at);
        if (!region->bytes || !region->at || !g->insn) abort();
        memset(region->at, 0xff, (region->size / 2 + 1) * sizeof *region->at);
    }
    for (unsigned f = 0; f < g->options.functions; f++) {
        g->function[f] = (gen_function){g->insns, (uint32_t)b->sketch[f].count, b->sketch[f].handler};
        for (int i = 0; i < b->sketch[f].count; i++) write_insn(b, f, i);
    }
}

static void choose_regions(gen_graph *g, prng *random) {
    static const uint64_t near64[] = {0x80000000, 0x10000, 0x1000, 0x3ffff000, 0x2aaaac3000};
    static const uint64_t far64[] = {0xffffffff80000000, 0xffffffc000001000, 0x7ffffffff000,
                                     0xfffffffffffe8000, 0x8000000000000000, 0x1000,
                                     0xffffffff7ffe8000};
    static const uint64_t near32[] = {0x80000000, 0x10000, 0x1000, 0x20400000};
    static const uint64_t far32[] = {0xfffe8000, 0xc0000000, 0x7ffe8000, 0x1000};
    bool wide = g->options.xlen == 64;
    g->regions = g->options.far ? prng_range(random, 2, GEN_REGIONS_MAX) : 1;
    for (unsigned r = 0; r < g->regions; r++) {
        bool taken = true;
        while (taken) { /* each base once */
            uint64_t base = r == 0 ? (wide ? PRNG_PICK(random, near64) : PRNG_PICK(random, near32))
                                   : (wide ? PRNG_PICK(random, far64) : PRNG_PICK(random, far32));
            taken = false;
            for (unsigned other = 0; other < r; other++) taken |= g->region[other].base == base;
            g->region[r].base = base;
        }
    }
}

gen_graph *gen_graph_new(const gen_graph_options *options, prng *random) {
    gen_graph *g = calloc(1, sizeof *g);
    sketch *sketches = calloc(options->functions, sizeof *sketches);
    if (!g || !sketches) abort();
    g->options = *options;
    g->functions = options->functions;
    builder b = {.graph = g, .random = random, .sketch = sketches};
    choose_regions(g, random);
    for (unsigned f = 0; f < options->functions; f++) {
        sketches[f].region = prng_below(random, g->regions);
        sketches[f].handler = f != 0 && prng_chance(random, 300);
    }
    for (unsigned f = 0; f < options->functions; f++) draft_function(&b, &sketches[f]);
    lay_out(&b);
    write_all(&b);
    free(sketches);
    return g;
}

void gen_graph_free(gen_graph *g) {
    for (unsigned r = 0; r < g->regions; r++) {
        free(g->region[r].bytes);
        free(g->region[r].at);
    }
    free(g->insn);
    free(g);
}

const gen_insn *gen_graph_at(const gen_graph *g, uint64_t pc) {
    for (unsigned r = 0; r < g->regions; r++) {
        const gen_region *region = &g->region[r];
        uint64_t offset = pc - region->base;
        if (offset < region->size && !(pc & 1) && region->at[offset / 2] >= 0) return &g->insn[region->at[offset / 2]];
    }
    return NULL;
}
