/* The checker: which findings, where, and after what. tests/corpus/check has a stream for each rule; here are the
 * things that all rules share. Bytes are written by hand from chapters 2 and 3 of N-Trace 1.0. */
#include "../test.h"

#include <ntrace/tools.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ProgTraceSync with SYNC=3 and SYNC=2, ICNT=0 FADDR=0x80; DirectBranch ICNT=3. */
#define SYNC_MESSAGE   0x24, 0x0d, 0x00, 0x0b
#define PERIODIC_SYNC  0x24, 0x09, 0x00, 0x0b
#define BRANCH_MESSAGE 0x0c, 0x0f
#define IDLE           0xff
#define RESERVED_MSEO  0x02
#define RESERVED_TCODE 0x04, 0x1b /* TCODE 1, one field */

typedef struct findings {
    char text[2048]; /* a line for each: rule, message, offset, size, source */
    size_t used;
} findings;

static void found(void *user, const ntr_finding *f) {
    findings *all = user;
    all->used += (size_t)snprintf(all->text + all->used, sizeof all->text - all->used,
                                  "%s #%" PRIu64 " @%" PRIu64 "+%" PRIu64, f->rule->id, f->message, f->offset, f->size);
    if (f->has_source)
        all->used += (size_t)snprintf(all->text + all->used, sizeof all->text - all->used, " src%u", f->src);
    all->used += (size_t)snprintf(all->text + all->used, sizeof all->text - all->used, "\n");
}

/* Feeds `piece` bytes at a time. Returns the number of messages. */
static uint64_t run(const ntr_check_config *given, const uint8_t *bytes, size_t size, size_t piece, findings *all) {
    ntr_check_config config = *given;
    ntr_status status;
    *all = (findings){.used = 0};
    config.found = found;
    config.user = all;
    ntr_check *check;
    status = ntr_check_new(&config, &check);
    assert_int_equal(status, NTR_OK);
    for (size_t at = 0; at < size; at += piece) {
        const size_t rest = size - at, now = rest < piece ? rest : piece;
        assert_int_equal(ntr_check_feed(check, bytes + at, now, now == rest), NTR_OK);
    }
    const uint64_t messages = ntr_check_messages(check);
    ntr_check_free(check);
    return messages;
}

/* The findings are the expected ones, however the bytes are divided. */
static void expect(const ntr_check_config *config, const uint8_t *bytes, size_t size, uint64_t messages,
                   const char *expected) {
    for (size_t piece = 1; piece <= size; piece++) {
        findings all;
        assert_int_equal(run(config, bytes, size, piece, &all), messages);
        assert_string_equal(all.text, expected);
    }
}

#define EXPECT(config, messages, expected, ...)                                                                        \
    do {                                                                                                               \
        static const uint8_t bytes_[] = {__VA_ARGS__};                                                                 \
        expect(config, bytes_, sizeof bytes_, messages, expected);                                                     \
    } while (0)

static void conforming(void **state) {
    (void)state;
    ntr_check_config config;
    ntr_check_config_init(&config);
    EXPECT(&config, 2, "", SYNC_MESSAGE, BRANCH_MESSAGE);
    EXPECT(&config, 3, "", IDLE, SYNC_MESSAGE, IDLE, IDLE, BRANCH_MESSAGE, PERIODIC_SYNC, IDLE);
}

/* NT-278 */
static void a_source_begins_with_a_synchronizing_message(void **state) {
    (void)state;
    ntr_check_config config;
    ntr_check_config_init(&config);
    EXPECT(&config, 2, "first-sync #1 @0+2\n", BRANCH_MESSAGE, SYNC_MESSAGE);
    EXPECT(&config, 3, "first-sync #1 @1+2\n", IDLE, BRANCH_MESSAGE, BRANCH_MESSAGE, SYNC_MESSAGE);
}

/* Each damage is one finding: what follows is not judged before the next synchronizing message. */
static void damage_is_one_finding(void **state) {
    (void)state;
    ntr_check_config config;
    ntr_check_config_init(&config);
    EXPECT(&config, 3, "mseo-reserved #2 @4+3\n", SYNC_MESSAGE, RESERVED_MSEO, BRANCH_MESSAGE, PERIODIC_SYNC);
    EXPECT(&config, 3, "message-cut #3 @6+1\n", SYNC_MESSAGE, BRANCH_MESSAGE, 0x0c);
    EXPECT(&config, 3, "tcode-reserved #2 @4+2\n", SYNC_MESSAGE, RESERVED_TCODE, BRANCH_MESSAGE);
}

/* DirectBranch SRC=1 ICNT=3: the second byte has SRC in its lowest two bits, then I-CNT, then MSEO 11. */
static void each_source_is_judged_by_itself(void **state) {
    (void)state;
    ntr_check_config config;
    ntr_check_config_init(&config);
    config.params.src_bits = 2;
    EXPECT(&config, 1, "first-sync #1 @0+2 src1\n", 0x0c, 0x37);
}

static void synchronization_is_due(void **state) {
    (void)state;
    ntr_check_config config;
    ntr_check_config_init(&config);
    config.sync_period = 3;
    EXPECT(&config, 4, "", SYNC_MESSAGE, BRANCH_MESSAGE, BRANCH_MESSAGE, PERIODIC_SYNC);
    findings all;
    static const uint8_t late[] = {SYNC_MESSAGE,   BRANCH_MESSAGE, BRANCH_MESSAGE,
                                   BRANCH_MESSAGE, BRANCH_MESSAGE, BRANCH_MESSAGE};
    assert_int_equal(run(&config, late, sizeof late, sizeof late, &all), 6);
    assert_memory_equal(all.text, "sync-period ", strlen("sync-period "));
}

/* ---- what is remembered of the messages before: one line for each message, in the format of `ntrace dump` */

static void expect_messages(const char *lines, const char *expected) {
    static uint8_t bytes[4096];
    ntr_check_config config;
    findings all;
    size_t size = 0;
    ntr_check_config_init(&config);
    for (const char *line = lines; *line; line += strcspn(line, "\n") + 1) {
        char text[256];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        const int n = ntr_message_assemble(&config.params, text, bytes + size, sizeof bytes - size, NULL);
        if (n < 0) fail_msg("cannot assemble '%s'", text);
        size += (size_t)n;
    }
    (void)run(&config, bytes, size, size, &all);
    char found_[sizeof all.text] = "";
    for (const char *line = all.text; *line; line += strcspn(line, "\n") + 1) /* without the offset */
        strncat(found_, line, strcspn(line, "@"));
    assert_string_equal(found_, expected);
}

#define HTM_START "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nIndirectBranchHist BTYPE=0 ICNT=9 UADDR=0x4 HIST=0x1\n"

/* The stop-bit is no branch; a branch is one halfword at least. */
static void branches_of_a_history(void **state) {
    (void)state;
    expect_messages(HTM_START "IndirectBranchHist BTYPE=0 ICNT=3 UADDR=0x4 HIST=0xf\n", "");
    expect_messages(HTM_START "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x4 HIST=0xf\n", "hist-icnt #3 ");
    expect_messages(HTM_START "IndirectBranchHist BTYPE=0 ICNT=31 UADDR=0x4 HIST=0xffffffff\n", "");
    expect_messages(HTM_START "IndirectBranchHist BTYPE=0 ICNT=30 UADDR=0x4 HIST=0xffffffff\n", "hist-icnt #3 ");
}

/* A ResourceFull counts for the next message with I-CNT, and for this one alone; HREPEAT multiplies. */
static void resources_are_used_once(void **state) {
    (void)state;
    expect_messages(HTM_START "ResourceFull RCODE=1 RDATA0=0xff\n"
                              "IndirectBranchHist BTYPE=0 ICNT=8 UADDR=0x4 HIST=0x3\n"
                              "IndirectBranchHist BTYPE=0 ICNT=1 UADDR=0x4 HIST=0x3\n",
                    "");
    expect_messages(HTM_START "ResourceFull RCODE=1 RDATA0=0xff\n"
                              "IndirectBranchHist BTYPE=0 ICNT=7 UADDR=0x4 HIST=0x3\n",
                    "hist-icnt #4 ");
    expect_messages(HTM_START "ResourceFull RCODE=2 RDATA0=0x7 RDATA1=0x5\n"
                              "IndirectBranchHist BTYPE=0 ICNT=10 UADDR=0x4 HIST=0x1\n",
                    "");
    expect_messages(HTM_START "ResourceFull RCODE=2 RDATA0=0x7 RDATA1=0x5\n"
                              "IndirectBranchHist BTYPE=0 ICNT=9 UADDR=0x4 HIST=0x1\n",
                    "hist-icnt #4 ");
    expect_messages(HTM_START "ResourceFull RCODE=0 RDATA0=0x5\n"
                              "IndirectBranchHist BTYPE=0 ICNT=1 UADDR=0x4 HIST=0x7f\n"
                              "IndirectBranchHist BTYPE=0 ICNT=1 UADDR=0x4 HIST=0x7\n",
                    "hist-icnt #5 ");
}

/* SYNC 7 needs an Error of its own. */
static void an_error_explains_one_loss(void **state) {
    (void)state;
#define AFTER_LOSS "ProgTraceSync SYNC=7 ICNT=0 FADDR=0x80\nDirectBranch ICNT=3\n"
    expect_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nError ETYPE=0 ECODE=0x4\n" AFTER_LOSS, "");
    expect_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nError ETYPE=0 ECODE=0x4\n" AFTER_LOSS AFTER_LOSS,
                    "overrun-error #5 ");
}

/* A buffer that wrapped begins inside a message: its rest is no finding, and the first message need not synchronize. */
static void a_stream_that_begins_in_the_middle(void **state) {
    (void)state;
    ntr_check_config config;
    ntr_check_config_init(&config);
    config.mid_stream = true;
    EXPECT(&config, 1, "", 0x00, 0x0b, SYNC_MESSAGE);
    findings all;
    static const uint8_t cut[] = {0x00, 0x0b, SYNC_MESSAGE};
    config.mid_stream = false;
    (void)run(&config, cut, sizeof cut, sizeof cut, &all);
    assert_true(all.used > 0);
}

static void rules_have_identifiers_of_their_own(void **state) {
    (void)state;
    size_t count = 0;
    for (const ntr_check_rule *rule; (rule = ntr_check_rule_at(count)) != NULL; count++) {
        assert_true(rule->severity <= NTR_SEVERITY_ERROR);
        assert_true(rule->section[0] && rule->about[0] && rule->breaking[0]);
        for (size_t i = 0; i < count; i++) assert_string_not_equal(ntr_check_rule_at(i)->id, rule->id);
    }
    assert_true(count > 80);
    assert_string_equal(ntr_severity_name(NTR_SEVERITY_WARNING), "warning");
}

static void misuse(void **state) {
    ntr_check *none;
    (void)state;
    ntr_check_config config;
    ntr_check_config_init(&config);
    assert_int_equal(ntr_check_new(&config, &none), NTR_E_INVALID); /* nobody receives the findings */
    config.found = found;
    config.params.src_bits = 13;
    assert_int_not_equal(ntr_check_new(&config, &none), NTR_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(conforming),
                                       TEST(a_source_begins_with_a_synchronizing_message),
                                       TEST(damage_is_one_finding),
                                       TEST(each_source_is_judged_by_itself),
                                       TEST(synchronization_is_due),
                                       TEST(a_stream_that_begins_in_the_middle),
                                       TEST(rules_have_identifiers_of_their_own),
                                       TEST(misuse),
                                       TEST(branches_of_a_history),
                                       TEST(resources_are_used_once),
                                       TEST(an_error_explains_one_loss)};
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
