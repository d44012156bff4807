/* Call trees of chunks, applied one after the other, are the tree of all events: nodes, counts and the order of functions. A chunk
 * whose tree is refused is fed event by event. */
#include "../test.h"

#include "../program/elf_builder.h"

#include <ntrace/calltree.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 12, FUNCTION_SIZE = 0x20, EVENTS = 3000, DEPTH = 40 };
enum { MESSY = 40 }; /* of so many events one is no call and no return of a clean execution */

static elf_builder elf;
static ntr_program *program;
static ntr_debug_info *debug;

static int begin(void **state) {
    (void)state;
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, CODE_MAX, CODE_MAX);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        static char names[FUNCTIONS][16];
        snprintf(names[i], sizeof names[i], i == FUNCTIONS - 1 ? "__switch_to" : "function%u", i);
        elf_symbol(&elf, names[i], 0x12, 1, TEXT_ADDRESS + (uint64_t)i * FUNCTION_SIZE, FUNCTION_SIZE);
    }
    elf_arch(&elf, "rv64gc");
    program = ntr_program_new(NULL);
    if (elf_write(&elf) || ntr_program_add_elf(program, elf.path, NULL) != NTR_OK) return -1;
    debug = ntr_debug_info_new(program, NULL);
    return debug ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    ntr_debug_info_free(debug);
    ntr_program_free(program);
    elf_end(&elf);
    return 0;
}

/* ---- a random execution */

typedef struct execution {
    uint32_t seed;
    uint64_t pc, returns[DEPTH];
    size_t depth;
    unsigned messy; /* 0: calls, returns and jumps inside of functions only */
    bool threads;   /* __switch_to is called */
    bool timed;     /* most messages have timestamps; a message has several events */
    uint64_t message, time;
    ntr_context context;
} execution;

static uint32_t roll(execution *x, uint32_t choices) {
    x->seed = x->seed * 1664525u + 1013904223u;
    return (x->seed >> 16) % choices;
}

static uint64_t entry(execution *x) {
    return TEXT_ADDRESS + (uint64_t)roll(x, x->threads ? FUNCTIONS : FUNCTIONS - 1) * FUNCTION_SIZE;
}

static ntr_event span_of(execution *x) {
    ntr_event e = {.kind = NTR_EVENT_SPAN, .address = x->pc, .last = x->pc + 2, .instructions = 2 + roll(x, 3), .halfwords = 2};
    e.end = NTR_END_NOT_TAKEN;
    e.target = x->pc + 4;
    if (e.target % FUNCTION_SIZE == 0) {
        e.end = NTR_END_TAKEN;
        e.target -= FUNCTION_SIZE;
    } else if (roll(x, 3) == 0 && x->depth < DEPTH) {
        e.end = roll(x, 4) ? NTR_END_CALL : NTR_END_INDIRECT_CALL;
        x->returns[x->depth++] = e.target;
        e.target = entry(x);
    } else if (roll(x, 2) == 0 && x->depth) {
        e.end = NTR_END_RETURN;
        e.target = x->returns[--x->depth];
    }
    return e;
}

/* Tail calls, traps and their returns, longjmps, stops, gaps, contexts. */
static ntr_event messy_event(execution *x) {
    static const uint8_t ends[] = {NTR_END_JUMP, NTR_END_INDIRECT_JUMP, NTR_END_EXCEPTION, NTR_END_INTERRUPT, NTR_END_TRAP_RETURN,
                                   NTR_END_CO_SWAP, NTR_END_RETURN, NTR_END_TAKEN};
    ntr_event e = span_of(x);
    switch (roll(x, 16)) {
    case 0: return (ntr_event){.kind = NTR_EVENT_GAP};
    case 1: return (ntr_event){.kind = NTR_EVENT_STOP, .address = x->pc};
    case 2: return (ntr_event){.kind = NTR_EVENT_SYNC, .address = roll(x, 2) ? x->pc : (x->pc = entry(x))};
    case 3: return (ntr_event){.kind = NTR_EVENT_SYNC, .address = x->pc};
    case 4: x->context = (ntr_context){.scontext = roll(x, 2), .has_scontext = true}; return (ntr_event){.kind = NTR_EVENT_CONTEXT};
    case 5: e.flags = NTR_EVENT_TARGET_UNKNOWN; return e;
    default:
        e.end = ends[roll(x, sizeof ends)];
        e.target = roll(x, 2) && x->depth ? x->returns[roll(x, (uint32_t)x->depth)] : roll(x, 2) ? entry(x) : entry(x) + 4;
        return e;
    }
}

/* The next message may have an event. Its time is sometimes lost, or less than the one before. */
static void next_message(execution *x) {
    x->message++;
    x->time = roll(x, 50) == 0 && x->time > 40 ? x->time - 40 : x->time + roll(x, 30);
}

static ntr_event next_event(execution *x, size_t number) {
    ntr_event e = x->messy && roll(x, x->messy) == 0 ? messy_event(x) : span_of(x);
    e.context = x->context;
    if (!x->timed || roll(x, 3) == 0) next_message(x);
    if (x->timed && x->message % 64) {
        e.flags |= NTR_EVENT_TIME;
        e.time = x->time;
    }
    e.message = x->message;
    e.offset = 3 * number;
    if (e.kind == NTR_EVENT_SPAN && !(e.flags & NTR_EVENT_TARGET_UNKNOWN)) x->pc = e.target;
    return e;
}

/* ---- trees */

typedef struct world {
    ntr_functions *functions;
    ntr_calltree *tree;
} world;

static world make(ntr_calltree_split split) {
    world w = {.functions = ntr_functions_new(debug, NULL)};
    w.tree = ntr_calltree_new(w.functions, NULL);
    assert_non_null(w.tree);
    ntr_calltree_divide(w.tree, split);
    return w;
}

static void end_world(world *w) {
    ntr_calltree_free(w->tree);
    ntr_functions_free(w->functions);
}

static void assert_same(const world *a, const world *b) {
    size_t count, other;
    ntr_calltree_finish(a->tree);
    ntr_calltree_finish(b->tree);
    const ntr_call_node *x = ntr_calltree_nodes(a->tree, &count), *y = ntr_calltree_nodes(b->tree, &other);
    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(x[i].parent, y[i].parent);
        assert_int_equal(x[i].function, y[i].function);
        assert_int_equal(x[i].site, y[i].site);
        assert_int_equal(x[i].kind, y[i].kind);
        assert_int_equal(x[i].calls, y[i].calls);
        assert_int_equal(x[i].instructions, y[i].instructions);
        assert_int_equal(x[i].ticks, y[i].ticks);
    }
    for (uint32_t i = 0;; i++) {
        const ntr_function *f = ntr_functions_get(a->functions, i), *g = ntr_functions_get(b->functions, i);
        assert_int_equal(f == NULL, g == NULL);
        if (!f || !g) break;
        assert_string_equal(f->name, g->name);
    }
}

/* Returns whether the tree of the events was applied to `to`. */
static bool apply_chunk(const world *chunk, const world *to, const ntr_event *events, size_t count) {
    ntr_calltree_begin_chunk(chunk->tree);
    assert_int_equal(ntr_calltree_feed(chunk->tree, events, count), NTR_OK);
    ntr_calltree_finish(chunk->tree);
    const size_t size = ntr_calltree_pack(chunk->tree, NULL, 0);
    void *packed = malloc(size);
    assert_int_equal(ntr_calltree_pack(chunk->tree, packed, size), size);
    const ntr_status status = ntr_calltree_apply(to->tree, packed, size);
    assert_true(status == NTR_OK || status == NTR_E_STATE);
    free(packed);
    return status == NTR_OK;
}

/* Returns how many chunks were refused. */
static unsigned compare(execution x, ntr_calltree_split split, unsigned longest) {
    static ntr_event events[EVENTS];
    world all = make(split), sum = make(split), threads[2] = {make(split), make(split)};
    unsigned refused = 0;
    for (size_t i = 0; i < 2; i++) assert_int_equal(ntr_calltree_open(threads[i].tree), NTR_OK);
    for (size_t i = 0; i < EVENTS; i++) events[i] = next_event(&x, i);
    assert_int_equal(ntr_calltree_feed(all.tree, events, EVENTS), NTR_OK);
    for (size_t at = 0, some; at < EVENTS; at += some) {
        some = 1 + roll(&x, longest);
        if (some > EVENTS - at) some = EVENTS - at;
        while (at + some < EVENTS && events[at + some].message == events[at + some - 1].message) some++;
        if (apply_chunk(&threads[roll(&x, 2)], &sum, events + at, some)) continue;
        refused++;
        assert_int_equal(ntr_calltree_feed(sum.tree, events + at, some), NTR_OK);
    }
    assert_same(&all, &sum);
    end_world(&all);
    end_world(&sum);
    for (size_t i = 0; i < 2; i++) end_world(&threads[i]);
    return refused;
}

static execution start(uint32_t seed, unsigned messy, bool threads) {
    return (execution){.seed = seed, .pc = TEXT_ADDRESS, .messy = messy, .threads = threads, .context = NTR_CONTEXT_UNKNOWN};
}

static void calls_and_returns_are_never_refused(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) assert_int_equal(compare(start(seed, 0, false), seed % 3, 10 + 20 * seed), 0);
}

/* The share of a chunk's first messages in time is not known without the one before. */
static void timestamps(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        execution x = start(seed, seed % 2 ? MESSY : 0, false);
        x.timed = true;
        refused += compare(x, seed % 3, 5 + 5 * seed);
    }
    assert_in_range(refused, 1, 600);
}

static void anything_that_happens_to_stacks(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint32_t seed = 1; seed <= 60; seed++) refused += compare(start(seed, MESSY, false), seed % 3, 5 + 5 * seed);
    assert_true(refused > 0);
}

static void threads_of_an_operating_system(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint32_t seed = 1; seed <= 20; seed++) refused += compare(start(seed, MESSY, true), seed % 3, 100);
    assert_true(refused > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_and_returns_are_never_refused, begin, end),
        cmocka_unit_test_setup_teardown(timestamps, begin, end),
        cmocka_unit_test_setup_teardown(anything_that_happens_to_stacks, begin, end),
        cmocka_unit_test_setup_teardown(threads_of_an_operating_system, begin, end),
    };
    return cmocka_run_group_tests_name("tree chunk", tests, NULL, NULL);
}
