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

/* Rounds over random inputs. AddressSanitizer makes each four to seven times as long; there, a quarter of them is
 * enough to see each kind of access, and the other builds have all. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_ROUNDS(number) (((number) + 3) / 4)
#endif
#endif
#ifndef TEST_ROUNDS
#define TEST_ROUNDS(number) (number)
#endif

/* Skips the test; `reason` is an identifier of tests/skips.txt. tests/unit/run shows its sentence. */
#define SKIP_TEST(reason) (print_message("# skip " reason "\n"), skip())

#endif
