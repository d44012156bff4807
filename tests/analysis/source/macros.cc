/* Several functions of a macro on one line, and functions of which only the end has a place. */
#include <string>
#include <vector>
struct B {
    B() {}
    virtual ~B() {}
    virtual const char *text() const = 0;
    virtual void run() = 0;
    std::string s{"a"};
};
static std::vector<B *(*)()> all;
#define F1                                                                                                             \
    struct T : B {                                                                                                     \
        static B *factory() {                                                                                          \
            return new T();                                                                                            \
        }                                                                                                              \
        static bool collect() {                                                                                        \
            all.push_back(&T::factory);                                                                                \
            return true;                                                                                               \
        }                                                                                                              \
        const char *text() const override {                                                                            \
            return "T";                                                                                                \
        }                                                                                                              \
        void run() override;                                                                                           \
    };
F1 void T::run() {}
#define F2                                                                                                             \
    struct T2 : B {                                                                                                    \
        static B *factory() {                                                                                          \
            return new T2();                                                                                           \
        }                                                                                                              \
        const char *text() const override {                                                                            \
            return "T";                                                                                                \
        }                                                                                                              \
        void run() override;                                                                                           \
    };
F2 void T2::run() {}
#define F3                                                                                                             \
    struct T3 {                                                                                                        \
        static bool collect() {                                                                                        \
            all.push_back(&T::factory);                                                                                \
            return true;                                                                                               \
        }                                                                                                              \
    };
F3
#define F4                                                                                                             \
    struct T4 {                                                                                                        \
        static const char *text() {                                                                                    \
            return "T";                                                                                                \
        }                                                                                                              \
    };
    F4
#define F5                                                                                                             \
    struct T5 : B {                                                                                                    \
        const char *text() const override {                                                                            \
            return "T";                                                                                                \
        }                                                                                                              \
        void run() override;                                                                                           \
    };
        F5 void
        T5::run() {
}
int main() {
    B *b = T::factory();
    b->text();
    b->run();
    delete b;
    B *c = T2::factory();
    c->text();
    delete c;
    T::collect();
    T3::collect();
    T4::text();
    T5 t;
    return 0;
}
/* The head of a lambda whose body is on the next line, and a thunk. */
// clang-format off
struct V { virtual int f() const { return 1; } };
struct Y { virtual ~Y() = default; };
struct W : Y, V { int f() const override { return 2; } };
static int apply(int (*f)(int), int n) {
    return f(n) + f(n + 1);
}
static int pick(int n) {
    static const W w;
    const V *v = &w;
    int s = apply([](int a) {
        return a * 2; }, n);
    return s + v->f();
}
static int picked = pick(3) + pick(4);
