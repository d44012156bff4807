/* Each rule, with its streams of tests/corpus/check: the bad one violates this rule alone, once; the good one none. The
 * same is true with another source between all messages, which conforms, and however the bytes are divided. */
#include "../test.h"

#include <ntrace/tools.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCENE_BYTES = 8192, SCENE_LINES = 64, SCENE_IMAGE = 0x716, SCENE_BASE = 0x100 };

typedef struct scene_part {
    char *lines[SCENE_LINES];
    size_t count;
} scene_part;

typedef struct scene {
    char text[16384];
    ntr_check_config config;
    bool program;
    scene_part bad, good;
} scene;

/* The program of tests/cli/check.py and tiny.py: halfwords, 0 where nothing is. */
static ntr_program *scene_program(void) {
    static const struct {
        uint16_t address, size;
        uint32_t word;
    } code[] = {
        {0x100, 2, 0x908a},     {0x102, 4, 0x0e000f63}, {0x106, 4, 0x003100b3}, {0x10a, 4, 0x1e000b63},
        {0x10e, 2, 0x908a},     {0x110, 4, 0x003100b3}, {0x114, 2, 0x9002},     {0x200, 2, 0x908a},
        {0x202, 2, 0x9002},     {0x206, 2, 0x908a},     {0x208, 4, 0xfe000fe3}, {0x20c, 2, 0x9002},
        {0x300, 4, 0x003100b3}, {0x304, 2, 0x9002},     {0x400, 4, 0x100000ef}, {0x404, 2, 0x8782},
        {0x406, 2, 0x9002},     {0x500, 2, 0x908a},     {0x502, 2, 0x8082},     {0x600, 2, 0xa001},
    };
    static uint8_t image[SCENE_IMAGE];
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        for (unsigned k = 0; k < code[i].size; k++)
            image[code[i].address - SCENE_BASE + k] = (uint8_t)(code[i].word >> 8 * k);
    const ntr_image_options at = {.size = sizeof at, .bias = SCENE_BASE};
    ntr_program *program;
    ntr_program_new(NULL, &program);
    assert_int_equal(ntr_program_add_raw(program, (ntr_bytes){image, sizeof image}, &at), NTR_OK);
    return program;
}

static void scene_option(scene *s, const char *name, const char *value) {
    ntr_params *p = &s->config.params;
    if (strcmp(name, "--src-bits") == 0)
        p->src_bits = (uint8_t)atoi(value);
    else if (strcmp(name, "--xlen") == 0)
        p->xlen = (uint8_t)atoi(value);
    else if (strcmp(name, "--ts-width") == 0)
        p->ts_width = (uint8_t)atoi(value);
    else if (strcmp(name, "--sync-period") == 0)
        s->config.sync_period = (uint32_t)atoi(value);
    else if (strcmp(name, "--implicit-return") == 0 && strcmp(value, "full") == 0)
        p->implicit_return = NTR_RETURN_FULL;
    else
        fail_msg("unknown option %s", name);
}

static void scene_read(scene *s, const char *rule) {
    char path[4096];
    const char *root = getenv("NTRACE_SOURCE_ROOT");
    scene_part *part = NULL;
    memset(s, 0, sizeof *s);
    ntr_check_config_init(&s->config);
    snprintf(path, sizeof path, "%s/tests/corpus/check/%s.txt", root ? root : ".", rule);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s: not found", path);
    s->text[fread(s->text, 1, sizeof s->text - 1, file)] = 0;
    fclose(file);
    for (char *line = strtok(s->text, "\n"), *next; line; line = next) {
        next = strtok(NULL, "\n");
        if (strncmp(line, "options: ", 9) == 0) {
            char name[32], value[32];
            assert_int_equal(sscanf(line + 9, "%31s %31s", name, value), 2);
            scene_option(s, name, value);
        } else if (strcmp(line, "program") == 0) {
            s->program = true;
        } else if (strcmp(line, "bad:") == 0 || strcmp(line, "good:") == 0) {
            part = line[0] == 'b' ? &s->bad : &s->good;
        } else {
            assert_true(part && part->count < SCENE_LINES);
            part->lines[part->count++] = line;
        }
    }
    assert_true(s->bad.count && s->good.count);
}

/* ---- streams */

typedef struct scene_stream {
    uint8_t bytes[SCENE_BYTES];
    size_t size;
} scene_stream;

static void scene_add(scene_stream *out, const ntr_params *params, const char *line) {
    if (strncmp(line, "bytes ", 6) == 0) {
        char *end;
        for (const char *at = line + 6; *at; at = end) {
            assert_true(out->size < SCENE_BYTES);
            out->bytes[out->size++] = (uint8_t)strtoul(at, &end, 16);
        }
        return;
    }
    const int n = ntr_message_assemble(params, line, out->bytes + out->size, SCENE_BYTES - out->size, NULL);
    if (n < 0) fail_msg("cannot assemble '%s': %s", line, ntr_status_name((ntr_status)n));
    out->size += (size_t)n;
}

/* As `ntrace assemble`, which knows no option but the width of SRC. */
static ntr_params scene_assembler(const scene *s) {
    ntr_params params;
    ntr_params_init(&params, NULL);
    params.src_bits = s->config.params.src_bits;
    return params;
}

/* The messages of source 1, each after one of source 0, which runs a loop. */
static void scene_interleave(const scene *s, const scene_part *part, scene_stream *out) {
    const ntr_params params = scene_assembler(s);
    char line[512];
    out->size = 0;
    scene_add(out, &params, "ProgTraceSync SRC=0 SYNC=3 ICNT=0 FADDR=0x103");
    for (size_t i = 0; i < part->count; i++) {
        scene_add(out, &params, "DirectBranch SRC=0 ICNT=3");
        snprintf(line, sizeof line, "%s SRC=1", part->lines[i]);
        scene_add(out, &params, line);
    }
    scene_add(out, &params, "DirectBranch SRC=0 ICNT=3");
}

/* ---- findings */

typedef struct scene_findings {
    char text[512];
    bool other_source;
} scene_findings;

static void scene_found(void *user, const ntr_finding *f) {
    scene_findings *all = user;
    strncat(all->text, f->rule->id, sizeof all->text - strlen(all->text) - 2);
    strcat(all->text, " ");
    assert_true(f->severity == f->rule->severity);
    all->other_source |= f->has_source && f->src == 0;
}

static void scene_check(const scene *s, const scene_stream *in, size_t piece, scene_findings *all) {
    ntr_check_config config = s->config;
    ntr_status status;
    memset(all, 0, sizeof *all);
    config.found = scene_found;
    config.user = all;
    ntr_program *program = s->program ? scene_program() : NULL;
    config.program = program;
    ntr_check *check;
    status = ntr_check_new(&config, &check);
    assert_int_equal(status, NTR_OK);
    for (size_t at = 0; at < in->size; at += piece) {
        const size_t rest = in->size - at, now = rest < piece ? rest : piece;
        assert_int_equal(ntr_check_feed(check, in->bytes + at, now, now == rest), NTR_OK);
    }
    ntr_check_free(check);
    ntr_program_free(program);
}

static void scene_expect(const scene *s, const char *rule, const scene_part *part, bool interleaved) {
    static scene_stream in;
    char expected[128] = "";
    scene_findings all;
    in.size = 0;
    if (part == &s->bad) snprintf(expected, sizeof expected, "%s ", rule);
    if (interleaved) {
        scene_interleave(s, part, &in);
    } else {
        const ntr_params params = scene_assembler(s);
        for (size_t i = 0; i < part->count; i++) scene_add(&in, &params, part->lines[i]);
    }
    for (size_t piece = 1; piece <= in.size; piece = piece < 3 ? piece + 1 : in.size > piece ? in.size : piece + 1) {
        scene_check(s, &in, piece, &all);
        if (strcmp(all.text, expected) != 0)
            fail_msg("%s, %s stream%s: expected '%s', found '%s'", rule, part == &s->bad ? "bad" : "good",
                     interleaved ? " beside another source" : "", expected, all.text);
        assert_false(interleaved && all.other_source);
    }
}

static void each_rule(void **state) {
    (void)state;
    static scene s;
    size_t count = 0;
    for (const ntr_check_rule *rule; (rule = ntr_check_rule_at(count)) != NULL; count++) {
        scene_read(&s, rule->id);
        scene_expect(&s, rule->id, &s.bad, false);
        scene_expect(&s, rule->id, &s.good, false);
    }
    assert_true(count >= 88);
}

/* Returns whether the scene can be that of one source of two: its messages are text, and source 0 needs no timestamp.
 */
static bool scene_can_interleave(const scene *s) {
    if (s->config.params.src_bits || s->config.sync_period) return false;
    for (int i = 0; i < 2; i++) {
        const scene_part *part = i ? &s->good : &s->bad;
        for (size_t k = 0; k < part->count; k++)
            if (strncmp(part->lines[k], "bytes ", 6) == 0 || strstr(part->lines[k], "SRC=")) return false;
    }
    return true;
}

static void each_rule_beside_another_source(void **state) {
    (void)state;
    static scene s;
    size_t count = 0;
    const ntr_check_rule *rule;
    for (size_t i = 0; (rule = ntr_check_rule_at(i)) != NULL; i++) {
        scene_read(&s, rule->id);
        if (!scene_can_interleave(&s)) continue;
        s.config.params.src_bits = 2;
        scene_expect(&s, rule->id, &s.bad, true);
        scene_expect(&s, rule->id, &s.good, true);
        count++;
    }
    assert_true(count >= 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(each_rule), TEST(each_rule_beside_another_source)};
    return cmocka_run_group_tests_name("scenes", tests, NULL, NULL);
}
