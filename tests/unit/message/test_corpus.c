/* Traces from other producers: every stream of ../shared/corpus reads without a defect and survives the way
 * to text and back. */
#include "../test.h"

#include "stream.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char corpus[4096];

static bool have_corpus(void) {
    const char *shared = getenv("NTRACE_SHARED"), *root = getenv("NTRACE_SOURCE_ROOT");
    if (shared)
        snprintf(corpus, sizeof corpus, "%s/corpus", shared);
    else
        snprintf(corpus, sizeof corpus, "%s/../shared/corpus", root ? root : ".");
    return access(corpus, R_OK) == 0;
}

typedef struct loaded {
    uint8_t *bytes;
    size_t size;
} loaded;

static loaded load(const char *path) {
    assert_int_equal(setenv("NTRACE_STREAM", path, 1), 0);
    FILE *pipe = popen("zstd -dcfq \"$NTRACE_STREAM\"", "r"); /* passes plain files through */
    assert_non_null(pipe);
    loaded file = {NULL, 0};
    size_t room = 0, got;
    do {
        if (file.size == room) file.bytes = realloc(file.bytes, room = room * 2 + 65536);
        got = fread(file.bytes + file.size, 1, room - file.size, pipe);
        file.size += got;
    } while (got);
    assert_int_equal(pclose(pipe), 0);
    assert_true(file.size > 0);
    return file;
}

/* A sample of the messages is enough for the slow forms: the streams repeat themselves. */
static void check_some(void *user, const ntr_params *params, const ntr_message *m) {
    uint64_t *most = user;
    if (m->number <= *most || m->number % 61 == 0) check_round_trip(NULL, params, m);
}

static void check_reference(const char *path, const ntr_params *params) {
    loaded file = load(path);
    uint64_t most = 2000;
    totals whole = read_stream(params, file.bytes, file.size, file.size, check_some, &most);
    totals pieces = read_stream(params, file.bytes, file.size, 4099, NULL, NULL);
    print_message("# %s: %llu messages\n", path + strlen(corpus), (unsigned long long)whole.messages);
    if (whole.defects) fail_msg("%s: %llu defects", path, (unsigned long long)whole.defects);
    assert_true(whole.hash == pieces.hash);
    free(file.bytes);
}

static void reference_streams_have_no_defect(void **state) {
    (void)state;
    if (!have_corpus()) SKIP_TEST("corpus");
    char pattern[4200];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/refcode/*/*.nex.zst", corpus);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    ntr_params params;
    ntr_params_init(&params, ntr_dialect_find("refcode"));
    params.timestamps = NTR_TIMESTAMPS_OFF;
    for (size_t i = 0; i < found.gl_pathc; i++) check_reference(found.gl_pathv[i], &params);
    globfree(&found);
}

typedef struct capture {
    const char *name, *dialect;
    uint8_t src_bits;
    bool cut; /* the capture ends inside a message */
} capture;

static const capture captures[] = {
    {"dv-650", "sifive-pre1.0", 4},
    {"dv-850", "sifive-pre1.0"},
    {"dv-uaddr1", "sifive-pre1.0"},
    {"e31_coremark_release", "sifive-pre1.0", .cut = true},
    {"e31_hello_debug", "sifive-pre1.0"},
    {"eol", "sifive-pre1.0"},
    {"event-call", "sifive-pre1.0", .cut = true},
    {"itc_printf", "sifive-pre1.0"},
    {"pc-sample-itc", "sifive-pre1.0"},
    {"timestamp", "sifive-pre1.0", .cut = true},
    {"linux-static", "p550", 2},
};

/* The published decoder's list of messages: "number,src,tcode,..." a line. */
typedef struct listing {
    char *text, *at;
} listing;

static void check_listed(void *user, const ntr_params *params, const ntr_message *m) {
    listing *list = user;
    check_round_trip(NULL, params, m);
    if (!list->at || m->defect != NTR_OK) return;
    assert_int_equal(m->number, strtoull(list->at, &list->at, 10));
    assert_int_equal(NTR_HAS(m, SRC) ? m->src : 0, strtoull(list->at + 1, &list->at, 10));
    assert_int_equal(m->tcode, strtoull(list->at + 1, &list->at, 10));
    list->at = strchr(list->at, '\n') + 1;
}

static listing open_listing(const char *name) {
    char path[4200];
    listing list = {NULL, NULL};
    for (const char *const *form = (const char *const[]){"", ".zst", NULL}; *form; form++) {
        snprintf(path, sizeof path, "%s/silicon/%s/messages.csv%s", corpus, name, *form);
        if (access(path, R_OK)) continue;
        loaded file = load(path);
        list.text = realloc(file.bytes, file.size + 1);
        list.text[file.size] = '\0';
        list.at = strchr(list.text, '\n') + 1;
    }
    return list;
}

static void silicon_captures_read_as_published(void **state) {
    (void)state;
    if (!have_corpus()) SKIP_TEST("corpus");
    for (size_t i = 0; i < sizeof captures / sizeof captures[0]; i++) {
        char path[4200];
        ntr_params params;
        ntr_params_init(&params, ntr_dialect_find(captures[i].dialect));
        params.src_bits = captures[i].src_bits;
        snprintf(path, sizeof path, "%s/silicon/%s/trace.rtd", corpus, captures[i].name);
        print_message("# %s\n", path);
        loaded file = load(path);
        listing list = open_listing(captures[i].name);
        totals t = read_stream(&params, file.bytes, file.size, 1000, check_listed, &list);
        assert_int_equal(t.defects, captures[i].cut);
        if (list.text) assert_int_equal(*list.at, '\0'); /* all of it was seen */
        free(list.text);
        free(file.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reference_streams_have_no_defect),
        TEST(silicon_captures_read_as_published),
    };
    return cmocka_run_group_tests_name("corpus", tests, NULL, NULL);
}
