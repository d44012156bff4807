/* Blocks of gcc without code: ends of scopes, of handlers and of loops (line_codeless.h). */
#include <stdexcept>
#include <string>

static int total;
void add(int n) {
    total += n;
}

struct section {
    bool in;
    section(int n) : in(n & 1) {}
    ~section() {
        add(1);
    }
    operator bool() const {
        return in;
    }
};

struct value {
    std::string text;
    int n;
    value(const char *t, int i) : text(t), n(i) {}
    ~value() {
        add(n);
    }
    int size() const {
        return n;
    }
};

#define SECTION(n) if (const section &s = section(n))
// clang-format off
#define EXPECT(statement, message, failed)                                                                             \
    switch (0) case 0: default:                                                                                        \
        if (const section inner = section(total | 1)) {                                                                \
            std::string expected = message;                                                                            \
            bool caught = false;                                                                                       \
            try { if (total >= 0) { statement; } }                                                                     \
            catch (const std::runtime_error &e) {                                                                      \
                caught = true;                                                                                         \
                if (expected != e.what()) { add(2); goto failed; }                                                     \
            }                                                                                                          \
            catch (...) { add(3); goto failed; }                                                                       \
            if (!caught) { add(4); goto failed; }                                                                      \
        } else                                                                                                         \
        failed: add(5)
#define LEAVES(statement, number, out)                                                                                 \
    try { statement; } catch (const std::runtime_error &) { if (number & 2) { add(8); goto out; } add(1); } add(2); out: add(3)
// clang-format on
#define THROWS(statement)                                                                                              \
    try {                                                                                                              \
        statement;                                                                                                     \
        add(1);                                                                                                        \
    } catch (const std::logic_error &) {                                                                               \
        add(6);                                                                                                        \
    }

void throws(int n) {
    if (n & 1) throw std::runtime_error("odd");
    if (n & 2) throw std::logic_error("two");
}
void wants(const std::string &text, int n) {
    throws(n + (int)text.size());
}

struct thrower {
    int n;
    thrower(int m) : n(m) {
        throws(n);
    }
    ~thrower() {
        add(n);
    }
    void use() const {
        throws(n & 2);
    }
};
void caught(int n) {
    EXPECT(throws(n), n & 4 ? "odd" : "even", failed);
    EXPECT(thrower(n + 1).use(), "odd", next);
    EXPECT(thrower(n + 2), "odd", last);
    EXPECT(wants(std::string("abc"), n), "even", end);
}
void left(int n) {
    LEAVES(throws(n & 1), n, first);
    LEAVES(throws((n >> 1) & 1), n, second);
}
void temporaries(int n) {
    THROWS(wants(std::string("ab"), n & 6));
    THROWS(throws(n & 2));
    THROWS(throws(n & 6));
}
void handled(int n) {
    std::string text("x");
    THROWS(throws(n & 2));
    add((int)text.size());
}
void scopes(int n) {
    SECTION(n) {
        value j("one", n);
        add(j.size());
    }
    SECTION(n + 1) {
        int *p = new int(n);
        add(*p);
        delete p;
    }
    SECTION(n >> 1) {
        value j("two", n);
        SECTION(n) {
            add(7);
        }
    }
}
std::string result(int n) {
    std::string text("a");
    value v("b", n);
    if (n & 1) text += v.text;
    return text;
}
std::string call(int n) {
    value v("c", n);
    return result(v.size());
}
struct insn {
    int code, to;
    int op() const {
        return code;
    }
    int out() const {
        return to;
    }
    bool last() const {
        return code == 3;
    }
};
// clang-format off
int operands(const insn &i, int n) {
    if (!i.last() &&
        i.op() == 2 && (i.out() == n ||
                        i.out() == 2)) {
        return 1;
    }
    return 0;
}
bool returned(const insn &i, int n) {
    return i.op() == 3 &&
           i.out() == n;
}
// clang-format on
int conditions(int n) {
    int found = 0;
    if ((std::string("a") == result(n) && n > 2) || std::string("ab") == result(n + 1)) {
        found = 1;
    }
    const bool both = n > 3 && (n & 1);
    if (n > 1 && (n == 3 || n == 5)) {
        found += 2;
    }
    return found + both;
}
template <typename number> int rounds(number n) {
    number left = n;
    while (true) {
        number next = left - 1;
        if (next & 1) {
            left = next;
        } else {
            if (left <= 0) {
                return n;
            } else {
                left--;
            }
        }
    }
}
#include "copied.h"
void use(slice v, int n) {
    add(v.n + n);
}
int copies(int n) {
    use(slice("abc", 3), n), use(slice("d", 1), copied(n));
    return n;
}
int main() {
    int sum = 0;
    for (int n = 0; n < 12; n++) {
        caught(n);
        left(n);
        temporaries(n);
        handled(n);
        scopes(n);
        sum += call(n).size();
        const insn i = {n % 5, n % 3};
        sum += conditions(n) + operands(i, n & 3) + returned(i, n & 3);
        sum += rounds(n);
        sum += copies(n);
    }
    return sum == 0;
}
