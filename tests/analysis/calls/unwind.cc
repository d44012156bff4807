// Exceptions: caught near and far, through destructors, rethrown, out of recursion, out of callbacks.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#define FUNCTION __attribute__((noinline, noclone))

static volatile int sink;

FUNCTION static void note(int n) {
    sink = sink + n;
}

struct guard {
    int n;
    FUNCTION explicit guard(int number) : n(number) {
        note(n);
    }
    FUNCTION ~guard() {
        note(-n);
    }
};

struct shape {
    FUNCTION shape() {
        note(2);
    }
    FUNCTION virtual ~shape() {
        note(1);
    }
    virtual int area() const = 0;
};
struct square : shape {
    int side;
    FUNCTION explicit square(int s) : side(s) {}
    FUNCTION int area() const override {
        if (side < 0) throw std::invalid_argument("negative side");
        return side * side;
    }
};

FUNCTION static int bare(const shape &s, int depth) {
    int result = depth ? bare(s, depth - 1) : s.area();
    note(result);
    return result;
}

FUNCTION static int cleaned(const shape &s, int depth) {
    guard g(depth);
    int result = depth ? cleaned(s, depth - 1) : bare(s, 2);
    note(result);
    return result;
}

FUNCTION static int again(const shape &s, int depth) {
    try {
        return depth ? again(s, depth - 1) : cleaned(s, 1);
    } catch (const std::exception &) {
        note(depth);
        if (depth < 3) throw;
        return -1;
    }
}

FUNCTION static int nested(int n) {
    int result = 0;
    try {
        guard outer(n);
        try {
            guard inner(n + 1);
            if (n % 2) throw n;
            if (n % 3 == 0) throw 2.5;
            note(3);
        } catch (int thrown) {
            note(thrown);
            result = 1;
        }
        note(4);
    } catch (double thrown) {
        result = static_cast<int>(thrown);
    }
    note(5);
    return result;
}

FUNCTION static int compare(const void *a, const void *b) {
    int left = *static_cast<const int *>(a), right = *static_cast<const int *>(b);
    if (left == 5) throw left;
    return left - right;
}

FUNCTION static int out_of_library() {
    int values[] = {9, 4, 5, 1, 7, 3};
    try {
        std::qsort(values, 6, sizeof values[0], compare);
    } catch (int thrown) {
        note(thrown);
        return thrown;
    }
    return 0;
}

// Thrown outside of the try of the innermost call, caught by the same function further out.
FUNCTION static int thrower(int depth) {
    if (depth == 0) throw 1;
    try {
        return thrower(depth - 1) + 1;
    } catch (int thrown) {
        note(thrown);
        return thrown;
    }
}

int main() {
    int total = 0, caught = 0;
    for (int side = -2; side < 2; side++) {
        try {
            total += bare(square(side), 3);
            total += cleaned(square(side), 4);
        } catch (const std::exception &e) {
            caught += static_cast<int>(std::strlen(e.what()));
        }
        try {
            total += cleaned(square(side), 4);
        } catch (...) {
            caught++;
        }
        total += again(square(side), 5);
    }
    for (int i = 0; i < 4; i++) total += nested(i);
    total += out_of_library();
    total += thrower(2);
    std::printf("%d %d\n", total, caught);
    return 0;
}
