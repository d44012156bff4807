/* All tests of one folder, or those named in the arguments. The build renames the main() of each test file. */
#include <stdio.h>
#include <string.h>

#define TEST(name) int unit_##name(void);
UNIT_TESTS
#undef TEST

#define TEST(name) {#name, unit_##name},
static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {UNIT_TESTS};

enum { TEST_COUNT = sizeof tests / sizeof tests[0] };

int main(int argc, char **argv) {
    int failed = 0;
    if (argc < 2) {
        for (unsigned i = 0; i < TEST_COUNT; i++) failed += tests[i].run() != 0;
        return failed != 0;
    }
    for (int a = 1; a < argc; a++) {
        unsigned i = 0;
        while (i < TEST_COUNT && strcmp(tests[i].name, argv[a]) != 0) i++;
        if (i == TEST_COUNT) {
            fprintf(stderr, "%s: no test '%s'\n", argv[0], argv[a]);
            return 2;
        }
        failed += tests[i].run() != 0;
    }
    return failed != 0;
}
