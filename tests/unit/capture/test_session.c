/* A session from outside, with commands in the place of QEMU: what is refused, and what is left behind. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../program/elf_builder.h"
#include "../test.h"
#include "capture/session.h"

#include <ntrace/bundle.h>
#include <ntrace/capture.h>
#include <sys/stat.h>

typedef struct scene {
    elf_builder program;
    char folder[32], bundle[64];
    const char *command[3];
    ntr_capture_config config;
    ntr_capture *session;
} scene;

static void begin_of(scene *s, const char *qemu, bool wide) {
    memset(s, 0, sizeof *s);
    elf_begin(&s->program, wide);
    elf_segment(&s->program, 1, 0, 0x10000, 0x400, 0x400);
    assert_int_equal(elf_write(&s->program), 0);
    assert_int_equal(chmod(s->program.path, 0700), 0);
    snprintf(s->folder, sizeof s->folder, "/tmp/ntrace-unit-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->bundle, sizeof s->bundle, "%s/x.ntrace", s->folder);
    s->command[0] = s->program.path;
    ntr_capture_config_init(&s->config);
    s->config.command = s->command;
    s->config.bundle = s->bundle;
    s->config.plugin = "/dev/null";
    s->config.qemu = qemu;
}

static void begin(scene *s, const char *qemu) {
    begin_of(s, qemu, true);
}

static ntr_status start(scene *s) {
    ntr_capture_new(&s->config, &s->session);
    assert_non_null(s->session);
    return ntr_capture_start(s->session);
}

/* Nothing is left of a bundle that was not finished. */
static void end(scene *s) {
    ntr_capture_free(s->session);
    elf_end(&s->program);
    assert_int_equal(rmdir(s->folder), 0);
}

static void refused(scene *s, ntr_status expected, const char *sentence) {
    assert_int_equal(start(s), expected);
    if (!strstr(ntr_capture_error(s->session), sentence)) fail_msg("found: %s", ntr_capture_error(s->session));
    assert_int_equal(ntr_capture_process(s->session), 0);
    assert_int_equal(ntr_capture_step(s->session), NTR_E_STATE);
    assert_int_equal(ntr_capture_finish(s->session), NTR_E_STATE);
    end(s);
}

static void what_cannot_start(void **state) {
    static const char topology[] = "{\"components\": []}", damaged[] = "{";
    scene s;

    (void)state;
    begin(&s, "true");
    s.config.bundle = NULL;
    refused(&s, NTR_E_INVALID, "a capture needs a program and a bundle");

    begin(&s, "true");
    s.command[0] = "/nowhere/at/all";
    refused(&s, NTR_E_IO, "/nowhere/at/all: No such file or directory");

    begin(&s, "true");
    s.command[0] = "/dev/null";
    refused(&s, NTR_E_FORMAT, "/dev/null: expected a program for RISC-V (ELF), found another kind of file");

    begin(&s, "true");
    s.config.bundle = "/nowhere/at/all.ntrace";
    refused(&s, NTR_E_IO, "/nowhere/at/all.ntrace");

    begin(&s, "true");
    s.config.plugin = "/nowhere/plugin.so";
    refused(&s, NTR_E_IO, "/nowhere/plugin.so: No such file or directory");

    begin(&s, "/nowhere/qemu");
    refused(&s, NTR_E_IO, "/nowhere/qemu: not found");

    begin(&s, "true");
    s.config.topology = (ntr_bytes){(const uint8_t *)damaged, sizeof damaged - 1};
    s.config.topology_name = "soc.json";
    refused(&s, NTR_E_SYNTAX, "soc.json: ");

    begin(&s, "true");
    s.config.topology = (ntr_bytes){(const uint8_t *)topology, sizeof topology - 1};
    assert_true(start(&s) < 0);
    assert_true(*ntr_capture_error(s.session));
    end(&s);
}

/* Addresses of loads and stores of an RV32 program: with an extended sign, without, and no such addresses. */
static void ranges_of_32_bits(void **state) {
    static const struct {
        uint64_t first, last;
        bool fits;
    } ranges[] = {{0, UINT64_MAX, true},
                  {0x80000000, 0x80000fff, true},
                  {UINT64_C(0xffffffff80000000), UINT64_C(0xffffffff80000fff), true},
                  {0x1000, UINT64_C(0xffffffff80000fff), true},
                  {UINT64_C(0x180000000), UINT64_C(0x180000fff), false},
                  {0x80000000, UINT64_C(0x180000fff), false},
                  {UINT64_C(0xffffffff80000000), UINT64_MAX, true}};
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        scene s;
        begin_of(&s, "false", false);
        s.config.accesses = true;
        s.config.access_first = ranges[i].first;
        s.config.access_last = ranges[i].last;
        if (ranges[i].fits) {
            assert_int_equal(start(&s), NTR_OK);
            end(&s);
        } else {
            refused(&s, NTR_E_INVALID, "expected a range of 32-bit addresses, found 0x");
        }
    }
}

/* Where tracing begins and ends in an RV32 program, with an extended sign; RV64 has these addresses. */
static void places_of_32_bits(void **state) {
    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        scene s;
        begin_of(&s, "false", wide);
        s.config.start_at = "0xffffffff80001020";
        s.config.stop_at = "0x1040";
        assert_int_equal(start(&s), NTR_OK);
        const struct ntr_capture_window *window = &s.session->harts.window;
        assert_int_equal(window->start.addresses[0], wide ? UINT64_C(0xffffffff80001020) : 0x80001020);
        assert_int_equal(window->stop.addresses[0], 0x1040);
        end(&s);
    }
}

/* QEMU that knows no plugins, or another program. */
static void no_plugin(void **state) {
    ntr_status status;
    scene s;

    (void)state;
    begin(&s, "false");
    assert_int_equal(start(&s), NTR_OK);
    assert_true(ntr_capture_process(s.session) > 0);
    assert_int_equal(ntr_capture_start(s.session), NTR_E_STATE);
    do status = ntr_capture_step(s.session);
    while (status == NTR_NEED_MORE);
    assert_int_equal(status, NTR_OK);
    assert_int_equal(ntr_capture_exit_status(s.session), 1);
    assert_true(ntr_capture_process(s.session) > 0); /* still valid */
    assert_int_equal(ntr_capture_finish(s.session), NTR_E_FORMAT);
    assert_non_null(strstr(ntr_capture_error(s.session), "QEMU ended without the capture plugin"));
    assert_int_equal(ntr_capture_process(s.session), 0);
    assert_null(ntr_capture_loss(s.session, 0));
    end(&s);
}

/* A session that is freed while its program runs does not leave the program behind. */
static void freed_while_it_runs(void **state) {
    static const char *const endless[] = {"-c", "while :; do sleep 1; done"};
    scene s;

    (void)state;
    begin(&s, "sh");
    s.config.qemu_options = endless;
    s.config.qemu_option_count = 2;
    assert_int_equal(start(&s), NTR_OK);
    int process = ntr_capture_process(s.session);
    assert_int_equal(ntr_capture_step(s.session), NTR_NEED_MORE);
    end(&s);
    char path[32];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d", process);
    assert_int_equal(stat(path, &about), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(what_cannot_start), TEST(ranges_of_32_bits), TEST(places_of_32_bits),
                                       TEST(no_plugin), TEST(freed_while_it_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
