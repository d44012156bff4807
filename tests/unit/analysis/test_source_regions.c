#include "../test.h"

#include "analysis/source_regions.h"
#include "analysis/source_steps.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = -1 };

/* Lines of the body of a function. The code of x12 was executed 12 times; everything else has no code. The counts are
 * those of llvm-cov 19. */
static const struct lines_case {
    const char *name, *lines[8];
    int counts[8];
} cases[] = {
    {"else after a return", {"{ if (x9) {", "x2; return;", "} else {", "x7;", "}", "}"}, {9, 2, 7, 7, 7, 9}},
    {"after a return", {"{ x9;", "if (x9)", "return x2;", "x7;", "}"}, {9, 9, 2, 7, 7}},
    {"two returns",
     {"{ x9;", "if (x9) { x2; return; }", "if (x7) { x3; return; }", "x4;", "return;", "}"},
     {9, 9, 7, 4, 4, 7}},
    {"operands", {"{ x9 &&", "x5 &&", "(x3 ||", "x1) ||", "x2;", "}"}, {9, 9, 9, 3, 9, 9}},
    {"choice", {"{ x9 ?", "x2", ": x7;", "}"}, {9, 2, 9, 9}},
    {"constant choice", {"{ x9 ? 1 :", "x0 ? 2 :", "3; }"}, {9, 9, 0}},
    {"loop", {"{ for (x1;", "x5;", "x4)", "x4;", "}"}, {1, 5, 4, 4, 1}},
    {"left loop", {"{ while (x8) {", "if (x7) {", "x1; break; }", "}", "x2;", "}"}, {8, 7, 1, 7, 2, 2}},
    {"cases", {"{ switch (x9) {", "case 1: x2; break;", "default:", "x7;", "}", "}"}, {9, 2, 7, 7, 9, 9}},
    {"empty statement", {"{ if (x9)", "{ x1; return; };", "x8;", "}"}, {9, 8, 8, 8}},
    {"attribute, lambda", {"{ x3([&](int n) {", "x9;", "});", "x3; }"}, {3, 0, 0, 3}},
    {"no code", {"{ int a;", "x5;", "}"}, {5, 5, 5}},
    {"macro", {"{ EACH(x2) {", "x5;", "} x2; }"}, {5, 5, 5}},
    {"left macro", {"{ x9; if (x9) return x2; x7;", "EACH(x7) { if (x1) break; }", "return x7;", "}"}, {9, 7, 7, 9}},
    {"comment and string", {"{ x4(\"{\", '}', R\"(})\"); // {", "/* { */ x4(1'0); }"}, {4, 4}},
    {"macro that may leave", {"{ x9; if (x9) return x2;", "M(x7);", "x6; return;", "}"}, {9, 7, 6, 7}},
    {"call that does not return", {"{ x9; if (x9)", "N(x2);", "x7; return;", "}"}, {9, 2, 7, 9}},
    {"statements of a macro", {"{ x1 { x2; }", "}"}, {UNKNOWN, UNKNOWN}},
    {"else alone", {"{ x1; else x2;", "}"}, {UNKNOWN, UNKNOWN}},
};

struct source {
    ntr_source_tokens file, selected;
    ntr_source_regions regions;
    ntr_source_steps steps;
};

static bool count(void *user, ntr_text_place begin, ntr_text_place end, uint64_t *found) {
    const struct source *s = user;
    for (size_t i = 0; i < s->selected.count; i++) {
        const ntr_source_token *token = &s->selected.items[i];
        if (ntr_text_place_compare(token->at, begin) < 0 || ntr_text_place_compare(token->at, end) >= 0) continue;
        if (token->text[0] != 'x') continue;
        *found = strtoull(token->text + 1, NULL, 10);
        return true;
    }
    return false;
}

/* A name in capitals may leave. */
static ntr_source_exit leave(void *user, ntr_text_place begin, ntr_text_place end) {
    const struct source *s = user;
    for (size_t i = 0; i < s->selected.count; i++) {
        const ntr_source_token *token = &s->selected.items[i];
        if (ntr_text_place_compare(token->at, begin) < 0 || ntr_text_place_compare(token->at, end) >= 0) continue;
        if (token->text[0] == 'M') return NTR_SOURCE_EXIT_MAYBE;
        if (token->text[0] == 'N') return NTR_SOURCE_EXIT_NEVER;
    }
    return NTR_SOURCE_EXIT_NEXT;
}

/* Group 2 of a conditional directive is the one that has code. */
static bool has_code(void *user, uint32_t first, uint32_t last) {
    (void)user;
    return first <= 5 && last >= 5;
}

static ntr_status read_text(struct source *s, const char *text, uint32_t last) {
    const ntr_bytes bytes = {(const uint8_t *)text, strlen(text)};
    assert_int_equal(ntr_source_tokens_read(&s->file, bytes, NULL), NTR_OK);
    return ntr_source_tokens_select(&s->selected, &s->file, 1, last, has_code, s, NULL);
}

static void release(struct source *s) {
    ntr_dealloc(NULL, s->file.items);
    ntr_dealloc(NULL, s->selected.items);
    ntr_dealloc(NULL, s->regions.items);
    ntr_dealloc(NULL, s->steps.items);
}

static void test_lines(void **state) {
    (void)state;
    for (size_t i = 0; i < NTR_COUNT(cases); i++) {
        struct source s = {0};
        char text[400] = "";
        for (size_t k = 0; k < 8 && cases[i].lines[k]; k++) {
            strcat(text, cases[i].lines[k]);
            strcat(text, "\n");
        }
        assert_int_equal(read_text(&s, text, 1), NTR_OK);
        const ntr_status status =
            ntr_source_regions_find(&s.regions, &s.selected, 0, &(ntr_source_code){&s, count, leave}, NULL);
        for (uint32_t k = 0; k < 8 && cases[i].lines[k]; k++) {
            uint64_t found = 0;
            const bool known = !status && ntr_source_regions_line(&s.regions, k + 1, &found);
            const int got = known ? (int)found : UNKNOWN;
            if (got != cases[i].counts[k]) print_message("%s, line %u\n", cases[i].name, k + 1);
            assert_int_equal(got, cases[i].counts[k]);
        }
        release(&s);
    }
}

/* Whether a way from the first character of line `from` has come to the jump of line `jump`. */
static const struct step_case {
    const char *name, *lines[8];
    uint32_t from, jump;
    ntr_source_answer answer;
} steps[] = {
    {"statement before it", {"{ for (;;) {", "if (a)", "b;", "break;", "c; }", "}"}, 2, 4, NTR_SOURCE_YES},
    {"its last statement", {"{ for (;;) {", "if (a)", "b;", "break;", "c; }", "}"}, 3, 4, NTR_SOURCE_YES},
    {"statement after it", {"{ for (;;) {", "if (a)", "b;", "break;", "c; }", "}"}, 5, 4, NTR_SOURCE_NO},
    {"not the last one", {"{ for (;;) {", "if (a) {", "b;", "c; }", "break; }", "}"}, 3, 5, NTR_SOURCE_NO},
    {"after a label", {"{ switch (a) {", "b;", "case 1:", "break; }", "c; }"}, 2, 4, NTR_SOURCE_YES},
    {"loop without a condition", {"{ while (1) {", "b;", "if (a)", "c; }", "}"}, 4, 1, NTR_SOURCE_YES},
    {"loop with a condition", {"{ while (a)", "b;", "return;", "}"}, 2, 3, NTR_SOURCE_NO},
    {"end of a loop", {"{ while (a) {", "b;", "} return;", "}"}, 1, 3, NTR_SOURCE_YES},
    {"break of a switch",
     {"{ for (;;) { switch (a) {", "case 1:", "break; }", "continue; }", "}"},
     3,
     4,
     NTR_SOURCE_YES},
    {"break of a loop", {"{ for (;;) {", "for (;;) {", "break; }", "} }"}, 3, 1, NTR_SOURCE_YES},
    {"condition", {"{ for (;;) {", "if (a)", "break;", "c; } }"}, 2, 3, NTR_SOURCE_YES},
    {"condition, both ways", {"{ while (b) {", "if (a)", "continue;", "}", "}"}, 2, 3, NTR_SOURCE_MAYBE},
    {"two conditions", {"{ while (b) {", "if (a)", "continue;", "if (c) continue; }", "}"}, 2, 3, NTR_SOURCE_MAYBE},
    {"end of a switch", {"{ switch (b) { case 1:", "if (a)", "break;", "}", "c; }"}, 2, 3, NTR_SOURCE_MAYBE},
    {"choice", {"{ while (b) {", "if (a) c; else {", "continue;", "} }", "}"}, 2, 3, NTR_SOURCE_YES},
    {"two jumps", {"{ while (b) {", "if (a) break; else", "continue;", "}", "}"}, 2, 3, NTR_SOURCE_YES},
};

static void test_steps(void **state) {
    (void)state;
    for (size_t i = 0; i < NTR_COUNT(steps); i++) {
        struct source s = {0};
        char text[400] = "";
        for (size_t k = 0; k < 8 && steps[i].lines[k]; k++) {
            strcat(text, steps[i].lines[k]);
            strcat(text, "\n");
        }
        assert_int_equal(read_text(&s, text, 1), NTR_OK);
        assert_int_equal(ntr_source_steps_find(&s.steps, &s.selected, 0, NULL), NTR_OK);
        ntr_text_place jump = {0};
        for (uint32_t column = 1; column < 20 && !jump.line; column++)
            jump = ntr_source_steps_jump(&s.steps, (ntr_text_place){steps[i].jump, column});
        const uint32_t column = steps[i].lines[steps[i].from - 1][0] == '{' ? 3 : 1;
        const uint32_t from = ntr_source_steps_at(&s.steps, (ntr_text_place){steps[i].from, column});
        const ntr_source_answer answer = ntr_source_steps_lead(&s.steps, from, jump);
        if (answer != steps[i].answer) print_message("%s\n", steps[i].name);
        assert_int_equal(answer, steps[i].answer);
        release(&s);
    }
}

static void test_groups(void **state) {
    static const char text[] = "a\n#if A\nb {\n#else // c\nd {\n#if B\ne\n#endif\n#endif\n#define F \\\n f\ng }\nh\n";
    struct source s = {0};
    char names[20] = "";
    (void)state;
    assert_int_equal(read_text(&s, text, 1), NTR_OK);
    for (size_t i = 0; i < s.selected.count; i++) strncat(names, s.selected.items[i].text, 1);
    assert_string_equal(names, "a");
    release(&s);
    s = (struct source){0};
    names[0] = '\0';
    assert_int_equal(read_text(&s, text, 5), NTR_OK);
    for (size_t i = 0; i < s.selected.count; i++) strncat(names, s.selected.items[i].text, 1);
    assert_string_equal(names, "ad{g}");
    release(&s);
}

/* The texts have no end in which a token could be read further. */
static void test_ends(void **state) {
    static const char *const texts[] = {"/*", "/", "//",  "\"a\\", "'",   "R\"(", "R\"",
                                        "1e", "#", "#if", "u8",    "x\\", "(]",   "{"};
    (void)state;
    for (size_t i = 0; i < NTR_COUNT(texts); i++) {
        struct source s = {0};
        const size_t size = strlen(texts[i]);
        uint8_t *text = malloc(size);
        assert_non_null(text);
        memcpy(text, texts[i], size);
        assert_int_equal(ntr_source_tokens_read(&s.file, (ntr_bytes){text, size}, NULL), NTR_OK);
        ntr_source_tokens_select(&s.selected, &s.file, 1, 1, has_code, &s, NULL);
        free(text);
        release(&s);
    }
}

static void test_depth(void **state) {
    enum { DEPTH = 5000 };
    struct source s = {0};
    char *text = calloc(2 * DEPTH + 1, 1);
    (void)state;
    assert_non_null(text);
    memset(text, '{', DEPTH);
    memset(text + DEPTH, '}', DEPTH);
    assert_int_equal(read_text(&s, text, 1), NTR_OK);
    assert_int_equal(ntr_source_regions_find(&s.regions, &s.selected, 0, &(ntr_source_code){&s, count, leave}, NULL),
                     NTR_E_LIMIT);
    assert_int_equal(ntr_source_steps_find(&s.steps, &s.selected, 0, NULL), NTR_E_LIMIT);
    free(text);
    release(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_lines), TEST(test_steps), TEST(test_groups), TEST(test_ends),
                                       TEST(test_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
