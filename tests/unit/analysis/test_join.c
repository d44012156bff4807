/* Joined spans (ntr_decoder_set_join): the call tree is that of all spans. */
#include "../decoder/scene.h"

#include <ntrace/calltree.h>
#include <ntrace/tally.h>

enum { FUNCTION_BYTES = 0x100, STREAM_BYTES = 4096, EVENTS = 5 };

/* Functions of FUNCTION_BYTES each. The first one is two: a part before 0x140, and one behind it. */
static uint64_t function_of(uint64_t address) {
    return address / FUNCTION_BYTES + (address >= 0x140 && address < 0x200 ? 100 : 0);
}

static bool same_function(void *user, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                          size_t count) {
    (void)position;
    (void)context;
    ++*(unsigned *)user;
    for (size_t i = 1; i < count; i++)
        if (function_of(addresses[i]) != function_of(addresses[0])) return false;
    return true;
}

/* The stack of functions as calls, returns and jumps change it, and the instructions of each stack, as text. */
typedef struct replay {
    uint64_t stack[64], instructions;
    size_t depth;
    char text[16384];
    size_t used, spans;
} replay;

static void note(replay *r) {
    for (size_t i = 0; i < r->depth; i++)
        r->used += (size_t)snprintf(r->text + r->used, sizeof r->text - r->used, "%u ", (unsigned)r->stack[i]);
    r->used += (size_t)snprintf(r->text + r->used, sizeof r->text - r->used, "= %u\n", (unsigned)r->instructions);
    r->instructions = 0;
}

static void take(replay *r, const ntr_event *e) {
    if (e->kind != NTR_EVENT_SPAN) {
        if (r->instructions) note(r);
        return;
    }
    r->spans++;
    if (!r->depth) r->stack[r->depth++] = function_of(e->address);
    r->instructions += e->instructions;
    uint64_t to = function_of(e->target);
    bool jumps = e->end == NTR_SPAN_TAKEN || e->end == NTR_SPAN_JUMP || e->end == NTR_SPAN_INDIRECT_JUMP ||
                 e->end == NTR_SPAN_NOT_TAKEN || e->flags & NTR_EVENT_RUNS_ON; /* these run into a function */
    if (e->end == NTR_SPAN_CALL || e->end == NTR_SPAN_INDIRECT_CALL) {
        note(r);
        r->stack[r->depth++] = to;
    } else if (e->end == NTR_SPAN_RETURN && r->depth > 1) {
        note(r);
        r->depth--;
    } else if (jumps && r->stack[r->depth - 1] != to) {
        note(r);
        r->stack[r->depth - 1] = to;
    }
}

static void decode(const scene *s, const stream *in, bool joined, bool counted, replay *r, ntr_tally *tally) {
    ntr_event events[EVENTS];
    ntr_status status;
    size_t count;
    unsigned asked = 0;
    ntr_decoder *d;
    status = ntr_decoder_new(&s->config, &d);
    assert_non_null(d);
    ntr_decoder_set_division(d, same_function, &asked);
    if (joined) ntr_decoder_set_join(d, same_function, &asked);
    if (joined && counted) ntr_decoder_set_count_callback(d, ntr_tally_count, tally);
    assert_int_equal(ntr_decoder_feed(d, in->bytes, in->size, true), NTR_OK);
    do {
        status = ntr_decoder_read(d, events, EVENTS, &count);
        for (size_t i = 0; i < count; i++) take(r, &events[i]);
        if (!joined && counted) assert_int_equal(ntr_tally_feed(tally, events, count), NTR_OK);
    } while (status == NTR_OK);
    assert_int_equal(status, NTR_END);
    assert_true(!joined || (asked > 0 && asked < 40)); /* once for each block, not for each execution */
    ntr_decoder_free(d);
}

static void joined_equals_all(const scene *s, const char *messages) {
    static stream in;
    static replay all, joined;
    size_t count, joined_count;
    in.size = 0;
    memset(&all, 0, sizeof all);
    memset(&joined, 0, sizeof joined);
    assemble(&in, &s->config.params, messages);
    ntr_tally *tally, *joined_tally;
    ntr_tally_new(NULL, NULL, &tally);
    ntr_tally_new(NULL, NULL, &joined_tally);
    decode(s, &in, false, true, &all, tally);
    decode(s, &in, true, true, &joined, joined_tally);
    assert_string_equal(joined.text, all.text);
    assert_true(joined.spans * 2 < all.spans);
    const ntr_tally_row *rows = ntr_tally_rows(tally, &count);
    const ntr_tally_row *joined_rows = ntr_tally_rows(joined_tally, &joined_count);
    assert_int_equal(joined_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(joined_rows[i].address, rows[i].address);
        assert_int_equal(joined_rows[i].count, rows[i].count);
        assert_int_equal(joined_rows[i].target, rows[i].target);
        assert_int_equal(joined_rows[i].end, rows[i].end);
    }
    ntr_tally_free(joined_tally);
    ntr_tally_free(tally);
}

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"
#define STOP  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0\n"

static void calls_and_loops_in_one_message(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    /* 0x100: loop: add; beq loop; jal 0x200; beq loop; jump 0x300 */
    code(&s, 0x100, ADD, branch(-4), jal(1, 0x200 - 0x108), branch(-12), jal(0, 0x300 - 0x110));
    code(&s, 0x200, ADD, branch(-4), ADD, branch(8), ADD, RET);
    code(&s, 0x300, ADD, branch(-4), ADD, JR_A5);
    joined_equals_all(&s, START
                      "ResourceFull RCODE=1 RDATA0=0x7fffffff\nResourceFull RCODE=1 RDATA0=0x5fffdfff\n"
                      "ResourceFull RCODE=2 RDATA0=0x7ffd RDATA1=3\nResourceFull RCODE=1 RDATA0=0x7effb000\n" STOP);
    scene_end(&s);
}

static void falling_into_another_function(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    /* the branch at 0x13c falls into the function at 0x140 */
    code(&s, 0x130, ADD, ADD, ADD, branch(-12), ADD, branch(8), ADD, branch(-12), jal(1, 0x200 - 0x150), branch(-20),
         branch(-40));
    code(&s, 0x200, ADD, branch(-4), ADD, branch(8), ADD, RET);
    joined_equals_all(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x98\n"
                          "ResourceFull RCODE=1 RDATA0=0x7ffffff3\nResourceFull RCODE=1 RDATA0=0x5fff5fff\n"
                          "ResourceFull RCODE=1 RDATA0=0x6ffdffff\nResourceFull RCODE=1 RDATA0=0x7effb5ff\n" STOP);
    scene_end(&s);
}

/* The caller was fallen into. */
static void return_to_a_function_that_was_fallen_into(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    s.config.params.implicit_return = NTR_RETURN_FULL;
    code(&s, 0x138, ADD, branch(-4), jal(1, 0x200 - 0x140), ADD, branch(-4), jal(0, 0x300 - 0x14c));
    code(&s, 0x200, ADD, RET);
    code(&s, 0x300, ADD, branch(-4), ADD, JR_A5);
    joined_equals_all(&s, "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x9c\n"
                          "ResourceFull RCODE=1 RDATA0=0x5fffffff\nResourceFull RCODE=1 RDATA0=0x7fffdfff\n"
                          "ResourceFull RCODE=1 RDATA0=0x7fffffff\n" STOP);
    scene_end(&s);
}

/* A block of linear code has instructions of two functions: its span is divided, joined or not. */
static void linear_code_that_runs_into_a_function(void **state) {
    (void)state;
    for (int joined = 0; joined < 2; joined++) {
        static replay r;
        stream in = {.size = 0};
        scene s;
        scene_start(&s, NULL);
        code(&s, 0x138, ADD, ADD, ADD, ADD, jal(0, 0x300 - 0x148));
        code(&s, 0x300, ADD, JR_A5);
        assemble(&in, &s.config.params,
                 "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x9c\nIndirectBranch BTYPE=0 ICNT=14 UADDR=0x0\n" STOP);
        memset(&r, 0, sizeof r);
        decode(&s, &in, joined, false, &r, NULL);
        assert_string_equal(r.text, "1 = 2\n101 = 3\n3 = 2\n");
        scene_end(&s);
    }
}

/* The number of spans of each privilege mode. */
static void count_modes(const scene *s, const stream *in, bool joined, unsigned except, size_t spans[4]) {
    ntr_event events[EVENTS];
    ntr_status status;
    size_t count;
    unsigned asked = 0;
    ntr_decoder *d;
    status = ntr_decoder_new(&s->config, &d);
    assert_non_null(d);
    if (joined) ntr_decoder_set_join(d, same_function, &asked);
    ntr_decoder_set_repeats(d, joined);
    ntr_decoder_set_join_except(d, except);
    assert_int_equal(ntr_decoder_feed(d, in->bytes, in->size, true), NTR_OK);
    do {
        status = ntr_decoder_read(d, events, EVENTS, &count);
        for (size_t i = 0; i < count; i++)
            if (events[i].kind == NTR_EVENT_SPAN) spans[events[i].context.v ? 2 : events[i].context.prv & 3]++;
    } while (status == NTR_OK);
    assert_int_equal(status, NTR_END);
    ntr_decoder_free(d);
}

/* A loop of the instruction and a branch. */
static void spans_of_some_modes(uint32_t instruction, size_t all[4], size_t joined[4], size_t some[4]) {
    static stream in;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, instruction, branch(-4));
    in.size = 0;
    /* in S-mode, in user mode, and in S-mode of a guest */
    assemble(&in, &s.config.params,
             START "Ownership PROCESS=0x4\nResourceFull RCODE=1 RDATA0=0x7fffffff\n"
                   "Ownership PROCESS=0x0\nResourceFull RCODE=1 RDATA0=0x7fffffff\n"
                   "Ownership PROCESS=0x14\nResourceFull RCODE=1 RDATA0=0x7fffffff\n" STOP);
    count_modes(&s, &in, false, 1u << 1, all);
    count_modes(&s, &in, true, 0, joined);
    count_modes(&s, &in, true, 1u << 1 | 1u << 3, some);
    scene_end(&s);
}

#define CSRSI_SSTATUS_2 0x10016073u
#define SW_A5_8_TP      0x00f22423u
#define CSRR_A0_TIME    0xc0102573u

/* Code that may switch interrupts or preemption is returned in the excepted modes. */
static void code_that_switches(void **state) {
    (void)state;
    static const uint32_t instructions[] = {CSRSI_SSTATUS_2, SW_A5_8_TP};
    for (size_t i = 0; i < 2; i++) {
        size_t all[4] = {0}, joined[4] = {0}, some[4] = {0};
        spans_of_some_modes(instructions[i], all, joined, some);
        assert_int_equal(all[1], 30);
        assert_true(joined[1] < 4);
        assert_int_equal(some[1], all[1]);
        assert_int_equal(some[0], joined[0]);
        assert_true(some[0] && some[0] < 4);
        assert_int_equal(some[2], joined[2]);
        assert_true(some[2] && some[2] < 4);
    }
}

/* Other code is returned when it is executed first. */
static void code_that_does_not_switch(void **state) {
    (void)state;
    static const uint32_t instructions[] = {ADD, CSRR_A0_TIME};
    for (size_t i = 0; i < 2; i++) {
        size_t all[4] = {0}, joined[4] = {0}, some[4] = {0};
        spans_of_some_modes(instructions[i], all, joined, some);
        assert_int_equal(all[1], 30);
        assert_true(some[1] >= 1 && some[1] <= 4);
    }
}

/* A loop of 2^12 passes: its spans are repeated, unless it has code that may switch. */
static void loops_of_some_modes(void **state) {
    (void)state;
    static const uint32_t instructions[] = {ADD, CSRSI_SSTATUS_2};
    for (size_t i = 0; i < 2; i++) {
        static stream in;
        scene s;
        size_t some[4] = {0};
        scene_start(&s, NULL);
        code(&s, 0x100, instructions[i], branch(-4));
        in.size = 0;
        assemble(&in, &s.config.params,
                 START "Ownership PROCESS=0x4\nResourceFull RCODE=2 RDATA0=0x3 RDATA1=0x1000\n" STOP);
        count_modes(&s, &in, true, 1u << 1 | 1u << 3, some);
        assert_true(i ? some[1] >= 0x1000 : some[1] && some[1] < 100);
        scene_end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(calls_and_loops_in_one_message),
        TEST(falling_into_another_function),
        TEST(return_to_a_function_that_was_fallen_into),
        TEST(linear_code_that_runs_into_a_function),
        TEST(code_that_switches),
        TEST(code_that_does_not_switch),
        TEST(loops_of_some_modes),
    };
    return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
