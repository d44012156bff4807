/* What the exporters write of a program whose counts are known by hand (world.h), against the files of golden/, which
 * tests/analysis/golden.py gives to the tools that the formats are for. */
#include "world.h"

#include <ntrace/version.h>

enum { OUTPUT_MAX = 1 << 20 };

typedef struct output_text {
    char text[OUTPUT_MAX];
    size_t size;
} output_text;

static ntr_status formats_take(void *user, const void *bytes, size_t size) {
    output_text *out = user;
    assert_true(out->size + size < OUTPUT_MAX);
    memcpy(out->text + out->size, bytes, size);
    out->size += size;
    out->text[out->size] = 0;
    return NTR_OK;
}

static void formats_export(const world *w, const char *family, const char *format, output_text *out) {
    ntr_output output;
    ntr_output_init(&output);
    out->size = 0;
    output.write = formats_take;
    output.user = out;
    ntr_export *x;
    ntr_status status = ntr_export_new(ntr_exporter_find(family, format), &w->analysis, &output, &x);
    if (!x) fail_msg("%s: %s", format, ntr_status_name(status));
    if (ntr_exporter_needs(ntr_exporter_find(family, format)) & NTR_NEEDS_EVENTS)
        assert_int_equal(ntr_export_feed(x, w->events, w->event_count), NTR_OK);
    assert_int_equal(ntr_export_finish(x), NTR_OK);
    ntr_export_free(x);
}

/* The files have no version of ntrace. */
static void formats_omit_version(output_text *out) {
    static const char version[] = "ntrace " NTR_VERSION_TEXT;
    char *at = strstr(out->text, version);
    if (!at) return;
    const size_t cut = sizeof version - sizeof "ntrace";
    char *rest = at + sizeof version - 1;
    memmove(rest - cut, rest, (size_t)(out->text + out->size + 1 - rest));
    out->size -= cut;
}

/* Fails with the first line that differs. */
static void formats_compare(const char *name, output_text *out) {
    static char golden[OUTPUT_MAX];
    char path[4096];
    const char *root = getenv("NTRACE_SOURCE_ROOT");
    snprintf(path, sizeof path, "%s/tests/unit/export/golden/%s", root ? root : ".", name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s: not found", path);
    const size_t size = fread(golden, 1, sizeof golden, file);
    fclose(file);
    formats_omit_version(out);
    size_t same = 0, line = 1, start = 0;
    for (; same < size && same < out->size && golden[same] == out->text[same]; same++)
        if (golden[same] == '\n') line++, start = same + 1;
    if (same == size && same == out->size) return;
    fail_msg("%s, line %zu: expected '%.*s', found '%.*s'", name, line, (int)strcspn(golden + start, "\n"),
             golden + start, (int)strcspn(out->text + start, "\n"), out->text + start);
}

static const struct {
    const char *family, *format, *golden;
} formats_listed[] = {
    {"export", "callgrind", "callgrind.out"},
    {"export", "dot", "calls.dot"},
    {"export", "calltree", "calltree.jsonl"},
    {"export", "bolt", "bolt.txt"},
    {"export", "autofdo", "autofdo.txt"},
    {"export", "llvm-unsymbolized", "llvm.txt"},
    {"export", "perf-script", "perf.txt"},
    {"export", "ctxp", "ctxp.txt"},
    {"flame", "folded", "folded.txt"},
    {"flame", "speedscope", "speedscope.json"},
    {"coverage", "lcov", "lcov.info"},
    {"coverage", "cobertura", "cobertura.xml"},
    {"coverage", "json", "coverage.json"},
    {"coverage", "summary", "coverage.txt"},
    {"timeline", "chrome", "chrome.json"},
    {"timeline", "firefox", "firefox.json"},
    {"timeline", "perfetto", "perfetto.pftrace"},
};

static void formats(void **state) {
    (void)state;
    static world w;
    static output_text out;
    world_begin(&w);
    if (!world_has_lines(&w)) {
        world_end(&w);
        SKIP_TEST("build-dwarf");
    }
    for (size_t i = 0; i < sizeof formats_listed / sizeof *formats_listed; i++) {
        formats_export(&w, formats_listed[i].family, formats_listed[i].format, &out);
        formats_compare(formats_listed[i].golden, &out);
    }
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(formats)};
    return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
