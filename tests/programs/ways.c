/* Many functions, called from one place, each with a thousand paths: first with few blocks, then with more. The
 * argument is the number of calls. */
#include <stdlib.h>

enum { FUNCTIONS = 24, WAYS = 1 << 10 };

static unsigned seed = 1;

static unsigned next_number(void) {
    seed = seed * 1103515245 + 12345;
    return seed >> 8;
}

#define BLOCK __asm__ volatile("j 1f\n1:");
#define STEP(bit) if (way >> (bit) & 1) __asm__ volatile("nop");
#define STEPS(bit) STEP(bit) STEP((bit) + 1) STEP((bit) + 2) STEP((bit) + 3) STEP((bit) + 4)
#define FUNCTION(name, n, blocks) \
    static void name##_##n(unsigned way) { \
        STEPS(0) STEPS(5) \
        blocks \
    }
#define SHORT(n) FUNCTION(short, n, )
#define LONG(n) FUNCTION(long, n, BLOCK BLOCK BLOCK)
#define FOR_ALL(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) \
    X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
FOR_ALL(SHORT)
FOR_ALL(LONG)

typedef void function(unsigned way);
#define SHORT_NAME(n) short_##n,
#define LONG_NAME(n) long_##n,
static function *const volatile short_ones[FUNCTIONS] = {FOR_ALL(SHORT_NAME)};
static function *const volatile long_ones[FUNCTIONS] = {FOR_ALL(LONG_NAME)};

static void call(function *const volatile *functions, int count) {
    for (int i = 0; i < count; i++) {
        unsigned number = next_number();
        functions[number % FUNCTIONS](number / FUNCTIONS % WAYS);
    }
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 100;
    call(short_ones, count);
    call(long_ones, count);
    return 0;
}
