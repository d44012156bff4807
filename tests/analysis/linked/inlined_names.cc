// clang-format off: several functions on one line
#include <cstdio>
static volatile int input = 3;
namespace { struct A { int get() { return input + 1; } }; struct B { int get() { return input + 2; } }; }
template <class F> static inline int apply(F f, int x) { return f(x); }
int main() {
    int s = 0;
    for (int i = 0; i < 5; i++) {
        s += apply([](int x) { return x + input; }, i);
        s += apply([](int x) {
            if (x > input)
                return x * input;
            return x - input;
        }, i);
        s += A().get() + B().get();
    }
    std::printf("%d\n", s);
}
