/* Several functions, instances of templates and lambdas on one line, and loops over ranges. */
/* clang-format off */
#include <cstdio>
#include <vector>
struct T { int f(int n) { return n + 1; } int g(int n) { return n - 1; } static int h(int n) { return n ? n : 7; } };
template <class A> A twice(A n) { return n + n; }
template <class A> struct Box {
    A n; explicit Box(A of) : n(of) {} A get() const { return n; }
    bool operator<(const Box &o) const { return n < o.n; } bool operator==(const Box &o) const { return n == o.n; }
};
static int loops(const std::vector<int> &v) {
    int s = 0;
    for (int n : v) {
        s += n;
        if (n == 3)
            continue;
        s++;
    }
    for (const auto &n : v) s += n;
    int grid[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    for (auto &row : grid) {
        for (int cell : row) {
            s += cell;
        }
    }
    for (int n : v) { if (n > 2) break; s += n; }
    return s;
}
struct Base {
    virtual ~Base() {
        calls++;
    }
    int calls = 0;
};
int main() {
    for (int i = 0; i < 2; i++) {
        Base *base = new Base;
        delete base;
    }
    T t;
    int s = 0;
    for (int i = 0; i < 3; i++) s += t.f(i) + t.f(i) + t.g(i);
    s += T::h(0) + twice(2) + twice(3) + (int)twice(1.5) + (int)twice(2L);
    Box<int> a(1), b(2); Box<long> c(3);
    s += a.get() + (int)c.get() + (a < b) + (a == b);
    auto next = [n = 0]() mutable { return ++n; };
    while (next() < 5)
        s++;
    auto generic = [](auto n) { return n; }; s += generic(1) + (int)generic(2L);
    s += loops({}) + loops({1}) + loops({1, 2, 3, 4});
    std::printf("%d\n", s);
    return 0;
}
