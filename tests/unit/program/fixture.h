/* A program of no images for each test. */
#ifndef NTRACE_TESTS_UNIT_PROGRAM_FIXTURE_H
#define NTRACE_TESTS_UNIT_PROGRAM_FIXTURE_H

#include <ntrace/program.h>

static ntr_program *program;

static int make(void **state) {
    (void)state;
    ntr_program_new(NULL, &program);
    return program ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    ntr_program_free(program);
    return 0;
}

#endif
