/* 16 filters and 8 comparators: each condition by itself, then all at random against a model made of the
 * specification's sentences, one instruction at a time. */
#include "../test.h"
#include "rig.h"

#include "machine.h"

enum { FILTERS = 16, COMPARATORS = 8 };
enum { F_ENABLE = 1, F_PRIVILEGE = 2, F_ECAUSE = 4, F_INTERRUPT = 8, F_IMPDEF = 1 << 16 };
enum { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, SIX, ALWAYS };
enum { IADDR, CONTEXT, TVAL };
enum { PRIMARY, BOTH, NOT_BOTH, LATCH };

static uint64_t filter_at(unsigned i) {
    return TE + 0x400 + 0x20 * i;
}

static uint64_t comparator_at(unsigned j) {
    return TE + 0x600 + 0x20 * j;
}

/* Bits of a filter's Control: comparator `j` as its condition 1, 2 or 3. */
static uint32_t comparator_bits(unsigned condition, unsigned j) {
    return (1u | j << 1) << (4 * condition);
}

/* Bits of a comparator's Control. */
static uint32_t sides(unsigned p_input, unsigned p, unsigned s_input, unsigned s, unsigned mode) {
    return p_input | s_input << 2 | p << 4 | s << 8 | mode << 12;
}

static void set_comparator(system_rig *r, unsigned j, uint32_t control, uint64_t p, uint64_t s) {
    write32(r->system, comparator_at(j) + 0x10, (uint32_t)p);
    write32(r->system, comparator_at(j) + 0x14, (uint32_t)(p >> 32));
    write32(r->system, comparator_at(j) + 0x18, (uint32_t)s);
    write32(r->system, comparator_at(j) + 0x1c, (uint32_t)(s >> 32));
    write32(r->system, comparator_at(j), control);
    assert_int_equal(read32(r->system, comparator_at(j)), control);
}

static void set_filter(system_rig *r, unsigned i, uint32_t control) {
    write32(r->system, filter_at(i), control);
    assert_int_equal(read32(r->system, filter_at(i)), control);
}

static void select_filters(system_rig *r, uint32_t set) {
    write32(r->system, TE + NTR_TE_INST_FILTERS, set);
}

/* ---- one condition at a time */

/* Every comparator through every filter and each of its three conditions, every function. CI-144, CI-148 */
static void functions(void **state) {
    static system_rig r;
    static const uint64_t addresses[] = {0x1ffffffe, 0x20000000, 0x20000002, 0};
    static const char *const expected[] = {".x.", "x.x", "x..", "xx.", "..x", ".xx", "...", "xxx"};
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    for (unsigned j = 0; j < COMPARATORS; j++) {
        for (unsigned function = 0; function < 8; function++) {
            const unsigned i = (2 * j + function) % FILTERS, condition = 1 + (j + function) % 3;
            set_comparator(&r, j, sides(IADDR, function, IADDR, ALWAYS, PRIMARY), 0x20000000, 0);
            set_filter(&r, i, F_ENABLE | comparator_bits(condition, j));
            select_filters(&r, 1u << i);
            rig_walk(&r, addresses, expected[function]);
            set_comparator(&r, j, sides(IADDR, ALWAYS, IADDR, function, BOTH), 0, 0x20000000);
            rig_walk(&r, addresses, function == SIX ? "xxx" : expected[function]);
        }
    }
    rig_close(&r);
}

/* All 64 bits count. */
static void wide_values(void **state) {
    static system_rig r;
    static const uint64_t addresses[] = {0x100002000, 0x2000, 0x8000000000002000, 0x100002002, 0};
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    set_comparator(&r, 7, sides(IADDR, EQUAL, IADDR, ALWAYS, PRIMARY), 0x100002000, 0);
    set_filter(&r, 15, F_ENABLE | comparator_bits(3, 7));
    select_filters(&r, 1u << 15);
    rig_walk(&r, addresses, "x...");
    set_comparator(&r, 7, sides(IADDR, GREATER, IADDR, ALWAYS, PRIMARY), 0x100002000, 0);
    rig_walk(&r, addresses, "..xx");
    rig_close(&r);
}

/* RV32 has no high halves. CI-152 */
static void narrow_values(void **state) {
    static system_rig r;
    static const uint64_t addresses[] = {0x2000, 0x2002, 0};
    (void)state;
    rig_open(&r, "\"xlen\":32");
    rig_trace(&r, 0);
    set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, ALWAYS, PRIMARY), 0x100002000, 0);
    assert_int_equal(read32(r.system, comparator_at(0) + 0x14), 0);
    set_filter(&r, 0, F_ENABLE | comparator_bits(1, 0));
    select_filters(&r, 1);
    rig_walk(&r, addresses, "x.");
    rig_close(&r);
}

static void modes(void **state) {
    static system_rig r;
    static const uint64_t addresses[] = {0x1000, 0x1002, 0x1004, 0x1006, 0x1008, 0x1004, 0x1002, 0x1006, 0x1000, 0};
    static const char *const expected[] = {".xxxxxxx.", ".xxx.xxx.", "x...x...x", ".xxx.xxx."};
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    set_filter(&r, 3, F_ENABLE | comparator_bits(2, 5));
    select_filters(&r, 8);
    for (unsigned mode = PRIMARY; mode <= NOT_BOTH; mode++) {
        set_comparator(&r, 5, sides(IADDR, GREATER_EQUAL, IADDR, LESS_EQUAL, mode), 0x1002, 0x1006);
        rig_walk(&r, addresses, expected[mode]);
    }
    /* from 0x1002 to 0x1006, both included, and again */
    set_comparator(&r, 5, sides(IADDR, EQUAL, IADDR, EQUAL, LATCH), 0x1002, 0x1006);
    rig_walk(&r, addresses, ".xxx..xx.");
    rig_close(&r);
}

static void latch(void **state) {
    static system_rig r;
    static const uint64_t before[] = {0x1000, 0x1002, 0}, after[] = {0x1006, 0x1000, 0x1002, 0};
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    set_filter(&r, 0, F_ENABLE | comparator_bits(1, 0));
    select_filters(&r, 1);
    set_comparator(&r, 0, sides(IADDR, SIX, IADDR, EQUAL, LATCH), 0, 0x1006); /* primed: on until 0x1006, never again */
    rig_walk(&r, before, "xx");
    rig_walk(&r, after, "x..");
    set_comparator(&r, 0, sides(IADDR, SIX, IADDR, EQUAL, LATCH), 0, 0x1006); /* primed anew */
    rig_walk(&r, after, "x..");
    set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, EQUAL, LATCH), 0x1002, 0x1006); /* this does not prime */
    rig_walk(&r, before, ".x");
    rig_walk(&r, before, "xx");
    rig_walk(&r, after, "x.x");
    set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, EQUAL, LATCH), 0x1002, 0x1002); /* both at once: that one alone */
    rig_walk(&r, before, ".x");
    rig_walk(&r, after, "..x");
    /* the latch follows what is executed, also while the filter asks for something else */
    set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, EQUAL, LATCH), 0x1002, 0x1006);
    select_filters(&r, 0);
    rig_walk(&r, before, "xx");
    select_filters(&r, 1);
    rig_walk(&r, after, "x.x");
    rig_close(&r);
}

/* In a block of several instructions the order decides: behind a secondary match, a primary match sets the latch again.
 * CI-150 */
static void latch_inside_of_a_block(void **state) {
    static const struct {
        uint64_t primary, secondary;
        const char *expected; /* the block, then one instruction at 0x2000 */
    } rows[] = {{0x1002, 0x1006, "x."},
                {0x1006, 0x1002, "xx"},
                {0x1006, 0x3000, "xx"},
                {0x3000, 0x1002, ".."},
                {0x1004, 0x1004, "x."}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static system_rig r;
        rig_open(&r, "");
        rig_trace(&r, 0);
        set_filter(&r, 0, F_ENABLE | comparator_bits(1, 0));
        select_filters(&r, 1);
        set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, EQUAL, LATCH), rows[i].primary, rows[i].secondary);
        const ntr_ingress block = rig_block(0x1000, 5), other = rig_block(0x2000, 1);
        assert_int_equal(rig_push(&r, &block), rows[i].expected[0] == 'x');
        assert_int_equal(rig_push(&r, &other), rows[i].expected[1] == 'x');
        rig_close(&r);
    }
}

/* SFunction 6: SMatch masks PMatch and what is compared with it, in blocks of many instructions as well. */
static void masks(void **state) {
    static system_rig r;
    static const uint64_t addresses[] = {0x1234, 0x5634, 0x1236, 0x10234, 0x1f34, 0};
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    set_filter(&r, 0, F_ENABLE | comparator_bits(1, 0));
    select_filters(&r, 1);
    set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, SIX, PRIMARY), 0xabcd34, 0xff);
    rig_walk(&r, addresses, "xx.xx");
    set_comparator(&r, 0, sides(IADDR, LESS, IADDR, SIX, BOTH), 0x2fff, 0xf000);
    rig_walk(&r, addresses, "x.xxx");
    set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, SIX, PRIMARY), 0x04, 0xff);
    const ntr_ingress round = rig_block(0x10f0, 16),
                      straight = rig_block(0x1100, 2); /* 0x10f0.. 0x110e, 0x1100.. 0x1102 */
    assert_true(rig_push(&r, &round));
    assert_false(rig_push(&r, &straight));
    set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, SIX, PRIMARY), 0x04, 0x14);
    const ntr_ingress within = rig_block(0x1200, 5); /* 0x1200.. 0x1208 */
    assert_true(rig_push(&r, &within));
    rig_close(&r);
}

/* CI-147 */
static void contexts_and_trap_values(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    set_filter(&r, 1, F_ENABLE | comparator_bits(1, 1));
    set_filter(&r, 2, F_ENABLE | comparator_bits(2, 2));
    set_comparator(&r, 1, sides(CONTEXT, EQUAL, IADDR, ALWAYS, PRIMARY), 42, 0);
    set_comparator(&r, 2, sides(TVAL, LESS, IADDR, ALWAYS, PRIMARY), 100, 0);
    ntr_ingress b = rig_block(0x1000, 3);
    select_filters(&r, 1 << 1);
    b.scontext = 41;
    assert_false(rig_push(&r, &b));
    b.scontext = 42;
    assert_true(rig_push(&r, &b));
    select_filters(&r, 1 << 2); /* a block without exception has no trap value */
    b.tval = 99;
    assert_false(rig_push(&r, &b));
    b.itype = NTR_ITYPE_EXCEPTION;
    assert_true(rig_push(&r, &b));
    b.tval = 100;
    assert_false(rig_push(&r, &b));
    rig_close(&r);
}

/* All conditions of a filter, any of the filters; none selected is all, one that is selected but not enabled nothing.
 * CI-099, CI-135, CI-139 */
static void and_or(void **state) {
    static system_rig r;
    static const uint64_t addresses[] = {0x1000, 0x1002, 0x1004, 0x1006, 0x1008, 0};
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    set_comparator(&r, 0, sides(IADDR, GREATER, IADDR, ALWAYS, PRIMARY), 0x1000, 0);
    set_comparator(&r, 1, sides(IADDR, LESS, IADDR, ALWAYS, PRIMARY), 0x1008, 0);
    set_comparator(&r, 2, sides(IADDR, NOT_EQUAL, IADDR, ALWAYS, PRIMARY), 0x1004, 0);
    set_comparator(&r, 3, sides(IADDR, EQUAL, IADDR, ALWAYS, PRIMARY), 0x1004, 0);
    set_filter(&r, 0, F_ENABLE | comparator_bits(1, 0) | comparator_bits(2, 1) | comparator_bits(3, 2));
    set_filter(&r, 9, F_ENABLE | comparator_bits(2, 3));
    set_filter(&r, 10, comparator_bits(2, 3));
    set_filter(&r, 11, F_ENABLE);
    select_filters(&r, 1);
    rig_walk(&r, addresses, ".x.x.");
    select_filters(&r, 1 | 1 << 9);
    rig_walk(&r, addresses, ".xxx.");
    select_filters(&r, 1 << 10);
    rig_walk(&r, addresses, ".....");
    select_filters(&r, 1 << 10 | 1 << 11);
    rig_walk(&r, addresses, "xxxxx");
    select_filters(&r, 0);
    rig_walk(&r, addresses, "xxxxx");
    rig_close(&r);
}

/* CI-140, CI-145 */
static void privilege_and_impdef(void **state) {
    static system_rig r;
    static const uint8_t levels[] = {NTR_PRIV_U, NTR_PRIV_S, NTR_PRIV_M, NTR_PRIV_VU, NTR_PRIV_VS};
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    for (unsigned i = 0; i < FILTERS; i++) {
        ntr_ingress b = rig_block(0x1000, 1);
        set_filter(&r, i, F_ENABLE | F_PRIVILEGE);
        select_filters(&r, 1u << i);
        for (size_t chosen = 0; chosen < sizeof levels; chosen++) {
            write32(r.system, filter_at(i) + 4, 1u << levels[chosen]);
            for (size_t level = 0; level < sizeof levels; level++) {
                b.priv = levels[level];
                assert_int_equal(rig_push(&r, &b), level == chosen);
            }
        }
        set_filter(&r, i, F_ENABLE | F_IMPDEF);
        write32(r.system, filter_at(i) + 0x10, 0xffff00a5);
        write32(r.system, filter_at(i) + 0x14, 0x0000f0ff);
        b.impdef = 0x12340fa5;
        assert_true(rig_push(&r, &b));
        b.impdef = 0x123410a5;
        assert_false(rig_push(&r, &b));
        write32(r.system, filter_at(i) + 0x14, 0);
        assert_true(rig_push(&r, &b));
    }
    rig_close(&r);
}

/* itypes as letters: e exception, i interrupt, r trap return, . another jump; one character each of what is expected.
 */
static void trap_walk(system_rig *r, unsigned cause, const char *itypes, const char *expected) {
    char got[64] = "";
    for (size_t n = 0; itypes[n]; n++) {
        ntr_ingress b = rig_block(0x1000, 1);
        b.cause = cause;
        if (itypes[n] == 'e') b.itype = NTR_ITYPE_EXCEPTION;
        if (itypes[n] == 'i') b.itype = NTR_ITYPE_INTERRUPT;
        if (itypes[n] == 'r') b.itype = NTR_ITYPE_TRAP_RETURN;
        got[n] = rig_push(r, &b) ? 'x' : '.';
    }
    assert_string_equal(got, expected);
}

/* CI-141, CI-142 */
static void traps(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    for (unsigned i = 0; i < FILTERS; i++) {
        select_filters(&r, 1u << i);
        set_filter(&r, i, F_ENABLE | F_INTERRUPT);
        trap_walk(&r, 3, ".e.r.i.r.", ".xxx....."); /* exceptions */
        trap_walk(&r, 3, ".ei.r.r.", ".xxxxxx."); /* with all that is nested in them */
        write32(r.system, filter_at(i) + 4, 1 << 8);
        trap_walk(&r, 3, ".e.r.i.r.", ".....xxx."); /* interrupts */
        trap_walk(&r, 3, ".ie.r.er.r.", ".xxxxxxxxx.");
        set_filter(&r, i, F_ENABLE | F_ECAUSE);
        for (unsigned cause = 0; cause < 64; cause += 1 + i) {
            const uint64_t only = 1ull << cause;
            write32(r.system, filter_at(i) + 8, (uint32_t)only);
            write32(r.system, filter_at(i) + 12, (uint32_t)(only >> 32));
            trap_walk(&r, cause, ".i.r.e.r.", ".....xxx."); /* an exception's cause */
            trap_walk(&r, cause ^ 1, ".i.r.e.r.", ".........");
            trap_walk(&r, cause ^ 32, ".i.r.e.r.", ".........");
            trap_walk(&r, cause + 64, ".i.r.e.r.", ".........");
        }
        set_filter(&r, i, F_ENABLE | F_ECAUSE | F_INTERRUPT); /* both: this interrupt */
        write32(r.system, filter_at(i) + 8, 1 << 7);
        write32(r.system, filter_at(i) + 12, 0);
        trap_walk(&r, 7, ".e.r.i.r.", ".....xxx.");
        trap_walk(&r, 8, ".e.r.i.r.", ".........");
        write32(r.system, filter_at(i) + 4, 0);
    }
    rig_close(&r);
}

/* A counter that is full makes the filter turn off early. CI-143 */
static void deep_traps(void **state) {
    static system_rig r;
    (void)state;
    rig_open(&r, "\"trap_depth\":2");
    rig_trace(&r, 0);
    set_filter(&r, 0, F_ENABLE | F_INTERRUPT);
    select_filters(&r, 1);
    trap_walk(&r, 0, ".ee.r.r.", ".xxxxxx.");
    trap_walk(&r, 0, ".eee.r.r.r.", ".xxxxxxx...");
    rig_close(&r);
}

/* A comparator that notifies: SYNC=6, traced or not makes the difference. */
static void notification(void **state) {
    static system_rig r;
    static const uint64_t addresses[] = {0x1000, 0x1002, 0x1004, 0x1006, 0};
    (void)state;
    rig_open(&r, "");
    rig_trace(&r, 0);
    set_comparator(&r, 0, sides(IADDR, EQUAL, IADDR, ALWAYS, PRIMARY) | 1 << 14, 0x1002, 0);
    rig_walk(&r, addresses, "xxxx");
    assert_int_equal(rig_syncs(&r, NTR_SYNC_TRACE_EVENT), 1);
    set_comparator(&r, 0, sides(IADDR, SIX, IADDR, GREATER_EQUAL, PRIMARY) | 1 << 15, 0, 0x1002);
    rig_walk(&r, addresses, "xxxx");
    assert_int_equal(rig_syncs(&r, NTR_SYNC_TRACE_EVENT), 3); /* the third is sent with the block after it */
    set_comparator(&r, 0, sides(IADDR, SIX, IADDR, ALWAYS, PRIMARY), 0, 0x1002);
    rig_walk(&r, addresses, "xxxx");
    assert_int_equal(rig_syncs(&r, NTR_SYNC_TRACE_EVENT), 4);
    set_comparator(&r, 0, sides(CONTEXT, ALWAYS, IADDR, ALWAYS, PRIMARY) | 1 << 14, 0, 0); /* PInput is not 0 */
    rig_walk(&r, addresses, "xxxx");
    assert_int_equal(rig_syncs(&r, NTR_SYNC_TRACE_EVENT), 4);
    rig_close(&r);
}

/* ---- all at random */

typedef struct comparator {
    unsigned p_input, s_input, p_function, s_function, mode;
    uint64_t p, s;
    bool set;
} comparator;

typedef struct filter {
    uint32_t control, privileges, interrupt;
    uint64_t causes;
    unsigned depth;
} filter;

static bool holds(unsigned function, uint64_t value, uint64_t match) {
    static const char *const truth[] = {"=", "<>", "<", "<=", ">", ">="};
    return strchr(truth[function], value < match ? '<' : value > match ? '>' : '=') != NULL;
}

/* Does one of the block's instructions make it true? */
static bool compares(unsigned input, unsigned function, uint64_t match, uint64_t mask, const ntr_ingress *b) {
    if (input == CONTEXT) return holds(function, b->scontext & mask, match & mask);
    if (input == TVAL) return b->itype == NTR_ITYPE_EXCEPTION && holds(function, b->tval & mask, match & mask);
    bool any = false;
    for (unsigned n = 0; n < b->iretire; n++) any |= holds(function, (b->iaddr + 2 * n) & mask, match & mask);
    return any;
}

/* CI-150: one instruction of the block is enough, in every match mode. */
static bool comparator_is_true(comparator *c, const ntr_ingress *b) {
    if (c->mode > PRIMARY && c->mode < 10) {
        comparator each = *c; /* of one instruction */
        each.mode = c->mode + 10;
        bool any = false;
        for (unsigned n = 0; n < b->iretire; n++) {
            ntr_ingress one = *b;
            one.iaddr += 2 * n;
            one.iretire = 1;
            any |= comparator_is_true(&each, &one);
        }
        c->set = each.set;
        return any;
    }
    const uint64_t mask = c->s_function == SIX ? c->s : UINT64_MAX;
    const bool s = c->s_function >= SIX || compares(c->s_input, c->s_function, c->s, UINT64_MAX, b);
    const bool p =
        c->p_function == ALWAYS || (c->p_function != SIX && compares(c->p_input, c->p_function, c->p, mask, b));
    if (c->mode == PRIMARY) return p;
    if (c->mode == BOTH + 10) return p && s;
    if (c->mode == NOT_BOTH + 10) return !(p && s);
    const bool now = c->set || p;
    c->set = now && !s;
    return now;
}

static bool starts_window(const filter *f, const ntr_ingress *b) {
    const bool exception = b->itype == NTR_ITYPE_EXCEPTION, interrupt = b->itype == NTR_ITYPE_INTERRUPT;
    const bool listed = f->causes >> b->cause & 1;
    if (f->control & F_INTERRUPT) return (f->interrupt ? interrupt : exception) && (!(f->control & F_ECAUSE) || listed);
    return exception && listed;
}

static bool in_window(filter *f, const ntr_ingress *b) {
    if (!f->depth) {
        f->depth = starts_window(f, b);
        return f->depth;
    }
    if (b->itype == NTR_ITYPE_EXCEPTION || b->itype == NTR_ITYPE_INTERRUPT) f->depth++;
    if (b->itype == NTR_ITYPE_TRAP_RETURN) f->depth--;
    return true;
}

static bool filter_matches(filter *f, unsigned comparators, const ntr_ingress *b) {
    bool match = f->control & F_ENABLE;
    for (unsigned condition = 1; condition <= 3; condition++) {
        const uint32_t bits = f->control >> 4 * condition;
        if (bits & 1) match &= comparators >> (bits >> 1 & 7) & 1;
    }
    if (f->control & F_PRIVILEGE) match &= f->privileges >> b->priv & 1;
    if (f->control & (F_ECAUSE | F_INTERRUPT) && f->control & F_ENABLE) match &= in_window(f, b);
    return match;
}

static void random_comparator(system_rig *r, unsigned j, comparator *c, uint64_t *seed) {
    static const uint64_t masks[] = {UINT64_MAX, 0xff, ~7ull, 0x16, 0x1000, 0};
    *c = (comparator){random_below(seed, 3),
                      random_below(seed, 3),
                      random_below(seed, 8),
                      random_below(seed, 8),
                      random_below(seed, 4),
                      0x10f0 + 2 * random_below(seed, 20),
                      0x10f0 + 2 * random_below(seed, 20),
                      false};
    if (c->p_input) c->p = random_below(seed, 4);
    if (c->s_input) c->s = random_below(seed, 4);
    if (c->s_function == SIX) c->s = masks[random_below(seed, 6)];
    c->set = c->mode == LATCH && c->p_function == SIX;
    set_comparator(r, j, sides(c->p_input, c->p_function, c->s_input, c->s_function, c->mode), c->p, c->s);
}

static void random_filter(system_rig *r, unsigned i, filter *f, uint64_t *seed) {
    *f = (filter){
        .privileges = random_below(seed, 256), .interrupt = random_below(seed, 2), .causes = random_next(seed)};
    f->control = random_below(seed, 8) ? F_ENABLE : 0;
    for (unsigned condition = 1; condition <= 3; condition++)
        if (random_below(seed, 3) == 0) f->control |= comparator_bits(condition, random_below(seed, COMPARATORS));
    if (random_below(seed, 4) == 0) f->control |= F_PRIVILEGE;
    if (random_below(seed, 6) == 0) f->control |= F_ECAUSE;
    if (random_below(seed, 6) == 0) f->control |= F_INTERRUPT;
    write32(r->system, filter_at(i) + 4, f->privileges | f->interrupt << 8);
    write32(r->system, filter_at(i) + 8, (uint32_t)f->causes);
    write32(r->system, filter_at(i) + 12, (uint32_t)(f->causes >> 32));
    set_filter(r, i, f->control);
}

static ntr_ingress random_block(uint64_t *seed) {
    static const uint8_t levels[] = {NTR_PRIV_U, NTR_PRIV_S, NTR_PRIV_M, NTR_PRIV_VU, NTR_PRIV_VS};
    static const uint8_t itypes[] = {
        14, 14, 14, 14, NTR_ITYPE_EXCEPTION, NTR_ITYPE_INTERRUPT, NTR_ITYPE_TRAP_RETURN, NTR_ITYPE_TRAP_RETURN};
    ntr_ingress b = rig_block(0x10f0 + 2 * random_below(seed, 20), 1 + random_below(seed, 12));
    b.itype = itypes[random_below(seed, 8)];
    b.priv = levels[random_below(seed, 5)];
    b.scontext = random_below(seed, 4);
    b.tval = random_below(seed, 4);
    b.cause = random_below(seed, 64);
    return b;
}

/* I-CNT of all messages together. */
static uint64_t traced_halfwords(system_rig *r) {
    const ntr_params params = rig_params(r);
    ntr_message m;
    uint64_t sum = 0;
    for (size_t at = 0; rig_next(r, &params, &at, &m);) {
        if (m.tcode == NTR_TCODE_RESOURCE_FULL)
            sum += m.rdata0;
        else if (NTR_HAS(&m, ICNT))
            sum += m.icnt;
    }
    return sum;
}

static void everything(void **state) {
    static system_rig r;
    (void)state;
    for (uint64_t start = 1; start <= 300; start++) {
        uint64_t seed = start, traced = 0;
        comparator comparators[COMPARATORS];
        filter filters[FILTERS];
        rig_open(&r, "");
        for (unsigned j = 0; j < COMPARATORS; j++) random_comparator(&r, j, &comparators[j], &seed);
        for (unsigned i = 0; i < FILTERS; i++) random_filter(&r, i, &filters[i], &seed);
        const uint32_t selected = random_next(&seed) & random_next(&seed) & 0xffff;
        select_filters(&r, selected);
        rig_trace(&r, 0);
        for (unsigned n = 0; n < 100; n++) {
            const ntr_ingress b = random_block(&seed);
            unsigned true_ones = 0;
            bool expected = !selected;
            for (unsigned j = 0; j < COMPARATORS; j++)
                true_ones |= (unsigned)comparator_is_true(&comparators[j], &b) << j;
            for (unsigned i = 0; i < FILTERS; i++)
                if (selected >> i & 1) expected |= filter_matches(&filters[i], true_ones, &b);
            if (rig_push(&r, &b) != expected) fail_msg("seed %d, block %u: expected %d", (int)start, n, expected);
            if (expected) traced += b.iretire;
        }
        rig_stop(&r);
        assert_int_equal(traced_halfwords(&r), traced);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(functions),     TEST(wide_values),
                                       TEST(narrow_values), TEST(modes),
                                       TEST(latch),         TEST(latch_inside_of_a_block),
                                       TEST(masks),         TEST(contexts_and_trap_values),
                                       TEST(and_or),        TEST(privilege_and_impdef),
                                       TEST(traps),         TEST(deep_traps),
                                       TEST(notification),  TEST(everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
