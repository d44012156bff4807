/* Lines that llvm-cov counts otherwise than they were executed, each with its rule (docs/coverage-rules.md, "Lines of
 * clang"): the count of llvm-cov, and that of the execution. */
/* clang-format off */
#include <assert.h>
#include <csetjmp>
static int global;
static std::jmp_buf place;
#define SET(x, n) ((x) = (n))
#define CLEAR(x) SET(x, 0)
#define BELOW(a, b) LESS((a), (b))
#define LESS(a, b) ((a) < (b))
#define CASES(a, b) case a: global++; break; case b: global--; break;
static int macros(int n) {
    if (n > 5)
        CLEAR(global); // macros: 4, 0
    while (BELOW(n, 2)) // macros: 4, 7
        n++;
    switch (n) {
    CASES(7, 3) // macros: 0, 1
    }
    return n;
}
static int asserts(int n) {
    if (n < 0)
        assert(0); // assert: 4, 0
    switch (n) {
    case 0:
    case 1:
    case 2:
    case 3: return n;
    }
    assert(0); // assert: 4, 0
    return 1;
}
static int dead(int n) {
    if (n == 1) return 2;
    return n;
    assert(0);
    return 1;
} // assert: 0, 4
static int gaps(int n) {
    do {
        if (n == 2) break;
        global++;
    } while (n-- > 2);
    global++; // gaps: 0, 4
    {
        if (n == 3) return 1;
        global++;
    }
    global++; // gaps: 0, 4
    return n;
}
static int thrower(int n) {
    if (n == 2) throw n;
    return n;
}
static int throws(int n) {
    global += thrower(n);
    global++; // calls: 4, 3
    if (thrower(n) < 9) // calls: 4, 3
        return 1;
    else
        global++; // calls: 1, 0
    return n; // calls: 1, 0
} // calls: 4, 3
static int caught(int n) {
    try {
        if (throws(n)) return n;
        else
            return 7; // calls: 1, 0
    } catch (int) {
        return 5;
    }
}
static int jumps(int n) {
    int code = setjmp(place);
    if (code) // twice: 4, 8
        return code;
    longjmp(place, n + 1); // twice: 0, 4
}
static int inside(int n) {
    struct Local {
        static int never(int of) { // inside: 4, 0
            return of;
        }
    };
    return n > 9 ? Local::never(n) : n;
}
struct Pair { int a, b; Pair() : a(1), b(2) {} };
template <class T> struct Holder {
    Holder(int n, T of)
        : n(n),
          held(of), // initializers: 4, 8
          other(n) {}
    int n;
    T held;
    int other;
};
static const bool debug = false;
static void left(int n) {
    for (int i = 0; i < 3; i++) {
        if (i == n)
            return;
    }
    if (debug)
        global++;
} // left out: 1, 4
int main() {
    for (int n = 0; n < 4; n++) {
        global += macros(n) + asserts(n) + dead(n) + gaps(n) + caught(n) + jumps(n) + inside(n);
        Holder<int> first(n, 2);
        Holder<Pair> second(n, Pair());
        left(n);
    }
    return global == 12345;
}
