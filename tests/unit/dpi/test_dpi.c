/* The calls that testbenches make, without a simulator. */
#include <ntrace/check.h>

#include "../test.h"

#include "../program/elf_builder.h"

#include <ntrace/encoder.h>
#include <ntrace/ntrace.h>

#include "ntrace_dpi.h"

enum { RETURN = 13, HALFWORDS = 8 };

static elf_builder elf;

/* Seven c.nop and a return at TEXT_ADDRESS. */
static int write_program(void **state) {
    (void)state;
    elf_begin(&elf, true);
    for (unsigned i = 0; i < HALFWORDS; i++) elf_put(&elf, CODE_AT + 2 * i, 2, i == HALFWORDS - 1 ? 0x8082 : 0x0001);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, 16, 16);
    elf_symbol(&elf, "again", 0x12, 1, TEXT_ADDRESS, 16);
    elf_arch(&elf, "rv64gc");
    return elf_write(&elf);
}

static int remove_program(void **state) {
    (void)state;
    elf_end(&elf);
    return 0;
}

/* In two blocks, so that a full I-CNT may cut between them. */
static int push(void *encoder) {
    int status = ntr_dpi_encoder_push(encoder, TEXT_ADDRESS, HALFWORDS / 2, 0, 0, 3, 0, 0);
    if (status != NTR_OK) return status;
    return ntr_dpi_encoder_push(encoder, TEXT_ADDRESS + HALFWORDS, HALFWORDS / 2, 0, RETURN, 3, 0, 0);
}

/* The stream of `rounds` times the program. */
static size_t encode(const char *options, unsigned rounds, uint8_t *out) {
    void *encoder = ntr_dpi_encoder_new(options);
    size_t size = 0;
    assert_string_equal(ntr_dpi_encoder_error(encoder), "");
    for (unsigned i = 0; i < rounds; i++) assert_int_equal(push(encoder), NTR_OK);
    assert_int_equal(ntr_dpi_encoder_stop(encoder, TEXT_ADDRESS, NTR_EVCODE_DISABLED), NTR_OK);
    for (int byte; (byte = ntr_dpi_encoder_take(encoder)) >= 0;) out[size++] = (uint8_t)byte;
    ntr_dpi_encoder_free(encoder);
    return size;
}

static int compare(const char *options, unsigned rounds, unsigned model_rounds, char difference[400]) {
    uint8_t bytes[256];
    void *handle = ntr_dpi_compare_new(elf.path, options, "mode=htm");
    assert_string_equal(ntr_dpi_compare_error(handle), "");
    size_t size = encode(options, rounds, bytes);
    for (size_t i = 0; i < size; i++) assert_int_equal(ntr_dpi_compare_byte(handle, 0, bytes[i]), NTR_OK);
    size = encode("mode=htm", model_rounds, bytes);
    for (size_t i = 0; i < size; i++) assert_int_equal(ntr_dpi_compare_byte(handle, 1, bytes[i]), NTR_OK);
    int result = ntr_dpi_compare_finish(handle);
    snprintf(difference, 400, "%s", ntr_dpi_compare_difference(handle));
    ntr_dpi_compare_free(handle);
    return result;
}

/* ---- tests */

static void encoder_sends_what_the_library_sends(void **state) {
    (void)state;
    uint8_t bytes[64];
    static const uint8_t want[] = {0x24, 0x15, 0x00, 0x00, 0x23}; /* ProgTraceSync SYNC=5 ICNT=0 FADDR=0x8000 */
    assert_true(encode("mode=btm", 1, bytes) > sizeof want);
    assert_memory_equal(bytes, want, sizeof want);
}

static void encoder_tells_what_is_wrong(void **state) {
    (void)state;
    void *encoder = ntr_dpi_encoder_new("mode=btm icnt-bits=99");
    assert_string_equal(ntr_dpi_encoder_error(encoder), "option icnt-bits=99: value out of range");
    assert_int_equal(push(encoder), NTR_E_STATE);
    assert_int_equal(ntr_dpi_encoder_take(encoder), -1);
    ntr_dpi_encoder_free(encoder);
    encoder = ntr_dpi_encoder_new("");
    assert_int_equal(ntr_dpi_encoder_push(encoder, TEXT_ADDRESS, 4, 0, 7, 3, 0, 0), NTR_E_INGRESS);
    assert_string_equal(ntr_dpi_encoder_error(encoder), "block: record 1: itype 7 is reserved with 4-bit itype");
    assert_int_equal(ntr_dpi_encoder_push(encoder, TEXT_ADDRESS, 4, 0, 0x10d, 3, 0, 0), NTR_E_RANGE);
    ntr_dpi_encoder_free(encoder);
}

static void messages_have_a_text(void **state) {
    (void)state;
    void *encoder = ntr_dpi_encoder_new("");
    assert_string_equal(ntr_dpi_encoder_describe(encoder, "0c0f"), "DirectBranch ICNT=3");
    assert_non_null(strstr(ntr_dpi_encoder_describe(encoder, "2415"), "!"));
    assert_non_null(ntr_dpi_encoder_describe(encoder, "zz"));
    ntr_dpi_encoder_free(encoder);
}

static void other_messages_are_the_same_execution(void **state) {
    (void)state;
    char difference[400];
    assert_int_equal(compare("mode=htm", 3, 3, difference), 0);
    assert_int_equal(compare("mode=btm icnt-bits=2 src-bits=4 src-id=9", 3, 3, difference), 0);
    assert_int_equal(compare("mode=btm icnt-bits=2 icnt-full=sync", 3, 3, difference), 0);
    assert_string_equal(difference, "");
}

static void other_executions_are_different(void **state) {
    (void)state;
    char difference[400];
    assert_int_equal(compare("mode=btm", 2, 3, difference), 1);
    assert_string_equal(difference, "step 3: the design has a stop at 0x10000 (message 4 @0xb), the model 0x10000 to "
                                    "0x10010 (message 4 @0xb)");
}

static void comparison_needs_its_program(void **state) {
    (void)state;
    void *handle = ntr_dpi_compare_new("/nonexistent", "", "");
    assert_non_null(strstr(ntr_dpi_compare_error(handle), "/nonexistent"));
    assert_int_equal(ntr_dpi_compare_finish(handle), NTR_E_STATE);
    ntr_dpi_compare_free(handle);
}

static void checker_names_the_rule(void **state) {
    (void)state;
    static const uint8_t stream[] = {0x24, 0x21, 0x00, 0x80, 0x0b}; /* SYNC=8 */
    unsigned severity;
    void *check = ntr_dpi_check_new("", "");
    assert_string_equal(ntr_dpi_check_error(check), "");
    for (size_t i = 0; i < sizeof stream; i++) assert_int_equal(ntr_dpi_check_byte(check, stream[i]), NTR_OK);
    assert_int_equal(ntr_dpi_check_finish(check), NTR_OK);
    const char *finding = ntr_dpi_check_take(check, &severity);
    assert_string_equal(
        finding, "sync-reserved: message 1 @0x0 ProgTraceSync SYNC: SYNC must not have a reserved value (section 8)");
    assert_int_equal(severity, NTR_SEVERITY_ERROR);
    assert_string_equal(ntr_dpi_check_take(check, &severity), "");
    ntr_dpi_check_free(check);
}

static void records_are_replayed(void **state) {
    (void)state;
    char path[] = "/tmp/dpi-XXXXXX";
    static const char text[] = "iaddr,iretire,itype,halted\n# two blocks\n0x100,4,4,0\n0x108,0,0,1\nx,1,1,0\n";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(file);
    uint64_t iaddr, stamp;
    unsigned iretire, ilastsize, itype, priv, flags;
    void *replay = ntr_dpi_replay_new(path);
#define NEXT() ntr_dpi_replay_next(replay, &iaddr, &iretire, &ilastsize, &itype, &priv, &flags, &stamp)
    assert_int_equal(NEXT(), 1);
    assert_true(iaddr == 0x100 && iretire == 4 && itype == 4 && !flags);
    assert_int_equal(NEXT(), 1);
    assert_true(iaddr == 0x108 && flags == NTR_DPI_HALTED);
    assert_int_equal(NEXT(), NTR_E_SYNTAX);
    assert_string_equal(ntr_dpi_replay_error(replay), "line 5: column iaddr: \"x\" is no number");
    ntr_dpi_replay_free(replay);
    replay = ntr_dpi_replay_new("/nonexistent");
    assert_int_equal(NEXT(), NTR_E_STATE);
    assert_string_equal(ntr_dpi_replay_error(replay), "/nonexistent: No such file or directory");
    ntr_dpi_replay_free(replay);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(encoder_sends_what_the_library_sends),
        TEST(encoder_tells_what_is_wrong),
        TEST(messages_have_a_text),
        TEST(other_messages_are_the_same_execution),
        TEST(other_executions_are_different),
        TEST(comparison_needs_its_program),
        TEST(checker_names_the_rule),
        TEST(records_are_replayed),
    };
    return cmocka_run_group_tests(tests, write_program, remove_program);
}
