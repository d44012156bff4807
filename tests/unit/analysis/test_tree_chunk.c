/* Call trees of chunks, applied one after the other, are the tree of all events: nodes, counts and the order of
 * functions. A timeline and interrupts that follow it are those of all events. A chunk whose tree is refused is fed
 * event by event. */
#include "../test.h"

#include "../program/elf_builder.h"

#include "analysis/followers.h"
#include "analysis/tree_chunk.h"

#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 12, FUNCTION_SIZE = 0x20, EVENTS = 3000, DEPTH = 40 };
enum { SLICES = 120 }; /* of a timeline: shorter ones are left out */
enum { MESSY = 40 }; /* of so many events one is no call and no return of a clean execution */

static elf_builder elf;
static ntr_program *program;
static ntr_debug_info *debug;

/* Names of functions that begin with another number than `function`. */
typedef struct name_of {
    unsigned number;
    const char *name;
} name_of;

static int begin_with(const name_of *named) {
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, CODE_MAX, CODE_MAX);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        static char names[FUNCTIONS][16];
        snprintf(names[i], sizeof names[i], "function%u", i);
        for (const name_of *n = named; n->name; n++)
            if (n->number == i) strcpy(names[i], n->name);
        elf_symbol(&elf, names[i], 0x12, 1, TEXT_ADDRESS + (uint64_t)i * FUNCTION_SIZE, FUNCTION_SIZE);
    }
    elf_arch(&elf, "rv64gc");
    ntr_program_new(NULL, &program);
    if (elf_write(&elf) || ntr_program_add_elf(program, elf.path, NULL) != NTR_OK) return -1;
    ntr_debug_info_new(program, NULL, &debug);
    return debug ? 0 : -1;
}

static int begin(void **state) {
    (void)state;
    return begin_with((const name_of[]){{10, "__schedule"}, {11, "__switch_to"}, {0, NULL}});
}

/* Functions that name the traps in which they run. */
static int begin_named(void **state) {
    (void)state;
    return begin_with(
        (const name_of[]){{3, "do_page_fault"}, {4, "handle_IPI"}, {10, "__schedule"}, {11, "__switch_to"}, {0, NULL}});
}

/* Functions that continue other coroutines. */
static int begin_coroutines(void **state) {
    (void)state;
    return begin_with((const name_of[]){
        {7, "runtime.mcall"}, {8, "runtime.execute"}, {9, "gogo"}, {10, "setcontext"}, {11, "swapcontext"}, {0, NULL}});
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
    bool followed;  /* a timeline and interrupts follow the tree */
    bool rare;      /* the functions that name traps are rarely called */
    bool timed;     /* most messages have timestamps; a message has several events */
    uint64_t message, time;
    ntr_context context;
} execution;

static uint32_t roll(execution *x, uint32_t choices) {
    x->seed = x->seed * 1664525u + 1013904223u;
    return (x->seed >> 16) % choices;
}

static uint64_t entry(execution *x) {
    uint32_t number = roll(x, x->threads ? FUNCTIONS : FUNCTIONS - 1);
    if (x->rare && (number == 3 || number == 4) && roll(x, 30)) number = 5;
    return TEXT_ADDRESS + (uint64_t)number * FUNCTION_SIZE;
}

static ntr_event span_of(execution *x) {
    ntr_event e = {
        .kind = NTR_EVENT_SPAN, .address = x->pc, .last = x->pc + 2, .instructions = 2 + roll(x, 3), .halfwords = 2};
    e.end = NTR_SPAN_NOT_TAKEN;
    e.target = x->pc + 4;
    if (e.target % FUNCTION_SIZE == 0) {
        e.end = NTR_SPAN_TAKEN;
        e.target -= FUNCTION_SIZE;
    } else if (roll(x, 3) == 0 && x->depth < DEPTH) {
        e.end = roll(x, 4) ? NTR_SPAN_CALL : NTR_SPAN_INDIRECT_CALL;
        x->returns[x->depth++] = e.target;
        e.target = entry(x);
    } else if (roll(x, 2) == 0 && x->depth) {
        e.end = NTR_SPAN_RETURN;
        e.target = x->returns[--x->depth];
    }
    return e;
}

/* Tail calls, traps and their returns, longjmps, stops, gaps, contexts. */
static ntr_event messy_event(execution *x) {
    static const uint8_t ends[] = {NTR_SPAN_JUMP,        NTR_SPAN_INDIRECT_JUMP, NTR_SPAN_EXCEPTION, NTR_SPAN_INTERRUPT,
                                   NTR_SPAN_TRAP_RETURN, NTR_SPAN_CO_SWAP,       NTR_SPAN_RETURN,    NTR_SPAN_TAKEN};
    ntr_event e = span_of(x);
    switch (roll(x, 16)) {
    case 0: return (ntr_event){.kind = NTR_EVENT_GAP};
    case 1: return (ntr_event){.kind = NTR_EVENT_STOP, .address = x->pc};
    case 2: return (ntr_event){.kind = NTR_EVENT_SYNC, .address = roll(x, 2) ? x->pc : (x->pc = entry(x))};
    case 3: return (ntr_event){.kind = NTR_EVENT_SYNC, .address = x->pc};
    case 4:
        x->context = (ntr_context){.scontext = roll(x, 2), .has_scontext = true};
        return (ntr_event){.kind = NTR_EVENT_CONTEXT};
    case 5: e.flags = NTR_EVENT_TARGET_UNKNOWN; return e;
    default:
        e.end = ends[roll(x, sizeof ends)];
        e.target = roll(x, 2) && x->depth ? x->returns[roll(x, (uint32_t)x->depth)]
                   : roll(x, 2)           ? entry(x)
                                          : entry(x) + 4;
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
    ntr_timeline *timeline;
    ntr_interrupts *interrupts;
} world;

static world make(ntr_calltree_split split) {
    world w = {0};
    ntr_functions_new(debug, NULL, &w.functions);
    ntr_calltree_new(w.functions, NULL, &w.tree);
    assert_non_null(w.tree);
    ntr_calltree_divide(w.tree, split);
    ntr_timeline_new(w.functions, SLICES, NULL, &w.timeline);
    ntr_interrupts_new(w.functions, NULL, &w.interrupts);
    assert_true(w.timeline && w.interrupts);
    return w;
}

static void follow(const world *w) {
    const ntr_follower timeline = ntr_timeline_follower(w->timeline),
                       interrupts = ntr_interrupts_follower(w->interrupts);
    assert_true(ntr_calltree_follow(w->tree, &timeline) && ntr_calltree_follow(w->tree, &interrupts));
}

static void end_world(world *w) {
    ntr_timeline_free(w->timeline);
    ntr_interrupts_free(w->interrupts);
    ntr_calltree_free(w->tree);
    ntr_functions_free(w->functions);
}

/* `order` may differ, but not the order. */
static void assert_same_slices(const world *a, const world *b) {
    size_t count, other;
    assert_true(ntr_timeline_finish(a->timeline) == NTR_OK && ntr_timeline_finish(b->timeline) == NTR_OK);
    const ntr_timeslice *x = ntr_timeline_slices(a->timeline, &count), *y = ntr_timeline_slices(b->timeline, &other);
    assert_int_equal(count, other);
    assert_true(ntr_timeline_shortest(a->timeline) == ntr_timeline_shortest(b->timeline));
    for (size_t i = 0; i < count; i++) {
        assert_true(x[i].begin == y[i].begin && x[i].end == y[i].end && x[i].value == y[i].value &&
                    x[i].context == y[i].context);
        assert_true(x[i].kind == y[i].kind && x[i].frame == y[i].frame && x[i].src == y[i].src);
    }
}

static void assert_same_interrupts(const world *a, const world *b) {
    size_t count, other;
    assert_true(ntr_interrupts_finish(a->interrupts) == NTR_OK && ntr_interrupts_finish(b->interrupts) == NTR_OK);
    const ntr_interrupt *const *x = ntr_interrupts_list(a->interrupts, &count), *const *y = ntr_interrupts_list(
                                                                                    b->interrupts, &other);
    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++) {
        assert_true(x[i]->address == y[i]->address && x[i]->handler == y[i]->handler && x[i]->end == y[i]->end);
        assert_true(x[i]->count == y[i]->count && x[i]->nested == y[i]->nested && x[i]->unfinished == y[i]->unfinished);
        assert_memory_equal(&x[i]->instructions, &y[i]->instructions, sizeof x[i]->instructions);
    }
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
    uint64_t shortest = 0;
    if (x.followed) follow(&all);
    if (x.followed) follow(&sum);
    for (size_t i = 0; i < 2; i++) assert_int_equal(ntr_calltree_open(threads[i].tree), NTR_OK);
    for (size_t i = 0; i < EVENTS; i++) events[i] = next_event(&x, i);
    assert_int_equal(ntr_calltree_feed(all.tree, events, EVENTS), NTR_OK);
    for (size_t at = 0, some; at < EVENTS; at += some) {
        some = 1 + roll(&x, longest);
        if (some > EVENTS - at) some = EVENTS - at;
        while (at + some < EVENTS && events[at + some].message == events[at + some - 1].message) some++;
        const world *thread = &threads[roll(&x, 2)];
        if (x.followed) assert_int_equal(ntr_calltree_keep_frames(thread->tree, shortest), NTR_OK);
        if (roll(&x, 3) == 0) shortest = ntr_calltree_shortest_frame(sum.tree); /* the threads are ahead */
        if (apply_chunk(thread, &sum, events + at, some)) continue;
        refused++;
        assert_int_equal(ntr_calltree_feed(sum.tree, events + at, some), NTR_OK);
    }
    for (unsigned i = 0; x.followed && i < 2; i++) ntr_calltree_end_following(i ? all.tree : sum.tree, true);
    assert_same(&all, &sum);
    if (x.followed) assert_same_slices(&all, &sum);
    if (x.followed) assert_same_interrupts(&all, &sum);
    end_world(&all);
    end_world(&sum);
    for (size_t i = 0; i < 2; i++) end_world(&threads[i]);
    return refused;
}

static execution start(uint32_t seed, unsigned messy, bool threads) {
    return (execution){
        .seed = seed, .pc = TEXT_ADDRESS, .messy = messy, .threads = threads, .context = NTR_CONTEXT_UNKNOWN};
}

static void calls_and_returns_are_never_refused(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++)
        assert_int_equal(compare(start(seed, 0, false), seed % 3, 10 + 20 * seed), 0);
}

/* The share of a chunk's first messages in time is not known without the one before. */
static void timestamps(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint32_t seed = 1; seed <= TEST_ROUNDS(60); seed++) {
        execution x = start(seed, seed % 2 ? MESSY : 0, false);
        x.timed = true;
        refused += compare(x, seed % 3, 5 + 5 * seed);
    }
    assert_in_range(refused, 1, 600);
}

static void anything_that_happens_to_stacks(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint32_t seed = 1; seed <= TEST_ROUNDS(60); seed++)
        refused += compare(start(seed, MESSY, false), seed % 3, 5 + 5 * seed);
    assert_true(refused > 0);
}

static unsigned compare_followed(uint32_t seed, unsigned messy, unsigned longest) {
    execution x = start(seed, messy, false);
    x.followed = x.rare = true;
    return compare(x, seed % 3, longest);
}

static void followers(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint32_t seed = 1; seed <= 20; seed++) assert_int_equal(compare_followed(seed, 0, 10 + 20 * seed), 0);
    for (uint32_t seed = 1; seed <= TEST_ROUNDS(200); seed++)
        refused += compare_followed(seed, MESSY, 5 + 5 * (seed % 60));
    assert_in_range(refused, 1, 1000);
}

static void followers_of_named_traps(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint32_t seed = 1; seed <= TEST_ROUNDS(200); seed++)
        refused += compare_followed(seed, MESSY, 5 + 5 * (seed % 60));
    assert_in_range(refused, 1, 4000);
}

static ntr_event span_to(uint32_t from, uint8_t end, uint64_t target) {
    const uint64_t address = TEXT_ADDRESS + (uint64_t)from * FUNCTION_SIZE;
    return (ntr_event){.kind = NTR_EVENT_SPAN,
                       .address = address,
                       .last = address + 2,
                       .instructions = 2,
                       .halfwords = 2,
                       .end = end,
                       .target = target,
                       .context = NTR_CONTEXT_UNKNOWN};
}

static uint64_t entry_of(uint32_t number) {
    return TEXT_ADDRESS + (uint64_t)number * FUNCTION_SIZE;
}

/* A trap that has a name ends in a chunk that enters a new function: the name is the earlier one of both. */
static void name_before_a_new_function(void **state) {
    const ntr_event events[] = {span_to(0, NTR_SPAN_EXCEPTION, entry_of(3)), span_to(3, NTR_SPAN_JUMP, entry_of(6)),
                                span_to(6, NTR_SPAN_TRAP_RETURN, entry_of(0)), span_to(0, NTR_SPAN_CALL, entry_of(5)),
                                span_to(5, NTR_SPAN_RETURN, entry_of(0) + 4)};
    enum { ALL = sizeof events / sizeof *events, FIRST = 2 };
    (void)state;
    world all = make(NTR_CALLTREE_TOGETHER), sum = make(NTR_CALLTREE_TOGETHER), thread = make(NTR_CALLTREE_TOGETHER);
    follow(&all);
    follow(&sum);
    assert_int_equal(ntr_calltree_open(thread.tree), NTR_OK);
    assert_int_equal(ntr_calltree_keep_frames(thread.tree, 0), NTR_OK);
    assert_int_equal(ntr_calltree_feed(all.tree, events, ALL), NTR_OK);
    assert_int_equal(ntr_calltree_feed(sum.tree, events, FIRST), NTR_OK);
    if (!apply_chunk(&thread, &sum, events + FIRST, ALL - FIRST))
        assert_int_equal(ntr_calltree_feed(sum.tree, events + FIRST, ALL - FIRST), NTR_OK);
    for (unsigned i = 0; i < 2; i++) ntr_calltree_end_following(i ? all.tree : sum.tree, true);
    assert_same(&all, &sum);
    assert_same_slices(&all, &sum);
    end_world(&all);
    end_world(&sum);
    end_world(&thread);
}

static void threads_of_an_operating_system(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint32_t seed = 1; seed <= 20; seed++) refused += compare(start(seed, MESSY, true), seed % 3, 100);
    assert_true(refused > 0);
}

static void coroutines(void **state) {
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
        cmocka_unit_test_setup_teardown(followers, begin, end),
        cmocka_unit_test_setup_teardown(followers_of_named_traps, begin_named, end),
        cmocka_unit_test_setup_teardown(name_before_a_new_function, begin_named, end),
        cmocka_unit_test_setup_teardown(threads_of_an_operating_system, begin, end),
        cmocka_unit_test_setup_teardown(coroutines, begin_coroutines, end),
    };
    return cmocka_run_group_tests_name("tree chunk", tests, NULL, NULL);
}
