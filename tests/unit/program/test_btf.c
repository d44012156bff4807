/* Types of a Linux kernel. They are those that GCC writes (-gbtf) for the structs below; GCC says where their members
 * are, too. */
#include "../test.h"

#include "program/btf.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TYPES                                                                                                          \
    enum color { RED, GREEN };                                                                                         \
    struct list {                                                                                                      \
        struct list *next, *previous;                                                                                  \
    };                                                                                                                 \
    typedef int (*handler)(struct list *, enum color);                                                                 \
    struct other {                                                                                                     \
        char comm[16];                                                                                                 \
        int pid;                                                                                                       \
    };                                                                                                                 \
    struct task_struct {                                                                                               \
        long flags;                                                                                                    \
        unsigned a : 3, b : 5;                                                                                         \
        struct {                                                                                                       \
            struct list run;                                                                                           \
            union {                                                                                                    \
                long twice;                                                                                            \
                struct {                                                                                               \
                    int low, tgid;                                                                                     \
                };                                                                                                     \
            };                                                                                                         \
            handler call;                                                                                              \
            const volatile float *scale;                                                                               \
        };                                                                                                             \
        struct {                                                                                                       \
            int inside;                                                                                                \
        } named;                                                                                                       \
        union {                                                                                                        \
            int pid;                                                                                                   \
            char bytes[24];                                                                                            \
        };                                                                                                             \
        char comm[16];                                                                                                 \
    };
TYPES

#define TEXT(...)      #__VA_ARGS__
#define TEXT_OF(macro) TEXT(macro)

/* The section .BTF of an object file, without NULL only when GCC can write it. */
static uint8_t *compile(size_t *size) {
    char folder[] = "/tmp/ntrace-btf-XXXXXX", command[512], path[64];
    uint8_t *bytes = calloc(1, 1 << 16);

    assert_non_null(bytes);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/source", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\nstruct task_struct task; struct other other;\n", TEXT_OF(TYPES));
    fclose(file);
    snprintf(
        command, sizeof command,
        "cd %s && { gcc -gbtf -x c -c source -o t.o && objcopy -O binary -j .BTF --set-section-flags .BTF=alloc t.o btf; } 2>/dev/null",
        folder);
    *size = 0;
    if (system(command) == 0) {
        snprintf(path, sizeof path, "%s/btf", folder);
        file = fopen(path, "rb");
        assert_non_null(file);
        *size = fread(bytes, 1, 1 << 16, file);
        fclose(file);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    return bytes;
}

#define OFFSET(structure, member)                                                                                      \
    assert_true(ntr_btf_member(types, #structure, #member, &offset));                                                  \
    assert_int_equal(offset, offsetof(struct structure, member))

static void members_are_found(void **state) {
    uint32_t offset;
    size_t size;
    uint8_t *bytes = compile(&size);
    const ntr_bytes types = {bytes, size};

    (void)state;
    if (!size) SKIP_TEST("gcc-btf");
    OFFSET(task_struct, flags);
    OFFSET(task_struct, run);
    OFFSET(task_struct, twice);
    OFFSET(task_struct, tgid);
    OFFSET(task_struct, scale);
    OFFSET(task_struct, named);
    OFFSET(task_struct, pid);
    OFFSET(task_struct, comm);
    OFFSET(other, pid);
    assert_false(ntr_btf_member(types, "task_struct", "inside", &offset)); /* in a struct with a name */
    assert_false(ntr_btf_member(types, "task_struct", "b", &offset));
    assert_false(ntr_btf_member(types, "task_struct", "nothing", &offset));
    assert_false(ntr_btf_member(types, "nothing", "pid", &offset));
    assert_false(ntr_btf_member(types, "list", "pid", &offset));
    free(bytes);
}

static void types_are_found_in_a_kernel(void **state) {
    enum { PLACE = 12340 };
    uint32_t offset;
    size_t size;
    uint8_t *bytes = compile(&size), *kernel = calloc(1, 1 << 17);
    const ntr_bytes image = {kernel, 1 << 17};
    ntr_bytes types;

    (void)state;
    assert_non_null(kernel);
    assert_false(ntr_btf_find(image, &types));
    if (!size) SKIP_TEST("gcc-btf");
    memcpy(kernel + 400, bytes, 24); /* a header alone */
    assert_false(ntr_btf_find(image, &types));
    memcpy(kernel + PLACE, bytes, size);
    assert_true(ntr_btf_find(image, &types));
    assert_ptr_equal(types.data, kernel + PLACE);
    OFFSET(task_struct, comm);
    free(kernel);
    free(bytes);
}

/* Each word of the types, with values that are too large or lead in circles: an answer, and an end. */
static void damaged_types_have_an_end(void **state) {
    static const uint32_t values[] = {0, 1, 2, 0xffffffff, 0x84000003, 0x0400ffff, 0x7fffffff};
    uint32_t offset;
    size_t size;
    uint8_t *bytes = compile(&size);
    const ntr_bytes types = {bytes, size};
    ntr_bytes found;

    (void)state;
    if (!size) SKIP_TEST("gcc-btf");
    for (size_t at = 0; at + 4 <= size; at += 4) {
        uint8_t before[4];
        memcpy(before, bytes + at, 4);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            memcpy(bytes + at, &values[i], 4);
            ntr_btf_find(types, &found);
            ntr_btf_member(types, "task_struct", "comm", &offset);
        }
        memcpy(bytes + at, before, 4);
    }
    for (size_t cut = 0; cut < size; cut++) { /* so that reading behind it is seen */
        uint8_t *exact = malloc(cut ? cut : 1);
        assert_non_null(exact);
        memcpy(exact, bytes, cut);
        ntr_btf_find((ntr_bytes){exact, cut}, &found);
        ntr_btf_member((ntr_bytes){exact, cut}, "task_struct", "comm", &offset);
        free(exact);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(members_are_found), TEST(types_are_found_in_a_kernel),
                                       TEST(damaged_types_have_an_end)};
    return cmocka_run_group_tests_name("btf", tests, NULL, NULL);
}
