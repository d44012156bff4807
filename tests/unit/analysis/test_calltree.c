#include "../test.h"

#include "../program/elf_builder.h"

#include <ntrace/calltree.h>
#include <ntrace/profile.h>

/* Functions main, work, handler and preempt; their execution is given event by event. */
enum { MAIN = TEXT_ADDRESS, WORK = TEXT_ADDRESS + 0x40, HANDLER = TEXT_ADDRESS + 0x80, PREEMPT = TEXT_ADDRESS + 0xc0 };
enum { FUNCTION_SIZE = 0x40 };

static elf_builder elf;

typedef struct world {
    ntr_program *program;
    ntr_debug_info *source;
    ntr_functions *functions;
    ntr_calltree *tree;
} world;

static int begin(void **state) {
    static world w;
    static const struct {
        const char *name;
        uint64_t address;
    } functions[] = {{"main", MAIN}, {"work", WORK}, {"handler", HANDLER}, {"preempt", PREEMPT}};
    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, CODE_MAX, CODE_MAX);
    for (size_t i = 0; i < 4; i++) elf_symbol(&elf, functions[i].name, 0x12, 1, functions[i].address, FUNCTION_SIZE);
    elf_arch(&elf, "rv64gc");
    if (elf_write(&elf)) return -1;
    ntr_program_new(NULL, &w.program);
    if (ntr_program_add_elf(w.program, elf.path, NULL) != NTR_OK) return -1;
    ntr_debug_info_new(w.program, NULL, &w.source);
    ntr_functions_new(w.source, NULL, &w.functions);
    ntr_calltree_new(w.functions, NULL, &w.tree);
    *state = &w;
    return w.tree ? 0 : -1;
}

static int end(void **state) {
    world *w = *state;
    ntr_calltree_free(w->tree);
    ntr_functions_free(w->functions);
    ntr_debug_info_free(w->source);
    ntr_program_free(w->program);
    elf_end(&elf);
    return 0;
}

/* ---- telling ----------------------------------------------------------------------------------- */

/* Ten instructions of two bytes. */
static ntr_event span_in(ntr_context context, uint16_t src, uint64_t address, ntr_span_end how, uint64_t target) {
    return (ntr_event){.kind = NTR_EVENT_SPAN,
                       .src = src,
                       .context = context,
                       .end = (uint8_t)how,
                       .address = address,
                       .last = address + 18,
                       .target = target,
                       .instructions = 10,
                       .halfwords = 10};
}

static ntr_event span(uint16_t src, uint64_t address, ntr_span_end how, uint64_t target) {
    return span_in((ntr_context)NTR_CONTEXT_UNKNOWN, src, address, how, target);
}

static ntr_context process(uint64_t scontext) {
    return (ntr_context){.prv = 1, .scontext = scontext, .has_scontext = true};
}

static ntr_event context(uint16_t src, uint64_t scontext) {
    return (ntr_event){.kind = NTR_EVENT_CONTEXT, .src = src, .context = process(scontext)};
}

static ntr_event gap(uint16_t src) {
    return (ntr_event){.kind = NTR_EVENT_GAP, .src = src};
}

/* ---- expecting --------------------------------------------------------------------------------- */

typedef struct expected {
    const char *path;
    uint64_t calls, instructions;
} expected;

static void path_of(world *w, const ntr_call_node *nodes, uint32_t node, char *text, size_t capacity) {
    if (nodes[node].parent != NTR_CALLTREE_ROOT) {
        path_of(w, nodes, nodes[node].parent, text, capacity);
        strncat(text, "/", capacity - strlen(text) - 1);
    }
    strncat(text, ntr_functions_get(w->functions, nodes[node].function)->name, capacity - strlen(text) - 1);
}

/* All nodes, in the order that they were entered in. */
static void expect(world *w, const ntr_event *events, size_t event_count, const expected *paths, size_t count) {
    size_t nodes_count;
    assert_int_equal(ntr_calltree_feed(w->tree, events, event_count), NTR_OK);
    ntr_calltree_finish(w->tree);
    const ntr_call_node *nodes = ntr_calltree_nodes(w->tree, &nodes_count);
    for (uint32_t i = 1; i < nodes_count && i <= count; i++) {
        char path[256] = "";
        path_of(w, nodes, i, path, sizeof path);
        assert_string_equal(path, paths[i - 1].path);
        assert_int_equal(nodes[i].calls, paths[i - 1].calls);
        assert_int_equal(nodes[i].instructions, paths[i - 1].instructions);
    }
    assert_int_equal(nodes_count, count + 1);
}
#define EXPECT(w, events, paths)                                                                                       \
    expect(w, events, sizeof(events) / sizeof *(events), paths, sizeof(paths) / sizeof *(paths))

/* ---- tests ------------------------------------------------------------------------------------- */

static void harts_by_turns(void **state) {
    world *w = *state;
    ntr_calltree_divide(w->tree, NTR_CALLTREE_HARTS);
    const ntr_event events[] = {
        span(0, MAIN, NTR_SPAN_CALL, WORK),           span(1, MAIN, NTR_SPAN_JUMP, MAIN),
        span(0, WORK, NTR_SPAN_TAKEN, WORK),          span(1, MAIN, NTR_SPAN_NOT_TAKEN, MAIN + 20),
        span(0, WORK, NTR_SPAN_NOT_TAKEN, WORK + 20), span(1, MAIN, NTR_SPAN_CALL, WORK),
        span(0, WORK, NTR_SPAN_RETURN, MAIN + 20),    span(0, MAIN + 20, NTR_SPAN_NOT_TAKEN, MAIN + 40),
        span(1, WORK, NTR_SPAN_NOT_TAKEN, WORK + 20), span(1, WORK, NTR_SPAN_TAKEN, WORK),
    };
    const expected paths[] = {{"hart 0", 1, 0}, {"hart 0/main", 1, 20}, {"hart 0/main/work", 1, 30},
                              {"hart 1", 1, 0}, {"hart 1/main", 1, 30}, {"hart 1/main/work", 1, 20}};
    EXPECT(w, events, paths);
}

/* Spans that stay in a function are counted at once; those of another hart in the same function are not among them. */
static void harts_in_one_function(void **state) {
    world *w = *state;
    ntr_calltree_divide(w->tree, NTR_CALLTREE_HARTS);
    const ntr_event events[] = {
        span(0, MAIN, NTR_SPAN_JUMP, MAIN),           span(0, MAIN, NTR_SPAN_NOT_TAKEN, MAIN + 20),
        span(1, MAIN, NTR_SPAN_NOT_TAKEN, MAIN + 20), span(1, MAIN + 20, NTR_SPAN_JUMP, MAIN),
        span(0, MAIN + 20, NTR_SPAN_JUMP, MAIN),
    };
    const expected paths[] = {{"hart 0", 1, 0}, {"hart 0/main", 1, 30}, {"hart 1", 1, 0}, {"hart 1/main", 1, 20}};
    EXPECT(w, events, paths);
}

static void contexts_have_stacks_of_their_own(void **state) {
    world *w = *state;
    ntr_calltree_divide(w->tree, NTR_CALLTREE_CONTEXTS);
    const ntr_event events[] = {
        context(0, 5),
        span_in(process(5), 0, MAIN, NTR_SPAN_CALL, WORK),
        span_in(process(5), 0, WORK, NTR_SPAN_NOT_TAKEN, WORK + 20),
        context(0, 6),
        span_in(process(6), 0, HANDLER, NTR_SPAN_NOT_TAKEN, HANDLER + 20),
        span_in(process(5), 0, WORK + 20, NTR_SPAN_RETURN, MAIN + 20), /* the span itself carries its context */
        span_in(process(5), 0, MAIN + 20, NTR_SPAN_NOT_TAKEN, MAIN + 40),
    };
    const expected paths[] = {{"hart 0 scontext 0x5", 1, 0},
                              {"hart 0 scontext 0x5/main", 1, 20},
                              {"hart 0 scontext 0x5/main/work", 1, 20},
                              {"hart 0 scontext 0x6", 1, 0},
                              {"hart 0 scontext 0x6/handler", 1, 10}};
    EXPECT(w, events, paths);
}

/* What is below is not known any more; other harts know theirs. */
static void a_gap_closes_the_frames_of_its_hart(void **state) {
    world *w = *state;
    ntr_calltree_divide(w->tree, NTR_CALLTREE_HARTS);
    const ntr_event events[] = {
        span(0, MAIN, NTR_SPAN_CALL, WORK),           span(1, MAIN, NTR_SPAN_CALL, WORK),
        span(0, WORK, NTR_SPAN_NOT_TAKEN, WORK + 20), gap(0),
        span(0, WORK, NTR_SPAN_TAKEN, WORK),          span(1, WORK, NTR_SPAN_TAKEN, WORK),
    };
    const expected paths[] = {{"hart 0", 1, 0},      {"hart 0/main", 1, 10}, {"hart 0/main/work", 1, 10},
                              {"hart 1", 1, 0},      {"hart 1/main", 1, 10}, {"hart 1/main/work", 1, 10},
                              {"hart 0/work", 1, 10}};
    EXPECT(w, events, paths);
}

/* A handler runs on what it interrupted, also where that is quiet. */
static void a_trap_comes_and_goes(void **state) {
    world *w = *state;
    const ntr_event events[] = {
        span(0, MAIN, NTR_SPAN_TAKEN, MAIN),
        span(0, MAIN, NTR_SPAN_INTERRUPT, HANDLER),
        span(0, HANDLER, NTR_SPAN_CALL, WORK),
        span(0, WORK, NTR_SPAN_RETURN, HANDLER + 20),
        span(0, HANDLER, NTR_SPAN_TRAP_RETURN, MAIN + 20),
        span(0, MAIN + 20, NTR_SPAN_NOT_TAKEN, MAIN + 40),
        span(0, MAIN, NTR_SPAN_JUMP, WORK),
        span(0, WORK, NTR_SPAN_TAKEN, WORK),
    };
    const expected paths[] = {{"main", 1, 40}, {"main/handler", 1, 20}, {"main/handler/work", 1, 10}, {"work", 1, 10}};
    EXPECT(w, events, paths);
}

/* Go preempts by a signal: its handler returns to another function, which jumps to where the signal came. */
static void a_trap_ends_by_a_jump(void **state) {
    world *w = *state;
    enum { SIGNAL_RETURN = HANDLER + 20 };
    const ntr_event events[] = {
        span(0, MAIN, NTR_SPAN_CALL, WORK),
        span(0, WORK, NTR_SPAN_INTERRUPT, HANDLER),
        span(0, HANDLER, NTR_SPAN_CUT, SIGNAL_RETURN),
        {.kind = NTR_EVENT_STOP, .address = SIGNAL_RETURN, .context = NTR_CONTEXT_UNKNOWN},
        {.kind = NTR_EVENT_SYNC, .address = PREEMPT, .context = NTR_CONTEXT_UNKNOWN},
        span(0, PREEMPT, NTR_SPAN_INDIRECT_JUMP, WORK + 20),
        span(0, WORK + 20, NTR_SPAN_RETURN, MAIN + 20),
        span(0, MAIN + 20, NTR_SPAN_NOT_TAKEN, MAIN + 40),
    };
    const expected paths[] = {
        {"main", 1, 20}, {"main/work", 1, 20}, {"main/work/handler", 1, 10}, {"main/work/handler/preempt", 1, 10}};
    EXPECT(w, events, paths);
}

/* ---- callers, callees, images ------------------------------------------------------------------- */

typedef struct expected_row {
    const char *name;
    uint64_t calls, self, total;
} expected_row;

static void expect_rows(const ntr_profile *p, const expected_row *rows, size_t count) {
    assert_int_equal(p->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(p->rows[i].name ? p->rows[i].name : p->rows[i].image, rows[i].name);
        assert_int_equal(p->rows[i].calls, rows[i].calls);
        assert_int_equal(p->rows[i].self, rows[i].self);
        assert_int_equal(p->rows[i].total, rows[i].total);
    }
}

static void expect_relatives(world *w, ntr_profile_relation relation, const char *name, const expected_row *rows,
                             size_t count) {
    ntr_profile p;
    assert_int_equal(ntr_profile_relatives(&p, relation, name, w->functions, w->tree, NULL), NTR_OK);
    assert_int_equal(p.instructions, 80);
    expect_rows(&p, rows, count);
    ntr_profile_release(&p);
}

/* main calls work, which calls itself and then the handler; main calls the handler. */
static const ntr_event recursion[] = {
    {.kind = NTR_EVENT_SYNC, .address = MAIN},
    {.kind = NTR_EVENT_SPAN,
     .end = NTR_SPAN_CALL,
     .address = MAIN,
     .target = WORK,
     .instructions = 10,
     .halfwords = 10},
    {.kind = NTR_EVENT_SPAN,
     .end = NTR_SPAN_CALL,
     .address = WORK,
     .target = WORK,
     .instructions = 10,
     .halfwords = 10},
    {.kind = NTR_EVENT_SPAN,
     .end = NTR_SPAN_CALL,
     .address = WORK,
     .target = HANDLER,
     .instructions = 10,
     .halfwords = 10},
    {.kind = NTR_EVENT_SPAN,
     .end = NTR_SPAN_RETURN,
     .address = HANDLER,
     .target = WORK + 20,
     .instructions = 10,
     .halfwords = 10},
    {.kind = NTR_EVENT_SPAN,
     .end = NTR_SPAN_RETURN,
     .address = WORK + 20,
     .target = WORK + 20,
     .instructions = 10,
     .halfwords = 10},
    {.kind = NTR_EVENT_SPAN,
     .end = NTR_SPAN_RETURN,
     .address = WORK + 20,
     .target = MAIN + 20,
     .instructions = 10,
     .halfwords = 10},
    {.kind = NTR_EVENT_SPAN,
     .end = NTR_SPAN_CALL,
     .address = MAIN + 20,
     .target = HANDLER,
     .instructions = 10,
     .halfwords = 10},
    {.kind = NTR_EVENT_SPAN,
     .end = NTR_SPAN_CUT,
     .address = HANDLER,
     .target = HANDLER + 20,
     .instructions = 10,
     .halfwords = 10},
};

static void callers_and_callees(void **state) {
    world *w = *state;
    assert_int_equal(ntr_calltree_feed(w->tree, recursion, sizeof recursion / sizeof *recursion), NTR_OK);
    ntr_calltree_finish(w->tree);
    /* the recursive call is inside of the total of the outer one, but is itself called by work */
    const expected_row of_work[] = {{"main", 1, 20, 50}, {"work", 1, 20, 30}};
    expect_relatives(w, NTR_PROFILE_CALLERS, "work", of_work, 2);
    const expected_row by_work[] = {{"work", 1, 20, 30}, {"handler", 1, 10, 10}};
    expect_relatives(w, NTR_PROFILE_CALLEES, "work", by_work, 2);
    const expected_row by_main[] = {{"work", 1, 20, 50}, {"handler", 1, 10, 10}};
    expect_relatives(w, NTR_PROFILE_CALLEES, "main", by_main, 2);
    expect_relatives(w, NTR_PROFILE_CALLERS, "main", NULL, 0);
    ntr_profile p;
    assert_int_equal(ntr_profile_relatives(&p, NTR_PROFILE_CALLERS, "nobody", w->functions, w->tree, NULL), NTR_END);
}

static void images_count_what_they_call_once(void **state) {
    world *w = *state;
    enum { LIBRARY = 0x70000000 };
    static const uint8_t nops[64] = {0x01, 0x00};
    const ntr_image_options library = {.size = sizeof library, .bias = LIBRARY, .name = "library"};
    assert_int_equal(ntr_program_add_raw(w->program, (ntr_bytes){nops, sizeof nops}, &library), NTR_OK);
    const ntr_event events[] = {
        span(0, MAIN, NTR_SPAN_CALL, LIBRARY),
        span(0, LIBRARY, NTR_SPAN_CALL, WORK),
        span(0, WORK, NTR_SPAN_CALL, HANDLER),
        span(0, HANDLER, NTR_SPAN_RETURN, WORK + 20),
        span(0, WORK, NTR_SPAN_CALL, LIBRARY),
        span(0, LIBRARY, NTR_SPAN_RETURN, WORK + 20),
        span(0, WORK + 20, NTR_SPAN_RETURN, LIBRARY + 20),
        span(0, LIBRARY + 20, NTR_SPAN_RETURN, MAIN + 20),
        span(0, MAIN + 20, NTR_SPAN_CUT, MAIN + 40),
    };
    assert_int_equal(ntr_calltree_feed(w->tree, events, sizeof events / sizeof *events), NTR_OK);
    ntr_calltree_finish(w->tree);
    ntr_profile p;
    assert_int_equal(ntr_profile_make(&p, NTR_PROFILE_IMAGE, w->program, w->source, w->functions, w->tree, NULL, NULL),
                     NTR_OK);
    const expected_row rows[] = {{elf.path, 2, 60, 90}, {"library", 2, 30, 70}};
    expect_rows(&p, rows, 2);
    ntr_profile_release(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(harts_by_turns, begin, end),
        cmocka_unit_test_setup_teardown(harts_in_one_function, begin, end),
        cmocka_unit_test_setup_teardown(contexts_have_stacks_of_their_own, begin, end),
        cmocka_unit_test_setup_teardown(a_gap_closes_the_frames_of_its_hart, begin, end),
        cmocka_unit_test_setup_teardown(a_trap_comes_and_goes, begin, end),
        cmocka_unit_test_setup_teardown(a_trap_ends_by_a_jump, begin, end),
        cmocka_unit_test_setup_teardown(callers_and_callees, begin, end),
        cmocka_unit_test_setup_teardown(images_count_what_they_call_once, begin, end),
    };
    return cmocka_run_group_tests_name("calltree", tests, NULL, NULL);
}
