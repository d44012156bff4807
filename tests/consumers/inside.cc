#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <optional>
#include <vector>
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double a;
    explicit Square(double a) : a(a) {}
    double area() const override {
        return a * a;
    }
};
struct Disc : Shape {
    double r;
    explicit Disc(double r) : r(r) {}
    double area() const override {
        return 3.14 * r * r;
    }
};
static int fails(int n) {
    if (n > 3) throw std::runtime_error("n");
    return n;
}
int main(int argc, char **) {
    std::vector<int> v;
    for (int i = 0; i < 50; i++) v.push_back((i * 7919) % 101 + argc);
    std::sort(v.begin(), v.end(), [](int a, int b) {
        if (a == b) return false;
        return a < b;
    });
    auto never = [&](int x) {
        v.push_back(x);
        return x > 2;
    };
    std::function<int(int)> f = [&](int x) {
        if (x > 100) return never(x) ? 1 : 2;
        return x;
    };
    int n = 0;
    for (int i = 0; i < 6; i++) {
        try {
            n += fails(i);
        } catch (const std::exception &e) {
            n += f(i);
        }
    }
    struct Local {
        int a = 0;
        void unused() {
            a++;
        }
        int used(int x) {
            return a + x;
        }
    } local;
    n += local.used(n);
    if (argc > 5) local.unused();
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.emplace_back(new Square(2));
    if (argc > 1) shapes.emplace_back(new Disc(2));
    for (auto &s : shapes) n += (int)s->area();
    std::variant<int, std::string> w = n;
    if (argc > 3) w = std::string("x");
    n += std::visit(
        [](auto &&x) -> int {
            if constexpr (std::is_same_v<std::decay_t<decltype(x)>, int>)
                return x;
            else
                return x.size();
        },
        w);
    std::optional<std::string> o;
    if (n > 5) o = std::to_string(n);
    printf("%d %s\n", n, o.value_or("none").c_str());
}
