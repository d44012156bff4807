/* Text and JSON of decisions whose vectors and pairs are known by hand (docs/output.md, "JSON of decisions"). */
#include "../test.h"

#include "base/macros.h"
#include "decision/record.h"

#include <ntrace/decision.h>
#include <ntrace/ntrace.h>
#include <ntrace/tools.h>

#include <string.h>

enum { DECISIONS_OUTPUT_MAX = 1 << 14 };

/* `a && b` with all vectors; `x || LIMIT` with one vector, a constant and a gap; `if (p)`, of which a result is known.
 */
static ntr_condition both[] = {
    {.line = 3,
     .column = 9,
     .text = "a",
     .true_seen = true,
     .false_seen = true,
     .covered = true,
     .masking = true,
     .pair = {0, 2}},
    {.line = 3,
     .column = 14,
     .text = "b",
     .true_seen = true,
     .false_seen = true,
     .covered = true,
     .masking = true,
     .pair = {1, 2}},
};
static const ntr_vector both_vectors[] = {
    {.values = "F-", .result = false, .count = 5},
    {.values = "TF", .result = false, .count = 1},
    {.values = "TT", .result = true, .count = 7},
};
static ntr_condition part[] = {
    {.line = 8, .column = 5, .text = "x\x1b[2J", .true_seen = true},
    {.line = 8, .column = 10, .spelled = {"/s/limits.h", 2, 11}, .text = "LIMIT", .constant = true},
};
static const ntr_vector part_vectors[] = {{.values = "T-", .result = true, .count = 2}};
static ntr_condition single[] = {{.line = 12, .column = 7, .text = "p", .true_seen = true}};

static ntr_decision listed[] = {
    {.state = NTR_COVER_COVERED,
     .masking_state = NTR_COVER_COVERED,
     .decision_state = NTR_COVER_COVERED,
     .file = "/s/a.c",
     .function = "f",
     .line = 3,
     .column = 9,
     .end_line = 3,
     .end_column = 14,
     .text = "a && b",
     .conditions = both,
     .condition_count = 2,
     .vectors = both_vectors,
     .vector_count = 3,
     .copies = 1,
     .true_seen = true,
     .false_seen = true},
    {.state = NTR_COVER_NOT_DETERMINABLE,
     .masking_state = NTR_COVER_NOT_COVERED,
     .decision_state = NTR_COVER_NOT_COVERED,
     .reason = "fewer \"branches\"",
     .file = "/s/\x1b[1mb",
     .function = "g",
     .line = 8,
     .column = 5,
     .end_line = 8,
     .end_column = 14,
     .text = "x || LIMIT",
     .conditions = part,
     .condition_count = 2,
     .vectors = part_vectors,
     .vector_count = 1,
     .unknown = 4,
     .copies = 2,
     .true_seen = true},
    {.state = NTR_COVER_NOT_COVERED,
     .masking_state = NTR_COVER_NOT_COVERED,
     .decision_state = NTR_COVER_NOT_COVERED,
     .file = "/s/a.c",
     .function = "f",
     .line = 12,
     .column = 7,
     .end_line = 12,
     .end_column = 7,
     .text = "p",
     .conditions = single,
     .condition_count = 1,
     .copies = 1,
     .true_seen = true},
};

static char decisions_output[DECISIONS_OUTPUT_MAX];
static size_t decisions_size;

static ntr_status decisions_take(void *user, const void *bytes, size_t size) {
    (void)user;
    assert_true(decisions_size + size < sizeof decisions_output);
    memcpy(decisions_output + decisions_size, bytes, size);
    decisions_size += size;
    decisions_output[decisions_size] = 0;
    return NTR_OK;
}

static const char *decisions_export(const char *format, ntr_decision_level level) {
    static char *missing[] = {(char *)"/s/gone.c: no such file"};
    struct ntr_decisions decisions = {
        .list = listed, .count = NTR_COUNT(listed), .unparsed = missing, .unparsed_count = 1, .parser = "clang 14"};
    ntr_output output;
    ntr_analysis analysis;
    ntr_output_init(&output);
    ntr_analysis_init(&analysis);
    output.write = decisions_take;
    ntr_coverage_new(NULL, &analysis.coverage);
    analysis.decisions = &decisions;
    analysis.level = level;
    decisions_size = 0;
    ntr_export *x;
    assert_int_equal(ntr_export_new(ntr_exporter_find("coverage", format), &analysis, &output, &x), NTR_OK);
    assert_int_equal(ntr_export_finish(x), NTR_OK);
    ntr_export_free(x);
    ntr_coverage_free(analysis.coverage);
    return decisions_output;
}

static void decisions_contain(const char *text) {
    if (!strstr(decisions_output, text)) fail_msg("expected '%s' in:\n%s", text, decisions_output);
}

static void text_of_decisions(void **state) {
    (void)state;
    decisions_export("decisions", NTR_LEVEL_MCDC);
    decisions_contain("/s/a.c:3:9: covered: a && b\n"
                      "    decision coverage: covered, true and false were seen\n"
                      "    C1  3:9  pair 1, 3  a\n"
                      "    C2  3:14  pair 2, 3  b\n"
                      "      1  F - = F  5 times\n"
                      "      2  T F = F  1 times\n"
                      "      3  T T = T  7 times\n");
    decisions_contain(":8:5: not-determinable: x || LIMIT\n"
                      "    decision coverage: not-covered, only true was seen\n"
                      "    fewer \"branches\"\n");
    decisions_contain("    C2  8:10  constant false  LIMIT\n"
                      "      1  T - = T  2 times\n"
                      "         4 evaluations are unknown: a part of them was not traced\n");
    decisions_contain("MC/DC, unique-cause: 2 decisions\n"
                      "covered                 1   50.00 %\n"
                      "not-covered             0    0.00 %\n"
                      "not-determinable        1   50.00 %\n"
                      "2 of 2 determinable conditions have an independence pair\n");
    decisions_contain("not parsed: /s/gone.c: no such file\n");
    assert_null(strchr(decisions_output, '\x1b'));          /* no name controls the terminal */
    assert_null(strstr(decisions_output, "/s/a.c:12:7"));   /* a single condition has no MC/DC */
}

static void text_of_other_levels(void **state) {
    (void)state;
    decisions_export("decisions", NTR_LEVEL_DECISION);
    decisions_contain("/s/a.c:12:7: not-covered: p\n    decision coverage: not-covered, only true was seen\n");
    decisions_contain("    MC/DC is not determinable: fewer \"branches\"\n");
    decisions_contain("decision coverage: 3 decisions\ncovered                 1   33.33 %\n");
    decisions_export("decisions", NTR_LEVEL_MASKING);
    decisions_contain(":8:5: not-covered: x || LIMIT\n");
    decisions_contain("2 of 3 determinable conditions have an independence pair\n");
}

static void json_of_decisions(void **state) {
    (void)state;
    decisions_export("decisions-json", NTR_LEVEL_MCDC);
    decisions_contain("\"level\":\"mcdc\",\"gaps\":0,\"parser\":\"clang 14\",\n"
                      "\"unparsed\":[\n\"/s/gone.c: no such file\"],\n");
    decisions_contain("\"mcdc\":{\"covered\":1,\"not-covered\":0,\"not-determinable\":1,\"conditions\":2,"
                      "\"conditions_covered\":2}");
    decisions_contain(
        "{\"file\":\"/s/a.c\",\"line\":3,\"column\":9,\"end_line\":3,\"end_column\":14,\"function\":\"f\","
        "\"text\":\"a && b\",\n  \"conditions\":["
        "{\"line\":3,\"column\":9,\"text\":\"a\",\"true\":true,\"false\":true,\"masking\":true,\"pair\":[0,2]},"
        "{\"line\":3,\"column\":14,\"text\":\"b\",\"true\":true,\"false\":true,\"masking\":true,\"pair\":[1,2]}],\n"
        "  \"vectors\":[{\"values\":[\"F\",\"-\"],\"result\":\"F\",\"count\":5},"
        "{\"values\":[\"T\",\"F\"],\"result\":\"F\",\"count\":1},"
        "{\"values\":[\"T\",\"T\"],\"result\":\"T\",\"count\":7}],\"covered\":[true,true],"
        "\"true\":true,\"false\":true,\"copies\":1,\"unknown\":0,\"decision\":\"covered\",\"mcdc\":\"covered\","
        "\"masking\":\"covered\",\"state\":\"covered\"}");
    decisions_contain(
        "\"spelled\":{\"file\":\"/s/limits.h\",\"line\":2,\"column\":11},\"constant\":false,\"true\":false,");
    decisions_contain("\"decision\":\"not-covered\",\"mcdc\":\"not-determinable\",\"masking\":\"not-covered\","
                      "\"state\":\"not-determinable\",\"reason\":\"fewer \\\"branches\\\"\"}");
    assert_null(strchr(decisions_output, '\x1b'));
    assert_null(strstr(decisions_output, "\"line\":12"));
    decisions_export("decisions-json", NTR_LEVEL_DECISION);
    decisions_contain("\"level\":\"decision\"");
    decisions_contain("{\"line\":12,\"column\":7,\"text\":\"p\",\"true\":true,\"false\":false,\"masking\":false}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(text_of_decisions),
        TEST(text_of_other_levels),
        TEST(json_of_decisions),
    };
    return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
