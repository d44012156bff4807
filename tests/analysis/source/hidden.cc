/* What only some instances of a template have code for, and what macros and attributes hide. */
/* clang-format off */
extern "C" void exit(int) __attribute__((noreturn));
static int global;
struct Text { // with a temporary in its constructor, and it may throw
    struct Place { ~Place() {} };
    int size;
    Text(const char *, const Place & = Place()) : size(global++) {}
    Text(int n, char, const Place & = Place()) : size(n) {}
    ~Text() {}
};
struct Holder {
    int n;
    Holder() : n(global++) {}
    ~Holder() { global++; }
};
template <class T, bool fast> static int search(T n) {
    int found = 0;
    while (n > 0) {
        if (fast && n == 3) {
            found++;
        }
        T copy = n;
        if constexpr (fast) {
            found += (int)copy;
        }
        n = n - 1;
    }
    return found;
}
template <class T> static int keep(int n) {
    for (;;) {
        T t;
        if (n-- == 0) {
            return n;
        }
    }
}
struct Log {
    Log &operator<<(const char *) { global++; return *this; }
    Log &operator<<(int) { return *this; }
};
static Log text;
#define EXPECT(condition) if (condition) ; else text
[[noreturn]] static void fail() { exit(3); }
#define REQUIRE(condition) do { if (!(condition)) { fail(); } } while (0)
static int expects(int n) {
    EXPECT(n < 100) << "a"
                    << n
                    << "b";
    if (n < 2)
        return 2;
    REQUIRE(n < 50);
    return n;
}
template <class F, class G> static int either(F f, G g, int n) { return n > 2 ? f(n) : g(n); }
static int lambdas(int n) {
    auto square =
        [](int of) { return of * of; };
    int sum = either(
        [](int of) { return of; },
        [n](int of) {
            return of + n;
        },
        n);
    return n > 3 ? square(sum) : sum;
}
static int called(int n) {
    auto twice = [](int of) { return 2 * of; };
    for (int i = 0; i < n; i++) global += twice(i) + [](int of) {
        return of;
    }(i);
    return global;
}
static Text *made(int n) {
    if (n > 5)
        return nullptr;
    Text *result;
    if (n == 3) {
        result = new Text("three");
    } else {
        result = new Text(3, 'x');
    }
    if (n == 4) {
        delete result;
        return nullptr;
    }
    return result;
}
static Text *late(int n) {
    if (n < 2)
        return nullptr;
    if (n < 5)
        return nullptr;
    Text *result;
    if (n == 5) {
        result = new Text("five");
    } else {
        result = new Text(3, 'x');
    }
    return result;
}
struct Caller {
    int n;
    int call() const;
};
static int apply(int n, int (*of)(int)) { return of(n) + of(n + 1); }
int Caller::call() const {
    return apply(n, [](int of) {
        return of + 1; });
}
static int tries(int n) {
    try {
        Holder holder;
        if (n == 2) throw n;
        global += holder.n;
    } catch (int caught) {
        return caught;
    }
    return n;
}
#define GUARDED 1
static int guarded(int n) {
#if GUARDED
    try {
#endif
        if (n > 4) {
            return tries(n);
        } else {
            n++;
        }
        if (n == 2)
            return 7;
#if GUARDED
    } catch (...) {
        return 3;
    }
#endif
    return n;
}
static int cases(int n) {
    switch (n) {
    case 1: n++;
    case 2: {
        try {
            n += tries(n);
        } catch (...) {
            n--;
        }
    } break;
    case 3: n++;
    }
    return n;
}
int main() {
    for (int i = 0; i < 7; i++) {
        delete made(i);
        delete late(i);
        global += cases(i) + guarded(i);
        global += Caller{i}.call();
        global += search<int, true>(i) + search<long, false>(i) + (int)search<double, true>(i);
        global += keep<int>(i) + keep<Holder>(i) + expects(i) + called(i) + lambdas(i) + tries(i);
    }
    return global == 12345;
}
