/* Message memos: totals and later decoding are the same as without them. */
#include "scene.h"

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"

/* Returns the events of the second part, after the first part was counted or read. */
static void events_after(const scene *s, const stream *in, size_t cut, bool counted, char *out) {
    ntr_event events[64];
    ntr_counts counts = {0};
    size_t count, at = 0;
    ntr_decoder *d;
    ntr_status status = ntr_decoder_new(&s->config, &d);
    assert_int_equal(ntr_decoder_feed(d, in->bytes, cut, false), NTR_OK);
    if (counted)
        status = ntr_decoder_count(d, &counts);
    else
        do status = ntr_decoder_read(d, events, 64, &count);
        while (status == NTR_OK);
    assert_int_equal(status, NTR_NEED_MORE);
    assert_int_equal(ntr_decoder_feed(d, in->bytes + cut, in->size - cut, true), NTR_OK);
    *out = 0;
    do {
        status = ntr_decoder_read(d, events, 64, &count);
        for (size_t i = 0; i < count; i++) at += event_text(out + at, SCENE_TEXT - at, &events[i]);
    } while (status == NTR_OK);
    assert_int_equal(status, NTR_END);
    ntr_decoder_free(d);
}

/* The first messages are counted, the rest is read. */
static void is_as_if_walked(const scene *s, const char *messages) {
    static char walked[SCENE_TEXT], known[SCENE_TEXT];
    stream in = {.size = 0};
    assemble(&in, &s->config.params, messages);
    const char *differs = tallies_differ(&s->config, (ntr_bytes){in.bytes, in.size});
    if (differs) fail_msg("%s of\n%s", differs, messages);
    for (size_t cut = 0; cut < in.size; cut++) {
        events_after(s, &in, cut, false, walked);
        events_after(s, &in, cut, true, known);
        if (strcmp(walked, known)) fail_msg("behind byte %zu of\n%s%s\nand not\n%s", cut, messages, known, walked);
    }
}

/* The same message after different history: its I-CNT leads along another path. */
static void halfwords_ahead_matter(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
    is_as_if_walked(&s, START
                    "ResourceFull RCODE=1 RDATA0=0x3\nResourceFull RCODE=1 RDATA0=0x7\n"
                    "IndirectBranchHist BTYPE=0 ICNT=18 UADDR=0 HIST=0x2\n" START "ResourceFull RCODE=1 RDATA0=0x3\n"
                    "IndirectBranchHist BTYPE=0 ICNT=18 UADDR=0 HIST=0x2\n" START "ResourceFull RCODE=1 RDATA0=0x7\n");
    scene_end(&s);
}

/* A message that does not request a walk has no memo: a reserved TCODE is counted each time. */
static void reserved_messages_count(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4));
    is_as_if_walked(&s, START
                    "DirectBranch ICNT=4\nraw 04 07\nDirectBranch ICNT=4\nraw 04 07\nDirectBranch ICNT=4\nraw 04 07\n"
                    "raw E0 03\nDirectBranch ICNT=4\nraw E0 03\n");
    scene_end(&s);
}

/* The same message with different reference addresses. */
static void the_reference_matters(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, branch(0x100));
    code(&s, 0x200, JR_A5);
    code(&s, 0x300, branch(-0x100));
#define JUMP "ResourceFull RCODE=1 RDATA0=0x3\nIndirectBranchHist BTYPE=0 ICNT=4 UADDR=0 HIST=0x1\n"
    is_as_if_walked(&s, START JUMP JUMP JUMP "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x180\n" JUMP JUMP JUMP JUMP JUMP);
    scene_end(&s);
}

/* The same return, but the caller's caller differs. */
static void all_callers_matter(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, jal(1, 0x100), ADD, branch(8), jal(1, 0xf4), branch(-16), jal(0, -0x14));
    code(&s, 0x200, jal(1, 0x100), RET);
    code(&s, 0x300, branch(8), ADD, RET);
#define ROUND "ResourceFull RCODE=1 RDATA0=0x3\nResourceFull RCODE=1 RDATA0=0x2\n"
    is_as_if_walked(&s, START ROUND ROUND ROUND ROUND ROUND "ResourceFull RCODE=1 RDATA0=0x3\n");
    scene_end(&s);
}

/* The message pushes a return address: a full stack drops its oldest entry, a stack that is not full does not. */
static void room_on_the_stack_matters(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    s.config.params.return_stack = 2;
    code(&s, 0x100, branch(16), jal(1, 0xfc), branch(-8), JR_A5, jal(0, 0xf0));
    code(&s, 0x200, jal(1, 0x100), branch(8), branch(-0x108), RET);
    code(&s, 0x300, branch(8), jal(1, 0xfc), branch(8), RET);
    code(&s, 0x400, ADD, RET);
#define SHALLOW "ResourceFull RCODE=1 RDATA0=0x6\nResourceFull RCODE=1 RDATA0=0x2\nResourceFull RCODE=1 RDATA0=0x5\n"
#define DEEP    "ResourceFull RCODE=1 RDATA0=0x4\nResourceFull RCODE=1 RDATA0=0x2\nResourceFull RCODE=1 RDATA0=0x7\n"
    is_as_if_walked(&s, START SHALLOW SHALLOW SHALLOW DEEP START SHALLOW);
    scene_end(&s);
}

/* The same message after ResourceFull with I-CNT, which its own I-CNT continues. */
static void earlier_icnt_matters(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4), JR_A5);
#define LAST "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0 HIST=0x2\n"
    is_as_if_walked(&s, START LAST START LAST START
                    "ResourceFull RCODE=0 RDATA0=4\n" LAST START
                    "ResourceFull RCODE=0 RDATA0=4\nResourceFull RCODE=1 RDATA0=0x3\n" LAST START
                    "ResourceFull RCODE=0 RDATA0=8\nResourceFull RCODE=1 RDATA0=0x3\n"
                    "ResourceFull RCODE=1 RDATA0=0x3\n" LAST);
#define AFTER_ICNT "ResourceFull RCODE=0 RDATA0=4\nIndirectBranchHist BTYPE=0 ICNT=6 UADDR=0 HIST=0x6\n"
    is_as_if_walked(&s, START AFTER_ICNT AFTER_ICNT AFTER_ICNT AFTER_ICNT);
    scene_end(&s);
}

/* A recursion deeper than the return stack drops entries; the returns to them are reported by messages. */
static void dropped_entries_matter(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    s.config.params.return_stack = 2;
    code(&s, 0x100, jal(1, 0x100), JR_A5);
    code(&s, 0x200, branch(8), jal(1, -4), RET);
#define HOME    "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x2 HIST=0x1\n"
#define CALLS_3 "IndirectBranchHist BTYPE=0 ICNT=18 UADDR=0x2 HIST=0x9\n" HOME
#define CALLS_2 "IndirectBranchHist BTYPE=0 ICNT=16 UADDR=0 HIST=0x5\n"
#define CALLS_5                                                                                                        \
    "ResourceFull RCODE=1 RDATA0=0x4\nResourceFull RCODE=1 RDATA0=0x4\n"                                               \
    "IndirectBranchHist BTYPE=0 ICNT=26 UADDR=0x184 HIST=0x3\nIndirectBranchHist BTYPE=0 ICNT=2 UADDR=0 HIST=0x1\n"    \
    "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x186 HIST=0x1\n" HOME
    is_as_if_walked(&s, START CALLS_3 CALLS_3 CALLS_5 CALLS_5 CALLS_2 CALLS_2 CALLS_5);
    is_as_if_walked(&s, START "ResourceFull RCODE=1 RDATA0=0x4\n" START "ResourceFull RCODE=1 RDATA0=0x2\n"
                              "ResourceFull RCODE=1 RDATA0=0x2\nResourceFull RCODE=1 RDATA0=0x2\n" START CALLS_3);
    scene_end(&s);
}

/* A message with more calls than the return stack holds leaves only the last ones on it. */
static void calls_of_a_message_are_dropped(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    s.config.params.return_stack = 2;
    code(&s, 0x100, jal(1, 0x100), branch(-4));
    code(&s, 0x200, jal(1, 0x100), RET);
    code(&s, 0x300, jal(1, 0x100), RET);
    code(&s, 0x400, jal(1, 0x100), RET);
    code(&s, 0x500, branch(8), ADD, RET);
#define CALLS_4 START "ResourceFull RCODE=1 RDATA0=0x3\n"
    is_as_if_walked(&s, CALLS_4 CALLS_4 CALLS_4 CALLS_4 "ResourceFull RCODE=1 RDATA0=0x3\n");
    scene_end(&s);
}

/* A return on an empty stack has its address reported; with an entry on the stack it removes that entry. The return
 * stack is part of the key, so the call is made from many places. */
static void an_empty_stack_matters(void **state) {
    (void)state;
    for (uint64_t call = 0x1000; call < 0x1000 + 8 * 1000; call += 8) {
        char messages[512];
        stream in = {.size = 0};
        scene s;
        scene_start(&s, NULL);
        s.config.params.implicit_return = NTR_RETURN_PARTIAL;
        code(&s, 0x200, RET);
        code(&s, call, JALR_A5, JR_A5);
#define RETURN "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0 HIST=0x1\n"
        snprintf(messages, sizeof messages,
                 "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x100\n" RETURN RETURN
                 "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x%" PRIx64 "\n"
                 "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x%" PRIx64 " HIST=0x1\n" RETURN
                 "IndirectBranchHist BTYPE=0 ICNT=4 UADDR=0 HIST=0x1\n",
                 call / 2, call / 2 ^ 0x100);
        assemble(&in, &s.config.params, messages);
        const char *differs = tallies_differ(&s.config, (ntr_bytes){in.bytes, in.size});
        if (differs) fail_msg("%s of\n%s", differs, messages);
        scene_end(&s);
    }
}

/* RepeatBranch after a message that a memo handled, or after a message that followed it. */
static void repeat_branch_knows_what_came_before(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, branch(8), JR_A5, branch(-8));
#define BACK  "ResourceFull RCODE=1 RDATA0=0x7\n"
#define AGAIN "IndirectBranchHist BTYPE=0 ICNT=4 UADDR=0 HIST=0x2\n"
    is_as_if_walked(&s, START BACK BACK BACK "IndirectBranchHist BTYPE=0 ICNT=16 UADDR=0 HIST=0x2\n" BACK
                                             "RepeatBranch BCNT=3\n");
    is_as_if_walked(&s, START AGAIN AGAIN AGAIN "RepeatBranch BCNT=3\n" AGAIN BACK START AGAIN "RepeatBranch BCNT=2\n");
    code(&s, 0x400, ADD, branch(-4));
#define LOOP "DirectBranch ICNT=4\n"
    is_as_if_walked(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x200\n" LOOP LOOP LOOP "RepeatBranch BCNT=7\n" LOOP LOOP);
    is_as_if_walked(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x200\n" LOOP LOOP LOOP "raw 02\nRepeatBranch BCNT=7\n");
    scene_end(&s);
}

/* An event of each repetition is reported each time: here the note that ECALL retired. */
static void notes_of_repetitions_come_each_time(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, ECALL);
#define TRAP "IndirectBranch BTYPE=2 ICNT=4 UADDR=0\n"
    is_as_if_walked(&s, START TRAP TRAP "RepeatBranch BCNT=7\n" TRAP);
    scene_end(&s);
}

/* The first history after a start also shows the trace mode: in HTM, history may not end early here. */
static void the_mode_is_learned_each_time(void **state) {
    (void)state;
    scene s;
    scene_start(&s, "sifive-pre1.0");
    code(&s, 0x100, branch(8), ADD, branch(-8), JR_A5);
#define SHORT START "ResourceFull RCODE=1 RDATA0=0x3\nIndirectBranch BTYPE=0 ICNT=6 UADDR=0\n"
    is_as_if_walked(&s, SHORT "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0\n" SHORT "Error ETYPE=0\n" SHORT);
    scene_end(&s);
}

/* A part of the path changes to other code within the stream. */
static void code_that_changes_is_not_known(void **state) {
    (void)state;
    scene s;
    for (unsigned at = 5; at < 30; at++) {
        const ntr_image_options early = {.until = at}, late = {.from = at};
        scene_start(&s, NULL);
        code(&s, 0x100, branch(0x100));
        add_code_for(&s, 0x200, (const uint32_t[]){ADD, branch(-0x104), CODE_END}, &early);
        add_code_for(&s, 0x200, (const uint32_t[]){branch(-0x100), CODE_END}, &late);
        is_as_if_walked(&s, START BACK BACK BACK BACK BACK BACK BACK BACK BACK BACK);
        scene_end(&s);
    }
}

static void nothing_is_known_where_no_code_is(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, branch(0x100));
#define OUT "ResourceFull RCODE=1 RDATA0=0x3\nProgTraceSync SYNC=3 ICNT=2 FADDR=0x80\n"
    is_as_if_walked(&s, START OUT OUT OUT OUT OUT OUT "ResourceFull RCODE=1 RDATA0=0x3\n"
                                                      "IndirectBranchHist BTYPE=0 ICNT=4 UADDR=0x40 HIST=0x1\n"
                                                      "raw ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff\n" START);
    scene_end(&s);
}

static void time_goes_on(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4));
#define LATER "ResourceFull RCODE=1 RDATA0=0x3 TSTAMP=5\n"
    is_as_if_walked(
        &s,
        "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=100\n" LATER LATER LATER LATER LATER LATER LATER LATER LATER);
    scene_end(&s);
}

/* Each source has its own state. */
static void sources_are_apart(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.src_bits = 8;
    code(&s, 0x100, ADD, branch(-4), branch(-8));
#define ONE        "ResourceFull SRC=1 RCODE=1 RDATA0=0x3\n"
#define OTHER      "ResourceFull SRC=65 RCODE=1 RDATA0=0x2\n"
#define BACK_AGAIN "ResourceFull SRC=65 RCODE=1 RDATA0=0x3\n"
    is_as_if_walked(
        &s, "ProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x80\nProgTraceSync SRC=65 SYNC=3 ICNT=0 FADDR=0x80\n" ONE ONE
                OTHER BACK_AGAIN ONE OTHER BACK_AGAIN OTHER ONE ONE BACK_AGAIN ONE ONE ONE OTHER ONE BACK_AGAIN ONE ONE
                    OTHER BACK_AGAIN ONE);
    scene_end(&s);
}

/* A message that emits another event has no memo with a count callback: the event comes each time. Here, ECALL is
 * counted although it never retires. */
static void notes_come_each_time(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, ECALL);
    code(&s, 0x200, JR_A5);
#define SYSTEM_CALL "IndirectBranchHist BTYPE=1 ICNT=4 UADDR=0x180 HIST=0x1\n"
#define BACK_TO_100 "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x180 HIST=0x1\n"
    is_as_if_walked(&s, START SYSTEM_CALL BACK_TO_100 SYSTEM_CALL BACK_TO_100 SYSTEM_CALL BACK_TO_100 SYSTEM_CALL);
    scene_end(&s);
}

static ntr_status add_times(void *user, const ntr_event *event, uint64_t times) {
    if (event->kind == NTR_EVENT_SPAN) *(uint64_t *)user += times;
    return NTR_OK;
}

/* With a count callback, an image is added between two feeds: what was counted before belongs to the old code. */
static void images_may_be_added_meanwhile(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    ntr_counts counts = {0};
    uint64_t spans = 0;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, branch(-4));
    assemble(&in, &s.config.params, START BACK BACK BACK BACK BACK BACK BACK BACK BACK BACK);
    ntr_decoder *d;
    ntr_decoder_new(&s.config, &d);
    ntr_decoder_set_count_callback(d, add_times, &spans);
    assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, false), NTR_OK);
    assert_int_equal(ntr_decoder_count(d, &counts), NTR_NEED_MORE);
    code(&s, 0x100, branch(0));
    assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, true), NTR_OK);
    assert_int_equal(ntr_decoder_count(d, &counts), NTR_END);
    ntr_decoder_free(d);
    assert_int_equal(counts.spans, 2 * 10 * 2);
    assert_int_equal(spans, counts.spans);
    scene_end(&s);
}

/* With a count callback, messages are decoded once more: repeated history in them is multiplied, too. */
static void repeated_history_is_applied_often(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x100, branch(8), ADD, jal(1, 0x0f8), branch(-12), JR_A5);
    code(&s, 0x200, ADD, RET);
#define LOOPS "ResourceFull RCODE=2 RDATA0=0x5 RDATA1=50\n"
    is_as_if_walked(&s, START LOOPS LOOPS LOOPS "ResourceFull RCODE=1 RDATA0=0x7\n" LOOPS LOOPS LOOPS);
    /* two passes make a loop, and one is left */
    code(&s, 0x300, branch(8), ADD, branch(-8));
#define ODD_LOOPS "ResourceFull RCODE=2 RDATA0=0x3 RDATA1=51\nResourceFull RCODE=2 RDATA0=0x3 RDATA1=54\n"
    is_as_if_walked(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x180\n" ODD_LOOPS ODD_LOOPS ODD_LOOPS ODD_LOOPS ODD_LOOPS);
    scene_end(&s);
}

/* More messages than the table has places: memos that were applied are replaced. */
static void replaced_memos_are_counted(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    scene_start(&s, NULL);
    code(&s, 0x100, branch(8), ADD, ADD, branch(-12), jal(0, -16));
    assemble(&in, &s.config.params, START);
    for (unsigned i = 0; i < 8000; i++) {
        char line[64];
        snprintf(line, sizeof line, "ResourceFull RCODE=1 RDATA0=0x%x\n", 0x2000 | (i / 5 * 2654435761u >> 19));
        assemble(&in, &s.config.params, line);
    }
    const char *differs = tallies_differ(&s.config, (ntr_bytes){in.bytes, in.size});
    if (differs) fail_msg("%s", differs);
    scene_end(&s);
}

/* ---- sequences */

/* Two loops, at 0x100 and 0x300, that call one function. Three branches decide about a pass: whether ADD is executed
 * before the call, whether it is in the function, and whether the loop goes on. Jumps lead from 0x500 to the first
 * loop, from 0x700 to the second one. */
static void loops_with_calls(scene *s) {
    code(s, 0x100, branch(8), ADD, jal(1, 0xf8), branch(-12), JR_A5);
    code(s, 0x200, branch(8), ADD, RET);
    code(s, 0x300, branch(8), ADD, jal(1, -0x108), branch(-12), JR_A5);
    code(s, 0x500, jal(0, -0x400));
    code(s, 0x700, jal(0, -0x400));
}

static unsigned chosen(uint32_t *seed, unsigned choices) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % choices;
}

/* Appends a run of one of the loops: ResourceFull messages that end anywhere, also in the function, and a jump. *ref:
 * the reference address. `wrong`: I-CNT does not fit one of the outcomes. */
static void add_run(stream *in, const scene *s, uint32_t seed, uint64_t *ref, bool wrong) {
    char line[128];
    unsigned icnt = *ref & 0x200 ? 4 : 2, history = 1, outcomes = 0;
    for (unsigned passes = 30 + chosen(&seed, 60), last = passes; passes; passes--) {
        const unsigned before = chosen(&seed, 2), inside = chosen(&seed, 2);
        const unsigned bits[] = {wrong && passes == last ? 1 - before : before, inside, passes == 1 ? 0 : 1};
        icnt += (before ? 2u : 4u) + (inside ? 2u : 4u) + 6u;
        for (unsigned i = 0; i < 3; i++) {
            history = history << 1 | bits[i];
            if (++outcomes < 5 + chosen(&seed, 3) || passes == 1) continue;
            snprintf(line, sizeof line, "ResourceFull RCODE=1 RDATA0=0x%x\n", history);
            assemble(in, &s->config.params, line);
            history = 1;
            outcomes = 0;
        }
    }
    const unsigned to = 0x100 * chosen(&seed, 4);
    snprintf(line, sizeof line, "IndirectBranchHist BTYPE=0 ICNT=%u UADDR=0x%x HIST=0x%x\n", icnt, to, history);
    assemble(in, &s->config.params, line);
    *ref ^= to;
}

/* The same runs many times, with other and wrong ones between. */
static void sequences_are_as_their_messages(void **state) {
    (void)state;
    for (uint32_t first = 7; first < 10; first++) {
        scene s;
        stream in = {.size = 0};
        uint32_t seed = first;
        uint64_t ref = 0x80;
        scene_start(&s, NULL);
        s.config.params.implicit_return = NTR_RETURN_FULL;
        loops_with_calls(&s);
        assemble(&in, &s.config.params, START);
        while (in.size < 30000) {
            const bool wrong = chosen(&seed, 40) == 0;
            add_run(&in, &s, chosen(&seed, 8) ? chosen(&seed, 4) : seed, &ref, wrong);
            if (!wrong) continue;
            assemble(&in, &s.config.params, START);
            ref = 0x80;
        }
        const char *differs = tallies_differ(&s.config, (ntr_bytes){in.bytes, in.size});
        if (differs) fail_msg("%s of runs %u", differs, (unsigned)first);
        scene_end(&s);
    }
}

/* More messages than the sums hold at once. */
static void many_are_summed_up(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    ntr_counts counts = {0};
    scene_start(&s, NULL);
    code(&s, 0x100, branch(8), ADD, ADD, branch(-12));
    assemble(&in, &s.config.params, START);
    for (unsigned i = 0; i < 6000; i++)
        assemble(&in, &s.config.params,
                 i % 2 ? "ResourceFull RCODE=1 RDATA0=0x5555\n" : "ResourceFull RCODE=1 RDATA0=0x7fff\n");
    ntr_decoder *d;
    ntr_decoder_new(&s.config, &d);
    assert_int_equal(ntr_decoder_feed(d, in.bytes, in.size, true), NTR_OK);
    assert_int_equal(ntr_decoder_count(d, &counts), NTR_END);
    ntr_decoder_free(d);
    assert_int_equal(counts.messages, 6001);
    assert_int_equal(counts.branches, 6000 * 14);
    assert_int_equal(counts.taken, 3000 * (14 + 7));
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halfwords_ahead_matter),
        cmocka_unit_test(the_reference_matters),
        cmocka_unit_test(reserved_messages_count),
        cmocka_unit_test(all_callers_matter),
        cmocka_unit_test(room_on_the_stack_matters),
        cmocka_unit_test(earlier_icnt_matters),
        cmocka_unit_test(dropped_entries_matter),
        cmocka_unit_test(calls_of_a_message_are_dropped),
        cmocka_unit_test(an_empty_stack_matters),
        cmocka_unit_test(repeat_branch_knows_what_came_before),
        cmocka_unit_test(the_mode_is_learned_each_time),
        cmocka_unit_test(notes_of_repetitions_come_each_time),
        cmocka_unit_test(code_that_changes_is_not_known),
        cmocka_unit_test(time_goes_on),
        cmocka_unit_test(sources_are_apart),
        cmocka_unit_test(nothing_is_known_where_no_code_is),
        cmocka_unit_test(many_are_summed_up),
        cmocka_unit_test(sequences_are_as_their_messages),
        cmocka_unit_test(notes_come_each_time),
        cmocka_unit_test(images_may_be_added_meanwhile),
        cmocka_unit_test(repeated_history_is_applied_often),
        cmocka_unit_test(replaced_memos_are_counted),
    };
    return cmocka_run_group_tests_name("message_memos", tests, NULL, NULL);
}
