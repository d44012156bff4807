/* Implicit returns (section 11.2; OQ-17, OQ-18) and sequential jumps (section 11.1; OQ-28). */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

static void caller_and_callee(scene *s, const char *dialect) {
    scene_start(s, dialect);
    code(s, 0x100, ADD, jal(1, 0x200 - 0x104), ADD, jal(1, 0x200 - 0x10c), ADD);
    code(s, 0x200, ADD, RET);
    s->config.params.implicit_return = NTR_RETURN_FULL;
}

static void counts_beyond_a_return_make_it_implicit(void **state) {
    (void)state;
    scene s;
    caller_and_callee(&s, NULL);
    decodes_to(
        &s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=10\n",
        "sync 3 100\nspan 100+2/4 call 200\nspan 200+2/4 return 108 implicit\nspan 108+1/2 cut 10c\nstop 4 10c\n");
    scene_end(&s);
}

static void the_message_shows_what_a_last_return_was(void **state) {
    (void)state;
    scene s;
    caller_and_callee(&s, NULL);
    decodes_to(&s, START "IndirectBranch BTYPE=0 ICNT=8 UADDR=0x200\n",
               "sync 3 100\nspan 100+2/4 call 200\nspan 200+2/4 return 500\n");
    decodes_to(&s, START "IndirectBranch BTYPE=3 ICNT=8 UADDR=0x200\n",
               "sync 3 100\nspan 100+2/4 call 200\nspan 200+2/4 return 108 implicit\nspan 108+0/0 interrupt 500\n");
    decodes_to(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=8\n",
               "sync 3 100\nspan 100+2/4 call 200\nspan 200+2/4 return 108 implicit\nstop 4 108\n");
    decodes_to(&s, START "ProgTraceSync SYNC=6 ICNT=8 FADDR=0x84\n",
               "sync 3 100\nspan 100+2/4 call 200\nspan 200+2/4 return 108 implicit\nsync 6 108\n");
    decodes_to(&s, START "IndirectBranchSync SYNC=2 BTYPE=0 ICNT=8 FADDR=0x100\n",
               "sync 3 100\nspan 100+2/4 call 200\nspan 200+2/4 return 200\nsync 2 200\n");
    scene_end(&s);
}

static void explicit_returns_pop_too(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, ADD, jal(1, 0x200 - 0x104), ADD, ADD);
    code(&s, 0x200, ADD, jal(1, 0x300 - 0x204), RET);
    code(&s, 0x300, ADD, RET);
    code(&s, 0x400, ADD, RET);
    /* The inner return goes elsewhere; its target matches the outer call. */
    decodes_to(&s, START "IndirectBranch BTYPE=0 ICNT=12 UADDR=0x280\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=6\n",
               "sync 3 100\nspan 100+2/4 call 200\nspan 200+2/4 call 300\nspan 300+2/4 return 400\n"
               "span 400+2/4 return 108 implicit\nspan 108+1/2 cut 10c\nstop 4 10c\n");
    scene_end(&s);
}

static void syncs_clear_the_stack(void **state) {
    (void)state;
    scene s;
    caller_and_callee(&s, NULL);
    decodes_to(&s, START "ProgTraceSync SYNC=6 ICNT=6 FADDR=0x102\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=4\n",
               "sync 3 100\nspan 100+2/4 call 200\nspan 200+1/2 cut 204\nsync 6 204\n"
               "gap RETURN_STACK #3-#3 @9-@9 204 to ?\nstop 4 ?\n");
    scene_end(&s);
    /* A call that ends in the synchronizing message: its return address is cleared, too (OQ-17). */
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, JALR_A5, ADD, ADD);
    code(&s, 0x200, ADD, RET);
    decodes_to(
        &s,
        START "IndirectBranchSync SYNC=2 BTYPE=0 ICNT=2 FADDR=0x100\nIndirectBranch BTYPE=0 ICNT=4 UADDR=0x182\n"
              "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n",
        "sync 3 100\nspan 100+1/2 indirect-call 200\nsync 2 200\nspan 200+2/4 return 104\nspan 104+1/2 cut 108\nstop 4 108\n");
    scene_end(&s);
}

static void traps_leave_the_stack_alone(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, jal(1, 0x100), ADD);
    code(&s, 0x200, ADD, RET);
    code(&s, 0x300, ADD, MRET);
    decodes_to(&s,
               START "IndirectBranch BTYPE=3 ICNT=4 UADDR=0x100\nIndirectBranch BTYPE=0 ICNT=4 UADDR=0x82\n"
                     "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=4\n",
               "sync 3 100\nspan 100+1/2 call 200\nspan 200+1/2 interrupt 300\nspan 300+2/4 trap-return 204\n"
               "span 204+1/2 return 104 implicit\nspan 104+1/2 cut 108\nstop 4 108\n");
    scene_end(&s);
}

static void deep_stacks_drop_the_oldest(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_COUNT;
    s.config.params.return_stack = 2;
    code(&s, 0x100, jal(1, 0x100), ADD);
    code(&s, 0x200, jal(1, 0x100), RET);
    code(&s, 0x300, jal(1, 0x100), RET);
    code(&s, 0x400, RET);
    decodes_to(
        &s, START "IndirectBranch BTYPE=0 ICNT=12 UADDR=0x2\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n",
        "sync 3 100\nspan 100+1/2 call 200\nspan 200+1/2 call 300\nspan 300+1/2 call 400\nspan 400+1/2 return 304 implicit\n"
        "span 304+1/2 return 204 implicit\nspan 204+1/2 return 104\nspan 104+1/2 cut 108\nstop 4 108\n");
    scene_end(&s);
}

static void co_routine_swaps_pop_then_push(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, jal(5, 0x100), ADD); /* link in t0 */
    code(&s, 0x200, CO_SWAP, ADD);       /* goes to 0x104, links 0x204 */
    code(&s, 0x104, RET);
    decodes_to(
        &s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=8\n",
        "sync 3 100\nspan 100+1/2 call 200\nspan 200+1/2 co-swap 104 implicit\nspan 104+1/2 return 204 implicit\n"
        "span 204+1/2 cut 208\nstop 4 208\n");
    scene_end(&s);
    /* P550: a call that is never inferred. */
    scene_start(&s, "p550");
    s.config.params.src_bits = 0;
    code(&s, 0x100, jal(5, 0x100), ADD);
    code(&s, 0x200, CO_SWAP, ADD);
    code(&s, 0x104, RET);
    decodes_to(
        &s, START "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x2\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=4\n",
        "sync 3 100\nspan 100+1/2 call 200\nspan 200+1/2 co-swap 104\nspan 104+1/2 return 204 implicit\nspan 204+1/2 cut 208\nstop 4 208\n");
    scene_end(&s);
}

/* ---- sequential jumps */

static void sequential(scene *s, bool on) {
    scene_start(s, NULL);
    s->config.params.sequential_jump = on;
    code(s, 0x100, LUI_A5(0x1000), JR_A5_PLUS(0x10), ADD);
    code(s, 0x1010, ADD, ADD);
}

/* NT-298, NT-303 */
static void pairs_make_their_own_target(void **state) {
    (void)state;
    scene s;
    sequential(&s, true);
    decodes_to(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=6\n",
               "sync 3 100\nspan 100+2/4 indirect-jump 1010 implicit\nspan 1010+1/2 cut 1014\nstop 4 1014\n");
    scene_end(&s);
    sequential(&s, false);
    decodes_to(&s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=6\n",
               "sync 3 100\nspan 100+1/2 cut 104\ngap UNEXPECTED_INDIRECT #2-#2 @4-@4 104 to ?\nstop 4 ?\n");
    scene_end(&s);
}

/* A message between LUI and the jump: the jump has a message of its own (OQ-28). */
static void pairs_split_by_a_message_are_reported(void **state) {
    (void)state;
    scene s;
    sequential(&s, true);
    decodes_to(&s, START "ResourceFull RCODE=0 RDATA0=2\nIndirectBranch BTYPE=0 ICNT=2 UADDR=0x888\n",
               "sync 3 100\nspan 100+2/4 indirect-jump 1010\n");
    decodes_to(&s, START "ProgTraceSync SYNC=4 ICNT=2 FADDR=0x82\nIndirectBranch BTYPE=0 ICNT=2 UADDR=0x88a\n",
               "sync 3 100\nspan 100+1/2 cut 104\nsync 4 104\nspan 104+1/2 indirect-jump 1010\n");
    scene_end(&s);
}

static void sequential_calls_push(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.sequential_jump = true;
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, LUI_A5(0x1000), JALR_A5, ADD);
    code(&s, 0x1000, ADD, RET);
    decodes_to(
        &s, START "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=10\n",
        "sync 3 100\nspan 100+2/4 indirect-call 1000 implicit\nspan 1000+2/4 return 108 implicit\nspan 108+1/2 cut 10c\nstop 4 10c\n");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(counts_beyond_a_return_make_it_implicit),
        TEST(the_message_shows_what_a_last_return_was),
        TEST(explicit_returns_pop_too),
        TEST(syncs_clear_the_stack),
        TEST(traps_leave_the_stack_alone),
        TEST(deep_stacks_drop_the_oldest),
        TEST(co_routine_swaps_pop_then_push),
        TEST(pairs_make_their_own_target),
        TEST(pairs_split_by_a_message_are_reported),
        TEST(sequential_calls_push),
    };
    return cmocka_run_group_tests_name("returns", tests, NULL, NULL);
}
