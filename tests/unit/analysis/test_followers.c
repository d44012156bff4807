/* A timeline and interrupts that follow the stacks of a call tree are those that reconstruct the stacks themselves. */
#include "analysis/followers.h"

#include "../test.h"

#include <string.h>

enum { EVENTS = 4000, SOURCES = 2 };

static uint32_t roll(uint32_t *seed, uint32_t choices) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % choices;
}

/* Calls and returns that mostly fit, traps, gaps, and changes of context. */
static void make_events(ntr_event *events, uint32_t seed, bool timed) {
    static const uint8_t ends[] = {NTR_SPAN_CALL,        NTR_SPAN_CALL,      NTR_SPAN_RETURN,    NTR_SPAN_RETURN,
                                   NTR_SPAN_TAKEN,       NTR_SPAN_JUMP,      NTR_SPAN_NOT_TAKEN, NTR_SPAN_INTERRUPT,
                                   NTR_SPAN_TRAP_RETURN, NTR_SPAN_EXCEPTION, NTR_SPAN_CO_SWAP};
    uint64_t stack[SOURCES][64] = {{0}}, pc[SOURCES] = {0x1000, 0x9000};
    size_t depth[SOURCES] = {0};
    ntr_context context[SOURCES] = {NTR_CONTEXT_UNKNOWN, NTR_CONTEXT_UNKNOWN};

    for (size_t i = 0; i < EVENTS; i++) {
        const uint16_t src = (uint16_t)roll(&seed, SOURCES);
        ntr_event e = {.src = src, .message = i + 1, .offset = 3 * i};
        if (timed) {
            e.flags = NTR_EVENT_TIME;
            e.time = 10 * i + roll(&seed, 10);
        }
        const uint32_t kind = roll(&seed, 200);
        e.kind = kind == 0   ? NTR_EVENT_GAP
                 : kind == 1 ? NTR_EVENT_CONTEXT
                 : kind == 2 ? NTR_EVENT_STOP
                 : kind == 3 ? NTR_EVENT_SYNC
                             : NTR_EVENT_SPAN;
        if (kind == 1) context[src] = (ntr_context){.scontext = roll(&seed, 3), .has_scontext = true};
        e.context = context[src];
        if (kind == 2 || kind == 3) e.address = pc[src];
        if (e.kind == NTR_EVENT_SPAN) {
            e.end = ends[roll(&seed, sizeof ends)];
            e.address = pc[src];
            e.instructions = 1 + roll(&seed, 9);
            e.halfwords = 2 * e.instructions;
            e.last = e.address + 4 * (uint64_t)(e.instructions - 1);
            e.target = e.address + 4 * (uint64_t)e.instructions;
            if (e.end == NTR_SPAN_CALL || e.end == NTR_SPAN_INTERRUPT || e.end == NTR_SPAN_EXCEPTION) {
                stack[src][depth[src]++ % 64] = e.target;
                e.target = 0x100 * (1 + roll(&seed, 64));
            } else if ((e.end == NTR_SPAN_RETURN || e.end == NTR_SPAN_TRAP_RETURN) && depth[src]) {
                e.target = stack[src][--depth[src] % 64];
            }
            pc[src] = e.target;
        }
        events[i] = e;
    }
}

typedef struct kit {
    ntr_program *program;
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_calltree *tree;
    ntr_timeline *timeline;
    ntr_interrupts *interrupts;
} kit;

static void open_kit(kit *k) {
    ntr_program_new(NULL, &k->program);
    ntr_debug_info_new(k->program, NULL, &k->debug);
    ntr_functions_new(k->debug, NULL, &k->functions);
    ntr_calltree_new(k->functions, NULL, &k->tree);
    ntr_timeline_new(k->functions, 500, NULL, &k->timeline);
    ntr_interrupts_new(k->functions, NULL, &k->interrupts);
    assert_true(k->tree && k->timeline && k->interrupts);
}

static void close_kit(kit *k) {
    ntr_timeline_free(k->timeline);
    ntr_interrupts_free(k->interrupts);
    ntr_calltree_free(k->tree);
    ntr_functions_free(k->functions);
    ntr_debug_info_free(k->debug);
    ntr_program_free(k->program);
}

static void feed_alone(kit *k, const ntr_event *events) {
    assert_int_equal(ntr_calltree_feed(k->tree, events, EVENTS), NTR_OK);
    assert_int_equal(ntr_timeline_feed(k->timeline, events, EVENTS), NTR_OK);
    assert_int_equal(ntr_interrupts_feed(k->interrupts, events, EVENTS), NTR_OK);
}

static void feed_followed(kit *k, const ntr_event *events) {
    const ntr_follower timeline = ntr_timeline_follower(k->timeline),
                       interrupts = ntr_interrupts_follower(k->interrupts);
    assert_true(ntr_calltree_follow(k->tree, &timeline) && ntr_calltree_follow(k->tree, &interrupts));
    assert_false(ntr_calltree_follow(k->tree, &interrupts));
    for (size_t at = 0, some; at < EVENTS; at += some) {
        some = at % 7 < EVENTS - at ? at % 7 : EVENTS - at;
        some = some ? some : 1;
        assert_int_equal(ntr_calltree_feed(k->tree, events + at, some), NTR_OK);
    }
    ntr_calltree_end_following(k->tree, true);
}

static void assert_equal(kit *a, kit *b) {
    size_t many, count;
    ntr_calltree_finish(a->tree);
    ntr_calltree_finish(b->tree);
    const ntr_call_node *node = ntr_calltree_nodes(a->tree, &many), *other_node = ntr_calltree_nodes(b->tree, &count);
    assert_int_equal(many, count);
    for (size_t i = 0; i < count; i++) {
        const ntr_call_node *p = &node[i], *q = &other_node[i];
        assert_true(p->parent == q->parent && p->child == q->child && p->sibling == q->sibling &&
                    p->function == q->function);
        assert_true(p->depth == q->depth && p->kind == q->kind && p->site == q->site && p->calls == q->calls);
        assert_true(p->instructions == q->instructions && p->ticks == q->ticks);
        assert_true(p->total_instructions == q->total_instructions && p->total_ticks == q->total_ticks);
    }
    assert_int_equal(ntr_timeline_finish(a->timeline), NTR_OK);
    assert_int_equal(ntr_timeline_finish(b->timeline), NTR_OK);
    const ntr_timeslice *slice = ntr_timeline_slices(a->timeline, &many),
                        *other = ntr_timeline_slices(b->timeline, &count);
    assert_int_equal(many, count);
    assert_true(count > 10);
    for (size_t i = 0; i < count; i++) {
        const ntr_timeslice *p = &slice[i], *q = &other[i];
        assert_true(p->begin == q->begin && p->end == q->end && p->value == q->value && p->context == q->context);
        assert_true(p->order == q->order && p->src == q->src && p->kind == q->kind && p->frame == q->frame);
    }
    assert_int_equal(ntr_interrupts_finish(a->interrupts), NTR_OK);
    assert_int_equal(ntr_interrupts_finish(b->interrupts), NTR_OK);
    const ntr_interrupt *const *trap = ntr_interrupts_list(a->interrupts, &many);
    const ntr_interrupt *const *other_trap = ntr_interrupts_list(b->interrupts, &count);
    assert_int_equal(many, count);
    assert_true(count > 10);
    for (size_t i = 0; i < count; i++) {
        const ntr_interrupt *p = trap[i], *q = other_trap[i];
        assert_true(p->address == q->address && p->function == q->function && p->handler == q->handler &&
                    p->src == q->src);
        assert_true(p->end == q->end && p->count == q->count && p->nested == q->nested &&
                    p->unfinished == q->unfinished);
        assert_memory_equal(&p->instructions, &q->instructions, sizeof p->instructions);
        assert_memory_equal(&p->ticks, &q->ticks, sizeof p->ticks);
        assert_memory_equal(&p->before, &q->before, sizeof p->before);
        assert_memory_equal(&p->after, &q->after, sizeof p->after);
    }
}

static void same_as_alone(void **state) {
    static ntr_event events[EVENTS];
    (void)state;
    for (uint32_t seed = 0; seed < 40; seed++) {
        kit alone, followed;
        make_events(events, seed, seed % 2 != 0);
        open_kit(&alone);
        open_kit(&followed);
        feed_alone(&alone, events);
        feed_followed(&followed, events);
        assert_equal(&alone, &followed);
        close_kit(&alone);
        close_kit(&followed);
    }
}

/* A tree with events has no place for a follower. */
static void too_late(void **state) {
    static ntr_event events[EVENTS];
    kit k;
    (void)state;
    make_events(events, 1, false);
    open_kit(&k);
    assert_true(ntr_calltree_is_unused(k.tree));
    assert_int_equal(ntr_calltree_feed(k.tree, events, 1), NTR_OK);
    const ntr_follower timeline = ntr_timeline_follower(k.timeline);
    assert_false(ntr_calltree_follow(k.tree, &timeline));
    close_kit(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_alone), cmocka_unit_test(too_late)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
