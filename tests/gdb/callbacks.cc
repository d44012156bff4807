#include <cstdio>
#include <stdexcept>
#include <string>
#include "library.h"

struct Reverse : Visitor {
    int compare(int a, int b) override
    {
        calls++;
        return b - a;
    }
};

struct Limited : Visitor {
    int limit;
    explicit Limited(int n) : limit(n) {}
    int compare(int a, int b) override
    {
        if (++calls > limit)
            throw std::out_of_range("limit");
        return Visitor::compare(a, b);
    }
};

struct Noisy {
    int *counter;
    explicit Noisy(int *c) : counter(c) {}
    ~Noisy() { ++*counter; }
};

static volatile int sink;

__attribute__((noinline)) int attempt(Visitor &visitor, int *data)
{
    int destroyed = 0;
    try {
        Noisy n(&destroyed);
        int got = guarded(visitor, data, 8);
        sink = got;
    } catch (const std::runtime_error &e) {
        sink = e.what()[0];
        return destroyed;
    }
    return -destroyed;
}

__attribute__((noinline)) int twice(int n)
{
    int data[8] = {5, 3, 9, 1, 7, 2, 8, 4};
    Limited visitor(n);
    int a = attempt(visitor, data);
    Reverse reverse;
    int b = attempt(reverse, data);
    return a + 10 * b;
}

int main()
{
    int a = twice(100);
    int b = twice(4);
    int c = twice(0);
    printf("%d %d %d\n", a, b, c);
    return 0;
}
