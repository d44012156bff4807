/* Several threads look up frames and functions in one object for debug information (ThreadSanitizer reports a race). */
#include "../test.h"

#include "../program/elf_builder.h"

#include <ntrace/debug_info.h>
#include <pthread.h>
#include <string.h>

enum { FUNCTIONS = 12, FUNCTION_SIZE = 0x10, THREADS = 4, ROUNDS = 20 };

typedef struct looking {
    ntr_debug_info *debug;
    pthread_t thread;
    bool reversed;
    unsigned wrong;
} looking;

static bool is_right(ntr_debug_info *debug, unsigned number) {
    const ntr_context context = NTR_CONTEXT_UNKNOWN;
    const uint64_t entry = TEXT_ADDRESS + (uint64_t)number * FUNCTION_SIZE;
    ntr_frame frames[2], function;
    char name[32];

    snprintf(name, sizeof name, "shape%02u::area(int)", number);
    const size_t count = ntr_debug_info_frames(debug, ntr_place_at(&context, NTR_POSITION_ANY, entry + 2), frames, 2);
    if (count != 1 || strcmp(frames[0].function, name) != 0 || frames[0].entry != entry) return false;
    return ntr_debug_info_function(debug, ntr_place_at(&context, NTR_POSITION_ANY, entry + 4), &function) == NTR_OK &&
           strcmp(function.function, name) == 0;
}

static void *look(void *user) {
    looking *l = user;

    for (unsigned i = 0; i < FUNCTIONS; i++) l->wrong += !is_right(l->debug, l->reversed ? FUNCTIONS - 1 - i : i);
    return NULL;
}

/* All names are looked up for the first time. */
static void look_together(const ntr_program *program) {
    looking threads[THREADS];
    ntr_debug_info *debug;
    ntr_debug_info_new(program, NULL, &debug);

    assert_non_null(debug);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = (looking){.debug = debug, .reversed = i % 2};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, look, &threads[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i].thread, NULL);
        assert_int_equal(threads[i].wrong, 0);
    }
    ntr_debug_info_free(debug);
}

static void many_threads(void **state) {
    static char names[FUNCTIONS][32];
    static elf_builder elf;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    (void)state;

    elf_begin(&elf, true);
    elf_segment(&elf, 1, CODE_AT, TEXT_ADDRESS, CODE_MAX, CODE_MAX);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        snprintf(names[i], sizeof names[i], "_ZN7shape%02u4areaEi", i);
        elf_symbol(&elf, names[i], 0x12, 1, TEXT_ADDRESS + (uint64_t)i * FUNCTION_SIZE, FUNCTION_SIZE);
    }
    elf_arch(&elf, "rv64gc");
    assert_int_equal(elf_write(&elf), 0);
    assert_int_equal(ntr_program_add_elf(program, elf.path, NULL), NTR_OK);
    for (unsigned round = 0; round < ROUNDS; round++) look_together(program);
    ntr_program_free(program);
    elf_end(&elf);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
