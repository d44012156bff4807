// Exceptions through several frames, virtual calls, destructors on the way.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static int alive;

struct guard {
    guard() { alive++; }
    ~guard() { alive--; }
};

struct shape {
    virtual ~shape() {}
    virtual int area() const = 0;
};
struct square : shape {
    int side;
    explicit square(int s) : side(s) {}
    int area() const override {
        if (side < 0) throw std::invalid_argument("negative side");
        return side * side;
    }
};

static int deep(const shape &s, int depth) {
    guard g;
    return depth ? deep(s, depth - 1) : s.area();
}

int main() {
    int total = 0, caught = 0;
    for (int i = -2; i < 4; i++) {
        try {
            total += deep(square(i), 5);
        } catch (const std::exception &e) {
            caught += static_cast<int>(std::string(e.what()).size());
        }
    }
    std::printf("%d %d %d\n", total, caught, alive);
    return 0;
}
