/* ntr_export: errors. tests/analysis compares the output. */
#include "../test.h"

#include <ntrace/ntrace.h>
#include <ntrace/tools.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct rig {
    ntr_program *program;
    ntr_analysis analysis;
    ntr_output output;
    ntr_status written; /* result of `write` */
} rig;

static ntr_status write_nothing(void *user, const void *bytes, size_t size) {
    (void)bytes, (void)size;
    return ((rig *)user)->written;
}

static void start(rig *r) {
    static const uint8_t nop[] = {0x01, 0x00};
    ntr_program_new(NULL, &r->program);
    ntr_image_options image;
    ntr_image_options_init(&image);
    image.bias = 0x1000;
    assert_int_equal(ntr_program_add_raw(r->program, (ntr_bytes){nop, sizeof nop}, &image), NTR_OK);
    ntr_analysis_init(&r->analysis);
    r->analysis.program = r->program;
    ntr_debug_info_new(r->program, NULL, &r->analysis.debug);
    ntr_functions_new(r->analysis.debug, NULL, &r->analysis.functions);
    ntr_tally_new(NULL, NULL, &r->analysis.tally);
    ntr_calltree_new(r->analysis.functions, NULL, &r->analysis.tree);
    ntr_calltree_finish(r->analysis.tree);
    ntr_output_init(&r->output);
    r->output.write = write_nothing;
    r->output.user = r;
    r->written = NTR_OK;
}

static void end(rig *r) {
    ntr_calltree_free(r->analysis.tree);
    ntr_tally_free(r->analysis.tally);
    ntr_functions_free(r->analysis.functions);
    ntr_debug_info_free(r->analysis.debug);
    ntr_program_free(r->program);
}

static void errors_of_the_output_are_described(void **state) {
    (void)state;
    rig r;
    start(&r);
    for (int fails = 0; fails < 2; fails++) {
        r.written = fails ? NTR_E_IO : NTR_OK;
        ntr_export *x;
        ntr_export_new(ntr_exporter_find("export", "callgrind"), &r.analysis, &r.output, &x);
        assert_string_equal(ntr_export_error(x), "");
        assert_int_equal(ntr_export_finish(x), r.written);
        assert_string_equal(ntr_export_error(x), fails ? "the output cannot be written: input or output failed" : "");
        ntr_export_free(x);
    }
    end(&r);
}

/* The file may not grow when the tables are written. */
static void errors_of_sqlite_are_described(void **state) {
    (void)state;
    const ntr_exporter *sqlite = ntr_exporter_find("export", "sqlite");
    if (!sqlite) SKIP_TEST("build-sqlite");
    char path[] = "/tmp/test-export-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    rig r;
    start(&r);
    r.output.path = path;
    ntr_export *x;
    ntr_export_new(sqlite, &r.analysis, &r.output, &x);
    assert_non_null(x);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 1, .rlim_max = before.rlim_max});
    ntr_status status = ntr_export_finish(x);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, NTR_E_IO);
    assert_memory_equal(ntr_export_error(x), "SQLite: ", 8);
    assert_true(strlen(ntr_export_error(x)) > 8);
    assert_null(strstr(ntr_export_error(x), "not an error"));
    ntr_export_free(x);
    unlink(path);
    end(&r);
}

/* The file cannot be made. */
static void errors_of_opening_sqlite_are_described(void **state) {
    (void)state;
    const ntr_exporter *sqlite = ntr_exporter_find("export", "sqlite");
    if (!sqlite) SKIP_TEST("build-sqlite");
    rig r;
    start(&r);
    r.output.path = "/nonexistent/folder/file.db";
    ntr_export *x;
    ntr_export_new(sqlite, &r.analysis, &r.output, &x);
    assert_non_null(x);
    assert_int_equal(ntr_export_finish(x), NTR_E_IO);
    assert_non_null(strstr(ntr_export_error(x), "SQLite: unable to open database file"));
    ntr_export_free(x);
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(errors_of_the_output_are_described), TEST(errors_of_sqlite_are_described),
                                       TEST(errors_of_opening_sqlite_are_described)};
    return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
