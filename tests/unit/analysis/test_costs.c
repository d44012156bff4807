/* Costs: which functions of two executions are the same, and that nothing is left out. */
#include "../test.h"

#include <ntrace/costs.h>

typedef struct row {
    const char *name, *file, *image;
    uint64_t self;
} row;

static ntr_costs *costs_of(const row *rows) {
    ntr_costs *costs;
    ntr_costs_new(NULL, &costs);
    assert_non_null(costs);
    for (; rows->name || rows->self; rows++) {
        const ntr_profile_row from = {.name = rows->name, .file = rows->file, .image = rows->image, .self = rows->self};
        assert_int_equal(ntr_costs_add(costs, NTR_PROFILE_FUNCTION, &from), NTR_OK);
    }
    return costs;
}

/* Returns the row of a function with `self` in A or, if `side` is 1, in B. */
static const ntr_cost_function *find(const ntr_cost_changes *c, unsigned side, uint64_t self) {
    for (size_t i = 0; i < c->function_count; i++)
        if (c->functions[i].present >> side & 1 && c->functions[i].self[side] == self) return &c->functions[i];
    return NULL;
}

/* Compares, and checks that the rows add up. */
static void compare(const row *a, const row *b, ntr_cost_changes *c, ntr_costs *costs[2]) {
    uint64_t sum[2] = {0};
    costs[0] = costs_of(a);
    costs[1] = costs_of(b);
    assert_int_equal(ntr_costs_compare(costs[0], costs[1], c, NULL), NTR_OK);
    for (size_t i = 0; i < c->function_count; i++)
        for (unsigned s = 0; s < 2; s++) sum[s] += c->functions[i].self[s];
    for (unsigned s = 0; s < 2; s++) assert_int_equal(sum[s], c->instructions[s]);
}

static void release(ntr_cost_changes *c, ntr_costs *costs[2]) {
    ntr_cost_changes_release(c);
    ntr_costs_free(costs[0]);
    ntr_costs_free(costs[1]);
}

/* Each function of A has a number from 1; the one of B that is the same has 100 more. */
static void pairs(const row *a, const row *b, size_t expected) {
    ntr_cost_changes c;
    ntr_costs *costs[2];
    size_t found = 0;
    compare(a, b, &c, costs);
    for (size_t i = 0; i < c.function_count; i++) {
        if (c.functions[i].present != 3) continue;
        assert_int_equal(c.functions[i].self[1], c.functions[i].self[0] + 100);
        found++;
    }
    assert_int_equal(found, expected);
    release(&c, costs);
}

static void files_of_other_folders(void **state) {
    const row a[] = {{"init", "lib/A.cc", "/1/prog", 1},
                     {"init", "lib/B.cc", "/1/prog", 2},
                     {"main", "lib/A.cc", "/1/prog", 3},
                     {0}};
    const row b[] = {{"main", "/build/lib/A.cc", "/2/prog", 103},
                     {"init", "/build/lib/B.cc", "/2/prog", 102},
                     {"init", "/build/lib/A.cc", "/2/prog", 101},
                     {0}};
    (void)state;
    pairs(a, b, 3);
}

static void longest_end_of_path(void **state) {
    const row a[] = {{"init", "/x/net/main.c", "p", 1}, {"init", "/x/disk/main.c", "p", 2}, {0}};
    const row b[] = {{"init", "/y/disk/main.c", "p", 102}, {"init", "/y/net/main.c", "p", 101}, {0}};
    (void)state;
    pairs(a, b, 2);
}

static void unclear(void **state) {
    const row a[] = {{"init", "/x/main.c", "p", 1}, {"other", "/x/A.cc", "p", 5}, {0}};
    const row b[] = {
        {"init", "/y/main.c", "p", 101}, {"init", "/z/main.c", "p", 102}, {"other", "/x/B.cc", "p", 105}, {0}};
    ntr_cost_changes c;
    ntr_costs *costs[2];
    (void)state;
    compare(a, b, &c, costs);
    assert_int_equal(c.function_count, 5);
    assert_int_equal(find(&c, 0, 1)->match, NTR_COST_UNCLEAR);
    assert_int_equal(find(&c, 1, 101)->match, NTR_COST_UNCLEAR);
    assert_int_equal(find(&c, 0, 5)->match, NTR_COST_FILE);
    assert_int_equal(find(&c, 1, 105)->match, NTR_COST_FILE);
    release(&c, costs);
}

static void images(void **state) {
    /* The program has another name in B; a library is the same in both; `copy` moved from a library to the program. */
    const row a[] = {{"main", "M.cc", "/1/prog-1.0", 1},
                     {"copy", NULL, "/lib/libc.so.6", 2},
                     {"read", NULL, "/lib/libc.so.6", 3},
                     {"read", NULL, "/1/prog-1.0", 4},
                     {0}};
    const row b[] = {{"main", "M.cc", "/2/prog-1.1", 101},
                     {"copy", NULL, "/2/prog-1.1", 102},
                     {"read", NULL, "/lib64/libc.so.6", 103},
                     {"read", NULL, "/2/prog-1.1", 104},
                     {0}};
    (void)state;
    pairs(a, b, 4);
}

static void copies_of_compilers(void **state) {
    const row a[] = {{"sum", "A.cc", "p", 1},
                     {"get(int)", "A.cc", "p", 2},
                     {"x.y", "A.cc", "p", 3},
                     {"v1.cold.rs", "A.cc", "p", 4},
                     {0}};
    const row b[] = {{"sum.constprop.0", "A.cc", "p", 50},
                     {"sum.isra.0.cold", "A.cc", "p", 51},
                     {"get(int) [clone .part.0]", "A.cc", "p", 102},
                     {"x.y", "A.cc", "p", 103},
                     {"v1.cold.rs", "A.cc", "p", 104},
                     {0}};
    (void)state;
    pairs(a, b, 4);
}

static void code_without_symbol(void **state) {
    const row a[] = {{"libc.so.6+0x1234", NULL, "/lib/libc.so.6", 10},
                     {"libc.so.6+0x99", NULL, "/lib/libc.so.6", 5},
                     {NULL, NULL, NULL, 3},
                     {0}};
    const row b[] = {{"libc.so.6+0x1284", NULL, "/lib/libc.so.6", 115}, {"[unknown]", NULL, NULL, 103}, {0}};
    ntr_cost_changes c;
    ntr_costs *costs[2];
    (void)state;
    compare(a, b, &c, costs);
    assert_int_equal(c.function_count, 2);
    assert_int_equal(find(&c, 0, 15)->match, NTR_COST_UNNAMED);
    assert_int_equal(find(&c, 0, 15)->self[1], 115);
    assert_int_equal(find(&c, 0, 3)->self[1], 103);
    release(&c, costs);
}

static void one_side_without_files(void **state) {
    const row a[] = {{"main", NULL, "p", 1}, {"init", NULL, "p", 2}, {0}};
    const row b[] = {{"main", "M.cc", "p", 101}, {"init", "A.cc", "p", 7}, {"init", "B.cc", "p", 8}, {0}};
    (void)state;
    pairs(a, b, 1);
}

static void refuses_mixed_rows(void **state) {
    const ntr_profile_row line = {.name = "f", .file = "A.cc", .line = 3, .self = 1};
    ntr_costs *costs;
    ntr_costs_new(NULL, &costs);
    (void)state;
    assert_int_equal(ntr_costs_add(costs, NTR_PROFILE_LINE, &line), NTR_OK);
    assert_int_equal(ntr_costs_add(costs, NTR_PROFILE_FUNCTION, &line), NTR_E_INVALID);
    assert_int_equal(ntr_costs_add(costs, NTR_PROFILE_HART, &line), NTR_E_INVALID);
    assert_int_equal(ntr_costs_holds(costs), NTR_COSTS_LINES);
    ntr_costs_free(costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(files_of_other_folders),
        TEST(longest_end_of_path),
        TEST(unclear),
        TEST(images),
        TEST(copies_of_compilers),
        TEST(code_without_symbol),
        TEST(one_side_without_files),
        TEST(refuses_mixed_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
