/* FIFO: rate, loss and recovery with exact accounts, stall; timestamps of what is sent late. */
#include "rig.h"

#include <ntrace/encoder_hardware.h>

enum { NONE, EXC, INT, MRET, NT, TK, JR = 10 };

#define START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80"

static ntr_encoder_status status_of(rig *r) {
    ntr_encoder_status s;
    ntr_encoder_status_get(r->encoder, &s);
    return s;
}

/* A message reaches the sink in the cycle in which its last byte has drained. */
static void drains_at_its_rate(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=76 drain=1/2");
    rig_insn(&r, 0x100, 4, NONE); /* 4 bytes */
    assert_int_equal(status_of(&r).fifo_used, 4);
    assert_int_equal(ntr_encoder_tick(r.encoder, 7), NTR_OK);
    rig_expect_messages(&r, "");
    assert_int_equal(status_of(&r).fifo_used, 1);
    assert_false(status_of(&r).empty);
    assert_int_equal(ntr_encoder_tick(r.encoder, 1), NTR_OK);
    rig_expect_messages(&r, START);
    assert_true(status_of(&r).empty);
    rig_close(&r);
}

/* Jump from jump to jump, 10 bytes of message a block, until something is lost. */
static unsigned jump_until_loss(rig *r) {
    unsigned n = 0;
    for (; !status_of(r).losing; n++) rig_insn(r, n % 2 ? 0x100 : 0x7ffffffffffffff0, 4, JR);
    return n;
}

/* CI-025, CI-026, CI-075 */
static void loss_error_and_restart(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=76 drain=1/1000 fifo-restart=0");
    unsigned jumps = jump_until_loss(&r);
    ntr_encoder_status s = status_of(&r);
    assert_int_equal(s.overflows, 1);
    assert_int_equal(s.lost_messages, 1);
    assert_true(s.stall_or_overflow);
    rig_insn(&r, jumps % 2 ? 0x100 : 0x7ffffffffffffff0, 4, JR); /* one more message lost */
    jumps++;
    assert_int_equal(status_of(&r).lost_messages, 2);
    assert_int_equal(ntr_encoder_tick(r.encoder, 76000), NTR_OK);
    r.size = 0;
    rig_insn(&r, 0x1000, 4, NONE);
    assert_int_equal(ntr_encoder_flush(r.encoder), NTR_OK);
    rig_expect_messages(&r, "Error ETYPE=0 ECODE=0x4; ProgTraceSync SYNC=7 ICNT=0 FADDR=0x800");
    s = status_of(&r);
    assert_false(s.losing);
    assert_true(s.stall_or_overflow);
    ntr_encoder_clear_overflow(r.encoder);
    assert_false(status_of(&r).stall_or_overflow);
    /* Sent: every jump with a message. Lost: the two dropped ones, and the one that waited. */
    assert_int_equal(s.lost_halfwords, 2 * 3);
    assert_int_equal(s.halfwords, 2 * jumps + 2);
    rig_close(&r);
}

/* Hysteresis: no restart before the FIFO is down to the mark. CI-027 */
static void waits_for_the_mark(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=200 drain=1 fifo-restart=50");
    for (unsigned n = 0; !status_of(&r).losing; n++) {
        r.block.cycle = false; /* no time passes */
        rig_insn(&r, n % 2 ? 0x100 : 0x7ffffffffffffff0, 4, JR);
    }
    unsigned used = status_of(&r).fifo_used;
    assert_in_range(used, 185, 200);
    assert_int_equal(ntr_encoder_tick(r.encoder, used - 51), NTR_OK);
    assert_true(status_of(&r).losing);
    assert_int_equal(ntr_encoder_tick(r.encoder, 1), NTR_OK);
    assert_false(status_of(&r).losing);
    rig_close(&r);
}

/* Trace off while messages are being lost: Error is the last message. NT-171 */
static void error_alone_when_tracing_ends(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=76 drain=1/1000");
    unsigned jumps = jump_until_loss(&r);
    assert_int_equal(ntr_encoder_stop(r.encoder, jumps % 2 ? 0x100 : 0x7ffffffffffffff0, NTR_EVCODE_DISABLED), NTR_OK);
    assert_int_equal(ntr_encoder_tick(r.encoder, 70000), NTR_OK);
    r.size = 0;
    assert_int_equal(ntr_encoder_tick(r.encoder, 10000), NTR_OK);
    assert_int_equal(ntr_encoder_flush(r.encoder), NTR_OK);
    rig_expect_messages(&r, "Error ETYPE=0 ECODE=0x4");
    assert_true(status_of(&r).empty);
    rig_close(&r);
}

/* NT-162, NT-262: overrun, then disabled and enabled again: Error, and the first synchronization has SYNC 7. */
static void overrun_then_enabled_again(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=76 drain=1/100000 start-sync=5");
    for (unsigned i = 0; !status_of(&r).losing; i++) rig_insn(&r, i % 2 ? 0x100 : 0x7ffffffffffffff0, 4, JR);
    assert_int_equal(ntr_encoder_set_enable(r.encoder, false), NTR_OK);
    assert_int_equal(ntr_encoder_stop(r.encoder, NTR_ADDRESS_UNKNOWN, NTR_EVCODE_DISABLED), NTR_OK);
    assert_int_equal(ntr_encoder_flush(r.encoder), NTR_OK);
    assert_true(status_of(&r).empty);
    assert_int_equal(ntr_encoder_set_enable(r.encoder, true), NTR_OK);
    assert_int_equal(ntr_encoder_set_tracing(r.encoder, true), NTR_OK);
    r.size = 0;
    rig_insn(&r, 0x200, 4, NONE);
    assert_int_equal(ntr_encoder_flush(r.encoder), NTR_OK);
    rig_expect_messages(&r, "ProgTraceSync SYNC=7 ICNT=0 FADDR=0x100");
    rig_close(&r);
}

static void only_ownership_lost(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=76 drain=1/100000 context");
    for (unsigned i = 0; !status_of(&r).losing; i++) {
        r.block.priv = i % 2 ? NTR_PRIV_U : NTR_PRIV_M;
        rig_insn(&r, 0x100 + 4 * i, 4, NONE);
    }
    r.size = 0;
    assert_int_equal(ntr_encoder_stop(r.encoder, 0x10000, 4), NTR_OK);
    assert_int_equal(ntr_encoder_flush(r.encoder), NTR_OK);
    assert_non_null(strstr(r.text, "20 00 0"));
    ntr_encoder_status s = status_of(&r);
    assert_int_equal(s.lost_messages, 2); /* an Ownership and the correlation */
    rig_close(&r);
}

/* CI-028, CI-076 */
static void stall_instead_of_loss(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=76 drain=1/4 stall");
    for (unsigned n = 0; n < 100; n++) rig_insn(&r, n % 2 ? 0x100 : 0x7ffffffffffffff0, 4, JR);
    rig_stop(&r, 0x100);
    ntr_encoder_status s = status_of(&r);
    assert_int_equal(s.lost_messages, 0);
    assert_int_equal(s.overflows, 0);
    assert_true(s.stall_cycles > 3000 && s.stall_or_overflow);
    assert_int_equal(s.messages, 102);
    assert_int_equal(s.bytes, r.size);
    rig_close(&r);
}

/* A sink without room: with stall the block is not taken; nothing is lost. */
static void blocked_sink(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=256 drain=0 stall");
    r.refuse = NTR_E_SPACE;
    ntr_ingress b = {.cycle = true, .iretire = 2, .ilastsize = 1, .itype = JR};
    unsigned taken = 0;
    ntr_status status;
    for (; (b.iaddr = taken % 2 ? 0x100 : 0x7ffffffffffffff0, status = ntr_encoder_push(r.encoder, &b)) == NTR_OK;)
        taken++;
    assert_int_equal(status, NTR_NEED_MORE);
    r.refuse = NTR_OK;
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_OK);
    rig_stop(&r, 0x100);
    assert_int_equal(status_of(&r).lost_messages, 0);
    assert_int_equal(status_of(&r).messages, taken + 3);
    rig_close(&r);
}

/* A slow FIFO in front of a sink that now and then takes nothing: the hart waits, and nothing is lost. */
static void slow_and_refused(void **state) {
    (void)state;
    rig r;
    unsigned waits = 0;
    rig_open(&r, "fifo=128 drain=1/3 stall");
    for (unsigned taken = 0; taken < 600; taken++) {
        const uint64_t iaddr = taken % 2 ? 0x100 : 0x7ffffffffffffff0;
        ntr_ingress b = {.cycle = true, .iretire = 2, .ilastsize = 1, .itype = JR, .iaddr = iaddr};
        ntr_status status;
        r.refuse = taken % 7 < 3 ? NTR_E_SPACE : NTR_OK;
        for (; (status = ntr_encoder_push(r.encoder, &b)) == NTR_NEED_MORE; waits++) r.refuse = NTR_OK;
        assert_int_equal(status, NTR_OK);
        r.size = r.length = 0;
    }
    r.refuse = NTR_OK;
    rig_stop(&r, 0x100);
    assert_int_equal(status_of(&r).lost_messages, 0);
    assert_true(waits > 50 && status_of(&r).stall_cycles > 600);
    rig_close(&r);
}

static void failure_of_the_sink_comes_back(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "");
    r.refuse = NTR_E_IO;
    ntr_ingress b = {.cycle = true, .iretire = 2, .ilastsize = 1, .iaddr = 0x100};
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_E_IO);
    r.refuse = NTR_OK;
    b.iaddr = 0x104;
    assert_int_equal(ntr_encoder_push(r.encoder, &b), NTR_OK);
    rig_close(&r);
}

/* ---- timestamps ---------------------------------------------------------------------------------------- */

static void at(rig *r, uint64_t time, uint64_t pc, unsigned itype) {
    r->block.time = time;
    rig_insn(r, pc, 4, itype);
}

/* NT-288 */
static void absolute_and_relative(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm timestamps context");
    at(&r, 0x12345, 0x100, NONE);
    at(&r, 0x12350, 0x104, TK);
    at(&r, 0x12360, 0x200, NONE); /* the branch has the time it retired */
    rig_expect_messages(&r, START " TSTAMP=74565; Ownership PROCESS=0xe TSTAMP=0; DirectBranch ICNT=4 TSTAMP=11");
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_TRACE_EVENT), NTR_OK);
    at(&r, 0x12370, 0x204, NONE);
    rig_stop(&r, 0x208);
    rig_expect_messages(
        &r, "IndirectBranchSync SYNC=6 BTYPE=0 ICNT=2 FADDR=0x102 TSTAMP=74608; Ownership PROCESS=0xe TSTAMP=0; "
            "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2 TSTAMP=0");
    rig_close(&r);
}

/* NT-289: a trap has the time at which it was observed, not that of the handler's first instruction; a synchronizing
 * message too. */
static void traps_have_the_time_they_were_observed(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm timestamps");
    at(&r, 100, 0x100, NONE);
    at(&r, 110, 0x104, INT);
    at(&r, 150, 0x200, NONE);
    rig_expect_messages(&r, START " TSTAMP=100; IndirectBranch BTYPE=3 ICNT=4 UADDR=0x180 TSTAMP=10");
    at(&r, 160, 0x204, EXC);
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_TRACE_EVENT), NTR_OK);
    at(&r, 190, 0x300, NONE);
    rig_expect_messages(&r, "IndirectBranchSync SYNC=6 BTYPE=2 ICNT=4 FADDR=0x180 TSTAMP=160");
    rig_close(&r);
}

static void only_some_messages(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm timestamps ts-messages=correlation");
    at(&r, 100, 0x100, TK);
    at(&r, 110, 0x200, NONE);
    rig_stop(&r, 0x204);
    rig_expect_messages(&r,
                        START " TSTAMP=100; DirectBranch ICNT=2; ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2 TSTAMP=10");
    rig_close(&r);
}

static void narrow_counter_rolls_over(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm timestamps ts-width=8 ts-prescale=1");
    at(&r, 250 * 4, 0x100, TK);
    at(&r, 4 * 4, 0x200, TK); /* the counter itself is narrow */
    at(&r, 4 * 4 + 3, 0x300, NONE);
    rig_expect_messages(&r, START " TSTAMP=250; DirectBranch ICNT=2 TSTAMP=0; DirectBranch ICNT=2 TSTAMP=10");
    assert_int_equal(ntr_encoder_request_sync(r.encoder, NTR_SYNC_TRACE_EVENT), NTR_OK);
    at(&r, 300 * 4, 0x304, NONE); /* and here it is not */
    rig_expect_messages(&r, "IndirectBranchSync SYNC=6 BTYPE=0 ICNT=2 FADDR=0x182 TSTAMP=44");
    rig_close(&r);
}

/* A repeat is sent late, with its own time; messages sent in between do not change. */
static void repeats_have_the_time_of_the_last(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "mode=btm timestamps repeat-branch");
    for (unsigned i = 0; i < 4; i++) at(&r, 10 * i, 0x100, TK);
    at(&r, 100, 0x100, NONE);
    rig_stop(&r, 0x104);
    rig_expect_messages(&r, START " TSTAMP=0; DirectBranch ICNT=2 TSTAMP=0; RepeatBranch BCNT=3 TSTAMP=30; "
                                  "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2 TSTAMP=70");
    rig_close(&r);
}

/* Error has the time at which the loss began. NT-170 */
static void error_has_the_time_of_the_first_loss(void **state) {
    (void)state;
    rig r;
    rig_open(&r, "fifo=76 drain=1/1000 timestamps ts-messages=error");
    uint64_t time = 1000, lost_at = 0;
    for (unsigned n = 0; !lost_at; n++) {
        at(&r, ++time, n % 2 ? 0x100 : 0x7ffffffffffffff0, JR);
        if (status_of(&r).losing) lost_at = time - 1; /* the jump that is lost retired one block ago */
    }
    assert_int_equal(ntr_encoder_tick(r.encoder, 100000), NTR_OK);
    r.size = 0;
    at(&r, 5000, 0x200, NONE);
    assert_int_equal(ntr_encoder_flush(r.encoder), NTR_OK);
    char text[128];
    snprintf(text, sizeof text,
             "Error ETYPE=0 ECODE=0x4 TSTAMP=%u; ProgTraceSync SYNC=7 ICNT=0 FADDR=0x100 TSTAMP=5000",
             (unsigned)(lost_at - 1001));
    rig_expect_messages(&r, text);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(drains_at_its_rate),
        TEST(loss_error_and_restart),
        TEST(waits_for_the_mark),
        TEST(error_alone_when_tracing_ends),
        TEST(overrun_then_enabled_again),
        TEST(only_ownership_lost),
        TEST(stall_instead_of_loss),
        TEST(blocked_sink),
        TEST(slow_and_refused),
        TEST(failure_of_the_sink_comes_back),
        TEST(absolute_and_relative),
        TEST(traps_have_the_time_they_were_observed),
        TEST(only_some_messages),
        TEST(narrow_counter_rolls_over),
        TEST(repeats_have_the_time_of_the_last),
        TEST(error_has_the_time_of_the_first_loss),
    };
    return cmocka_run_group_tests_name("encoder fifo", tests, NULL, NULL);
}
