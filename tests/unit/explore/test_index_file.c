/* The index as a file: what is loaded answers as what was made; other keys and damaged files are refused. */
#include "../replay/scene_stream.h"

#include "base/bytes.h"

#include <ntrace/explore.h>

enum { ROOM = 8 << 20, HEAD = 92 }; /* bytes before the numbers; the last 8 are their hash */

static scene s;
static scene_stream in;

typedef struct opened {
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_explorer *explorer;
} opened;

typedef struct file {
    uint8_t bytes[ROOM];
    size_t size;
} file;

static const ntr_bytes key = {(const uint8_t *)"key", 3}, other = {(const uint8_t *)"kez", 3};

static const char *const questions[] = {
    "{\"query\":\"about\"}",
    "{\"query\":\"overview\",\"columns\":7}",
    "{\"query\":\"slices\",\"least\":0}",
    "{\"query\":\"tree\"}",
    "{\"query\":\"functions\"}",
    "{\"query\":\"gaps\"}",
    "{\"query\":\"names\"}",
    "{\"query\":\"at\",\"position\":300}",
    "{\"query\":\"find\",\"text\":\"gap\"}",
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static ntr_status open_stream(void *user, ntr_stream_reader **out) {
    return scene_stream_open(user, out);
}

/* Two harts; a function that is called in a loop; a gap. */
static void set_scene(unsigned rounds, unsigned halfwords) {
    ntr_image_options named;
    const uint32_t words[] = {jal(1, 8), jal(0, -4), ADD, RET, CODE_END};
    scene_start(&s, NULL);
    memset(&in, 0, sizeof in);
    s.config.params.src_bits = 1;
    s.config.params.implicit_return = 3;
    ntr_image_options_init(&named);
    named.name = "loop";
    add_code_for(&s, 0x1000, words, &named);
    const ntr_params *params = &s.config.params;
    assemble(&in.in, params,
             "ProgTraceSync SRC=0 SYNC=3 ICNT=0 FADDR=0x800\nProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x800\n");
    for (unsigned i = 0; i < rounds; i++) {
        char text[200];
        snprintf(text, sizeof text, "ResourceFull SRC=0 RCODE=0 RDATA0=%u\nResourceFull SRC=1 RCODE=0 RDATA0=80\n",
                 halfwords);
        assemble(&in.in, params, text);
    }
    assemble(
        &in.in, params,
        "Error SRC=0 ETYPE=0\nProgTraceSync SRC=0 SYNC=7 ICNT=0 FADDR=0x800\nResourceFull SRC=0 RCODE=0 RDATA0=64\n");
}

static opened start(void) {
    opened o;
    ntr_explorer_config config;
    ntr_debug_info_new(s.program, NULL, &o.debug);
    ntr_functions_new(o.debug, NULL, &o.functions);
    ntr_explorer_config_init(&config);
    config.decoder = &s.config;
    config.debug = o.debug;
    config.functions = o.functions;
    config.open = open_stream;
    config.user = &in;
    assert_int_equal(ntr_explorer_new(&config, &o.explorer), NTR_OK);
    return o;
}

static void end(opened *o) {
    ntr_explorer_free(o->explorer);
    ntr_functions_free(o->functions);
    ntr_debug_info_free(o->debug);
}

static void finish(const opened *o) {
    while (ntr_explorer_work(o->explorer) == NTR_END) {
    }
    assert_true(ntr_explorer_progress(o->explorer).complete);
}

static char *answer(const opened *o, const char *question) {
    ntr_bytes text;
    assert_int_equal(ntr_explorer_ask(o->explorer, question, strlen(question), &text), NTR_OK);
    return strndup((const char *)text.data, text.size);
}

static ntr_status append(void *user, const void *bytes, size_t size) {
    file *f = user;
    assert_true(size <= ROOM - f->size);
    if (size) memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
    return NTR_OK;
}

static ntr_status save(const opened *o, file *f) {
    ntr_output output;
    ntr_output_init(&output);
    output.write = append;
    output.user = f;
    f->size = 0;
    return ntr_explorer_save(o->explorer, key, &output);
}

/* The file of the index of the scene. */
static void make_file(file *f) {
    opened o = start();
    assert_int_equal(save(&o, f), NTR_E_STATE);
    finish(&o);
    assert_int_equal(save(&o, f), NTR_OK);
    end(&o);
}

static ntr_status load(const opened *o, const file *f, size_t size) {
    return ntr_explorer_load(o->explorer, key, (ntr_bytes){f->bytes, size});
}

static void answers_are_equal(void **state) {
    (void)state;
    static file f, again;
    char *whole[QUESTIONS];
    set_scene(40, 120000); /* more than a question walks over */
    opened o = start();
    assert_int_equal(save(&o, &f), NTR_E_STATE);
    finish(&o);
    assert_int_equal(save(&o, &f), NTR_OK);
    for (size_t i = 0; i < QUESTIONS; i++) whole[i] = answer(&o, questions[i]);
    const uint64_t known = ntr_explorer_progress(o.explorer).known;
    end(&o);
    o = start();
    assert_int_equal(load(&o, &f, f.size), NTR_OK);
    for (size_t i = 0; i < 7; i++) { /* before anything is read */
        char *early = answer(&o, questions[i]);
        assert_memory_equal(early, whole[i], (size_t)(strstr(whole[i], "\"progress\"") - whole[i]));
        free(early);
    }
    assert_false(ntr_explorer_progress(o.explorer).read);
    assert_int_equal(ntr_explorer_progress(o.explorer).known, known);
    finish(&o);
    for (size_t i = 0; i < QUESTIONS; i++) {
        char *late = answer(&o, questions[i]);
        assert_string_equal(late, whole[i]);
        free(late);
        free(whole[i]);
    }
    assert_int_equal(save(&o, &again), NTR_OK);
    assert_int_equal(again.size, f.size);
    assert_memory_equal(again.bytes, f.bytes, f.size);
    assert_int_equal(load(&o, &f, f.size), NTR_E_STATE);
    end(&o);
    scene_end(&s);
}

static void others_are_refused(void **state) {
    (void)state;
    static file f;
    set_scene(2, 640);
    make_file(&f);
    opened o = start();
    assert_int_equal(ntr_explorer_load(o.explorer, other, (ntr_bytes){f.bytes, f.size}), NTR_END);
    for (size_t size = 0; size < f.size; size++) assert_int_equal(load(&o, &f, size), NTR_E_FORMAT);
    for (size_t i = 0; i < f.size; i++) {
        f.bytes[i] ^= 0x10;
        assert_true(load(&o, &f, f.size) != NTR_OK || (i >= 15 && i < HEAD - 16)); /* behind the key nothing is used */
        if (ntr_explorer_progress(o.explorer).known) {
            end(&o);
            o = start();
        }
        f.bytes[i] ^= 0x10;
    }
    assert_int_equal(load(&o, &f, f.size), NTR_OK);
    end(&o);
    scene_end(&s);
}

/* A file that someone else has made, with a hash that is right: it is refused, or its questions have answers. */
static void made_elsewhere(void **state) {
    (void)state;
    static file f;
    unsigned refused = 0, taken = 0;
    set_scene(2, 640);
    make_file(&f);
    for (size_t i = HEAD; i < f.size; i += 3)
        for (unsigned bit = i % 4; bit < 8; bit += 4) {
            opened o = start();
            f.bytes[i] ^= (uint8_t)(1u << bit);
            ntr_little_put(f.bytes + HEAD - 8, ntr_hash(NTR_HASH_START, f.bytes + HEAD, f.size - HEAD), 8);
            const ntr_status status = load(&o, &f, f.size);
            status == NTR_OK ? taken++ : refused++;
            for (size_t k = 0; status == NTR_OK && k < QUESTIONS; k++) free(answer(&o, questions[k]));
            finish(&o);
            for (size_t k = 0; k < QUESTIONS; k++) free(answer(&o, questions[k]));
            f.bytes[i] ^= (uint8_t)(1u << bit);
            end(&o);
        }
    assert_true(refused > 50);
    assert_true(taken > 10);
    scene_end(&s);
}

static void another_trace_is_noticed(void **state) {
    (void)state;
    static file f;
    set_scene(2, 640);
    make_file(&f);
    scene_end(&s);
    set_scene(3, 640);
    opened o = start();
    finish(&o);
    char *made = answer(&o, questions[0]);
    end(&o);
    o = start();
    assert_int_equal(load(&o, &f, f.size), NTR_OK); /* the key is the caller's */
    finish(&o);
    char *loaded = answer(&o, questions[0]);
    assert_string_equal(loaded, made);
    free(made);
    free(loaded);
    end(&o);
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(answers_are_equal), TEST(others_are_refused), TEST(made_elsewhere),
                                       TEST(another_trace_is_noticed)};
    return cmocka_run_group_tests_name("index_file", tests, NULL, NULL);
}
