/* The programs and streams of N-Trace 1.0 section 15, byte by byte. */
#include "scene.h"

static void program_a(scene *s) {
    scene_start(s, NULL);
    code(s, 0x100, C_ADD, branch(0x200 - 0x102), ADD, branch(0x300 - 0x10a), C_ADD, ADD, C_EBREAK);
    code(s, 0x200, C_ADD, C_EBREAK);
    code(s, 0x300, ADD, C_EBREAK);
}

/* The examples of NT-235 to NT-238, NT-245 and NT-248. NT-155, NT-239, NT-354 */
static void program_a_runs_the_same_in_both_modes(void **state) {
    (void)state;
    static const struct {
        const char *btm, *htm, *events;
    } runs[] = {
        {"raw 24 0D 00 0B 0C 0F 84 00 07", "raw 24 0D 00 0B 84 40 11 0F",
         "sync 3 100\nspan 100+2/3 taken 200\nspan 200+1/1 cut 202\nstop 0 202\n"},
        {"raw 24 0D 00 0B 0C 1F 84 00 0B", "raw 24 0D 00 0B 84 40 25 17",
         "sync 3 100\nspan 100+2/3 not-taken 106\nspan 106+2/4 taken 300\nspan 300+1/2 cut 304\nstop 0 304\n"},
        {"raw 24 0D 00 0B 84 00 2B", "raw 24 0D 00 0B 84 40 29 13",
         "sync 3 100\nspan 100+2/3 not-taken 106\nspan 106+2/4 not-taken 10e\nspan 10e+2/3 cut 114\nstop 0 114\n"},
    };
    scene s;
    program_a(&s);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        decodes_to(&s, runs[i].btm, runs[i].events);
        decodes_to(&s, runs[i].htm, runs[i].events);
    }
    scene_end(&s);
}

/* NT-240 to NT-243: I-CNT of a trap, and one that ends inside an instruction. */
static void program_a_traps_only_between_instructions(void **state) {
    (void)state;
    scene s;
    program_a(&s);
    decodes_to(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nIndirectBranch BTYPE=2 ICNT=1 UADDR=0x180\n",
               "sync 3 100\nspan 100+1/1 exception 200\n");
    decodes_to(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nIndirectBranch BTYPE=3 ICNT=0 UADDR=0x180\n",
               "sync 3 100\nspan 100+0/0 interrupt 200\n");
    decodes_to(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nIndirectBranch BTYPE=1 ICNT=5 UADDR=0x180\n",
               "sync 3 100\nspan 100+2/3 not-taken 106\nspan 106+1/2 trap 200\n");
    decodes_to(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nIndirectBranch BTYPE=2 ICNT=2 UADDR=0x180\n",
               "sync 3 100\nspan 100+1/1 cut 102\ngap ICNT_SPLITS #2-#3 @4-@8 102 to ?\n");
    scene_end(&s);
}

/* The examples of NT-246 and NT-247. NT-234 */
static void program_b_fills_icnt(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, C_ADD, branch(0x200 - 0x102), ADD, ADD, ADD, ADD, ADD, C_ADD, C_EBREAK);
    decodes_to(&s, "raw 24 0D 00 0B 6C 40 0B 84 40 15 0B",
               "sync 3 100\nspan 100+2/3 not-taken 106\nspan 106+6/11 cut 11c\nstop 0 11c\n");
    decodes_to(
        &s, "raw 24 0D 00 0B 24 50 09 24 0B 84 00 17",
        "sync 3 100\nspan 100+2/3 not-taken 106\nspan 106+3/6 cut 112\nsync 4 112\nspan 112+3/5 cut 11c\nstop 0 11c\n");
    scene_end(&s);
}

/* The example of NT-344. NT-341, NT-342, NT-343, NT-345 */
static void custom_jumps_are_sent_like_indirect_ones(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, CUSTOM_0, C_ADD, C_EBREAK);
    code(&s, 0x200, C_ADD, C_EBREAK);
    decodes_to(&s, "raw 24 0D 00 0B 84 00 17", "sync 3 100\nspan 100+3/5 cut 10a\nstop 0 10a\n");
    decodes_to(&s, "raw 24 0D 00 0B 10 41 00 1B 84 00 07",
               "sync 3 100\nspan 100+2/4 indirect-jump 200\nspan 200+1/1 cut 202\nstop 0 202\n");
    scene_end(&s);
    /* reserved encodings of OP, SYSTEM, BRANCH (2 and 3 are Zibi) and of a reserved opcode; not MUL, LW */
    static const struct {
        uint32_t word;
        bool may_jump;
    } words[] = {{0xfe007033, true}, {0xfe004073, true},  {0x0eb52f63, true}, {0x0eb53f63, true},
                 {0x0000006b, true}, {0x02b50533, false}, {0x00052503, false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        scene_start(&s, NULL);
        code(&s, 0x100, ADD, words[i].word, C_ADD, C_EBREAK);
        code(&s, 0x200, C_ADD, C_EBREAK);
        decodes_to(&s, "raw 24 0D 00 0B 10 41 00 1B 84 00 07",
                   words[i].may_jump ? "sync 3 100\nspan 100+2/4 indirect-jump 200\nspan 200+1/1 cut 202\nstop 0 202\n"
                                     : "sync 3 100\nstop 0 ?\ngap NO_LANDING #2-#4 @4-@11 100 to ?\n");
        scene_end(&s);
    }
}

#define LOOP_OF_C "span 200+2/4 not-taken 208\nspan 208+2/4 indirect-jump 200\n"

/* NT-201 and NT-356. */
static void program_c_repeats(void **state) {
    (void)state;
    static const char *const streams[] = {
        "raw 24 05 00 0B 10 61 00 1B 70 81 01 0B 70 81 01 0B 70 81 01 0B 70 81 01 0B 70 81 00 19 0F 84 00 13",
        "raw 24 05 00 0B 10 61 00 1B 70 81 01 0B 78 0F 70 81 00 19 0F 84 00 13",
        "raw 24 05 00 0B 10 61 00 1B 10 81 03 10 81 03 10 81 03 10 81 03 0C 13 10 41 00 1B 84 00 13",
    };
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, ADD, JR_A5);
    code(&s, 0x200, ADD, branch(0x210 - 0x204), ADD, JR_A5, ADD, JR_A5);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
        decodes_to(&s, streams[i],
                   "sync 1 100\nspan 100+3/6 indirect-jump 200\n" LOOP_OF_C LOOP_OF_C LOOP_OF_C LOOP_OF_C
                   "span 200+2/4 taken 210\nspan 210+2/4 indirect-jump 100\nspan 100+2/4 cut 108\nstop 0 108\n");
    scene_end(&s);
}

/* NT-357: returns that are inferred. */
static void program_d_returns(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, jal(1, 0x200 - 0x104), C_ADD, JALR_A5, ADD);
    code(&s, 0x200, ADD, c_beqz(6), ADD, C_RET);
    code(&s, 0x300, C_ADD, jal(1, 0x200 - 0x302), RET);
    decodes_to(
        &s, "raw 24 05 00 0B 70 A1 11 0B 10 31 10 13 70 71 0D 0F 10 21 10 13 84 00 0B",
        "sync 1 100\nspan 100+2/4 call 200\nspan 200+2/3 not-taken 206\nspan 206+2/3 return 108\n"
        "span 108+2/3 indirect-call 300\nspan 300+2/3 call 200\nspan 200+2/3 taken 20a\nspan 20a+1/1 return 306\n"
        "span 306+1/2 return 10e\nspan 10e+1/2 cut 112\nstop 0 112\n");
    const char *implicit =
        "sync 1 100\nspan 100+2/4 call 200\nspan 200+2/3 not-taken 206\nspan 206+2/3 return 108 implicit\n"
        "span 108+2/3 indirect-call 300\nspan 300+2/3 call 200\nspan 200+2/3 taken 20a\n"
        "span 20a+1/1 return 306 implicit\nspan 306+1/2 return 10e implicit\nspan 10e+1/2 cut 112\nstop 0 112\n";
    for (uint8_t mode = NTR_RETURN_COUNT; mode <= NTR_RETURN_FULL; mode++) {
        s.config.params.implicit_return = mode;
        decodes_to(&s, "raw 24 05 00 0B 70 D1 00 11 0B 84 40 2D 0F", implicit);
        decodes_to(&s, "raw 24 05 00 0B 10 D1 00 13 0C 1B 84 00 17", implicit);
    }
    scene_end(&s);
}

/* NT-184 and NT-222. */
static void program_e_fills_history(void **state) {
    (void)state;
    static const char *const streams[] = {
        "raw 24 05 00 0B\nraw 6C C4 FC FC FC FC FF 6C C4 FC FC FC FC FF 6C C4 FC FC FC FC FF 6C C4 FC FC FC FC FF\n"
        "raw 6C C4 FC FC FC FC FF 70 20 9D 00 19 0B 84 00 13",
        "raw 24 05 00 0B 6C C8 FC FC FC FC FD 17 70 20 9D 00 19 0B 84 00 13",
    };
    static char events[SCENE_TEXT];
    size_t at = (size_t)snprintf(events, sizeof events, "sync 1 100\n");
    for (unsigned i = 0; i < 155; i++)
        at += (size_t)snprintf(events + at, sizeof events - at, "span 100+2/4 taken 100\n");
    snprintf(events + at, sizeof events - at,
             "span 100+2/4 not-taken 108\nspan 108+1/2 indirect-jump 200\nspan 200+2/4 cut 208\nstop 0 208\n");
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    code(&s, 0x200, ADD, ADD);
    for (size_t i = 0; i < 2; i++) decodes_to(&s, streams[i], events);
    scene_end(&s);
}

static void cutting_input_and_output_changes_nothing(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, ADD, JR_A5);
    code(&s, 0x200, ADD, branch(0x210 - 0x204), ADD, JR_A5, ADD, JR_A5);
    for (s.chunk = 1; s.chunk < 9; s.chunk++)
        for (s.capacity = 1; s.capacity < 5; s.capacity++)
            decodes_to(&s, "raw 24 05 00 0B 10 61 00 1B 70 81 01 0B 78 0F 70 81 00 19 0F 84 00 13",
                       "sync 1 100\nspan 100+3/6 indirect-jump 200\n" LOOP_OF_C LOOP_OF_C LOOP_OF_C LOOP_OF_C
                       "span 200+2/4 taken 210\nspan 210+2/4 indirect-jump 100\nspan 100+2/4 cut 108\nstop 0 108\n");
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(program_a_runs_the_same_in_both_modes),
        TEST(program_a_traps_only_between_instructions),
        TEST(program_b_fills_icnt),
        TEST(custom_jumps_are_sent_like_indirect_ones),
        TEST(program_c_repeats),
        TEST(program_d_returns),
        TEST(program_e_fills_history),
        TEST(cutting_input_and_output_changes_nothing),
    };
    return cmocka_run_group_tests_name("vectors", tests, NULL, NULL);
}
