// Decisions of C++ beside conversions of objects, exceptions, loops over ranges, calls of methods, and calls that never return.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <vector>

class Input {
public:
    Input(const char *text) : at(text) {}
    explicit operator bool() const;
    char peek() const;
    void eat();
    bool is(char c) const;
    int spaces();
    int token(bool quoted, bool strict);

private:
    const char *at;
};

Input::operator bool() const { return *at != 0; }
char Input::peek() const { return *at; }
void Input::eat() { at++; }
bool Input::is(char c) const { return *at == c; }

int Input::spaces() {
    int count = 0;
    while (*this && is(' ')) {
        eat();
        count++;
    }
    return count;
}

int Input::token(bool quoted, bool strict) {
    int count = 0;
    if (!*this || is('#')) return 0;
    while (*this && !is(' ')) {
        eat();
        count++;
    }
    if (quoted && count > 3) throw count;
    if (strict && (!*this || peek() != ' ')) throw -count;
    return count;
}

static int checked(int a, int b, const std::vector<int> &list) {
    int sum = 0;
    if (a > 5 && b > 5) throw a;
    if (a > 3 || b > 3) sum += 1;
    for (int item : list) {
        if (item < 0) continue;
        if (item > 100) break;
        sum += item;
    }
    if (b > 2 || a > 6) sum *= 2;
    try {
        if (a == 1 && b == 1) throw 7;
        if (a < 3 && b < 2) sum++;
    } catch (int thrown) {
        if (thrown == 7 && a) sum += thrown;
    }
    return sum;
}

// g may throw between the two decisions.
static void passed(int n) {
    if (n > 6) throw n;
}
static int after(int a, int b) {
    int r = 0;
    if (a && b) r = 1;
    passed(a);
    if (a || b) r += 2;
    return r;
}

class Steps {
public:
    int run(int which, int a, int b);
    void begin(int a);
    int total = 0;
};
void Steps::begin(int a) { total += a; }
int Steps::run(int which, int a, int b) {
    switch (which) {
    case 0:
        begin(a);
        if (a > 1 && b > 2) total += 3;
        break;
    case 1:
        begin(b);
        if (a > 4 || b > 1) total -= 1;
        break;
    default:
        break;
    }
    return total;
}

static int compared(const char *a, const char *b) {
    assert(a && b);
    return *a == *b;
}

// Has the name of a function of a C library that does not return.
extern "C" __attribute__((noinline)) void __assert_func(int why) {
    volatile int seen = why;
    (void)seen;
}
static int noted(int a, int b) {
    if (a > 4 && b > 1) __assert_func(a);
    if (a > 1 || (__assert_func(a), b > 6)) b += 2;
    return b;
}

[[noreturn]] static void fail(int why) {
    throw why;
}
static int limited(bool quoted, bool strict, const Input &input, int count) {
    while (input && count < 3) count++;
    if (quoted && count > 3) fail(count);
    if (strict && (!input || input.peek() != ' ')) fail(-count);
    return count;
}

int main(int argc, char **argv) {
    int result = 0;
    Steps steps;
    for (const char *text : {"  ab cd", "", "#x", "abcdef gh", "x", "   "}) {
        for (int flags = 0; flags < 4; flags++) {
            Input input(text);
            result += input.spaces();
            try {
                result += compared(text, "x");
                result += limited(flags & 1, flags & 2, input, flags + 1);
                result += input.token(flags & 1, flags & 2);
            } catch (int thrown) {
                result -= thrown;
            }
        }
    }
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b += argc) {
            try {
                result += checked(a, b, {a, -b, 3 * a, 40 * b, 5});
            } catch (int thrown) {
                result += thrown;
            }
            try {
                result += after(a, b);
            } catch (...) {
                result++;
            }
            result += noted(a, b) + steps.run((a + b) % 3, a, b);
        }
    std::printf("%d %s\n", result, argv[0] ? "" : "?");
    return 0;
}
