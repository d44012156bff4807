/* Which program a name stands for: files in a folder "root", which is the root of the guest, and in a folder "host". */
#include "channel/resolve.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/ntrace-resolve-XXXXXX";
static struct channel_program program;

/* The path of a file in the folder of the test; valid until the call after the next one. */
static const char *path_of(const char *name) {
    static char paths[2][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 2];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static void make(const char *name, const void *content, size_t size) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path_of(name), 0755), 0);
}

static void make_program(const char *name, uint16_t machine) {
    Elf64_Ehdr head = {.e_type = ET_EXEC, .e_machine = machine};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    make(name, &head, sizeof head);
}

static void make_script(const char *name, const char *line) {
    make(name, line, strlen(line));
}

static int resolve(const char *name) {
    return ntr_channel_resolve_in(path_of("root"), path_of("host"), name, &program);
}

static int set_up(void **state) {
    static const char *const folders[] = {"root", "root/bin", "root/usr", "root/usr/bin", "host"};
    (void)state;
    if (!mkdtemp(folder)) return -1;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (mkdir(path_of(folders[i]), 0755)) return -1;
    make_program("root/bin/shell", EM_RISCV);
    make_program("root/usr/bin/both", EM_RISCV);
    make_script("host/both", "#!/bin/shell\n");
    make_script("host/script", "#!/bin/shell\n");
    make_program("host/tool", EM_X86_64);
    make_program("root/usr/bin/tool", EM_RISCV);
    make_program("host/other", EM_X86_64);
    return 0;
}

static int clean_up(void **state) {
    static const char *const names[] = {"root/bin/shell", "root/usr/bin/both", "root/usr/bin/tool", "host/both",
                                        "host/script",    "host/tool",         "host/other",        "host",
                                        "root/usr/bin",   "root/usr",          "root/bin",          "root"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) remove(path_of(names[i]));
    return rmdir(folder);
}

static void the_root_comes_before_scripts_of_the_host(void **state) {
    (void)state;
    assert_int_equal(resolve("both"), 0);
    assert_string_equal(program.path, path_of("root/usr/bin/both"));
    assert_int_equal(program.count, 0);
}

static void scripts_of_the_host_have_interpreters_of_the_root(void **state) {
    (void)state;
    assert_int_equal(resolve("script"), 0);
    assert_string_equal(program.path, path_of("root/bin/shell"));
    assert_int_equal(program.count, 2);
    assert_string_equal(program.words[0], "/bin/shell");
    assert_string_equal(program.words[1], path_of("host/script"));
}

static void programs_for_other_machines_are_passed_over(void **state) {
    (void)state;
    assert_int_equal(resolve("tool"), 0);
    assert_string_equal(program.path, path_of("root/usr/bin/tool"));
    assert_int_not_equal(resolve("other"), 0);
    assert_int_not_equal(resolve("none"), 0);
}

static void without_a_root_there_is_the_host(void **state) {
    (void)state;
    assert_int_not_equal(ntr_channel_resolve_in(NULL, path_of("host"), "tool", &program), 0);
    make_program("host/tool", EM_RISCV);
    assert_int_equal(ntr_channel_resolve_in(NULL, path_of("host"), "tool", &program), 0);
    assert_string_equal(program.path, path_of("host/tool"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_comes_before_scripts_of_the_host),
        cmocka_unit_test(scripts_of_the_host_have_interpreters_of_the_root),
        cmocka_unit_test(programs_for_other_machines_are_passed_over),
        cmocka_unit_test(without_a_root_there_is_the_host),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
