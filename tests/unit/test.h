/* What every unit test includes. */
#ifndef NTR_TEST_H
#define NTR_TEST_H

/* cmocka wants these before its header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Tables of cases say only what differs. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define TEST(function) cmocka_unit_test(function)

/* Skips the test; `reason` is an identifier of tests/skips.txt. tests/unit/run shows its sentence. */
#define SKIP_TEST(reason) (print_message("# skip " reason "\n"), skip())

#endif
