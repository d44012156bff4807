// Calls of known numbers: the lines with "count" have theirs.
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <vector>
#define SEPARATE __attribute__((noinline, noclone))

static volatile int sink;

namespace shapes {
struct Shape {
    virtual ~Shape() = default;
    virtual int area(int n) const = 0;
};
struct Round : Shape {
    SEPARATE int area(int n) const override {
        return n * n * 3 + sink;
    } // count 10
};
struct Square : Shape {
    SEPARATE int area(int n) const override {
        return n * n + sink;
    } // count 10
};
} // namespace shapes

SEPARATE static int fibonacci(int n) {
    if (n < 2)  // count 465
        return n; // count 233
    return fibonacci(n - 1) + fibonacci(n - 2); // count 232
}

template <typename T> SEPARATE T twice(T n) {
    return n + n + sink; // count 50
}

SEPARATE static int deep(int n) {
    if (n == 0)                        // count 70
        throw std::runtime_error("deep"); // count 7
    return deep(n - 1) + 1;            // count 63
}

SEPARATE static int attempt(int n) {
    try {
        return deep(n);
    } catch (const std::exception &) {
        return n;
    }
}

SEPARATE static bool less(int a, int b) {
    return a < b + (sink & 0);
}

int main() {
    std::vector<int> numbers;
    shapes::Round round;
    shapes::Square square;
    const shapes::Shape *all[2] = {&round, &square};
    std::function<int(int)> twice_of = twice<int>;
    sink = fibonacci(12);
    for (int i = 0; i < 20; i++) sink += all[i & 1]->area(i);
    for (int i = 0; i < 50; i++) sink += twice_of(i);
    for (int i = 0; i < 7; i++) sink += attempt(9);
    for (int i = 0; i < 64; i++) numbers.push_back(i * 37 % 64);
    std::sort(numbers.begin(), numbers.end(), less);
    return numbers[5] != 5;
}
