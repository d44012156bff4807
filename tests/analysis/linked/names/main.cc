// clang-format off: several functions on one line
#include <cstdio>
int overload();
int main() {
    auto a = [](int x) { return x + 1; };
    auto b = [](int x) {
        if (x > 3)
            return x * 2;
        return x;
    };
    auto c = [](auto x) { return x; };
    struct Local { int run(int x) { return x + 7; } } l;
    int s = overload();
    for (int i = 0; i < 10; i++) s += a(i);
    for (int i = 0; i < 5; i++) s += b(i);
    s += c(4) + (int)c(3.0) + l.run(2);
    std::printf("%d\n", s);
}
