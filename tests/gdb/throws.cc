// Exceptions through several frames, and virtual calls.
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

volatile int sink;

struct Shape {
    virtual ~Shape() {}
    virtual int area(int scale) const = 0;
};

struct Square : Shape {
    int side;
    explicit Square(int s) : side(s) {}
    NOINLINE int area(int scale) const override
    {
        return side * side * scale;
    }
};

struct Strip : Shape {
    NOINLINE int area(int scale) const override
    {
        if (scale > 2)
            throw std::runtime_error("too large");
        return scale;
    }
};

struct Guard {
    NOINLINE ~Guard()
    {
        sink++;
    }
};

NOINLINE int measure(const Shape &shape, int scale)
{
    Guard guard;
    return shape.area(scale) + sink;
}

NOINLINE int attempt(const Shape &shape, int scale)
{
    try {
        return measure(shape, scale);
    } catch (const std::exception &) {
        sink += 10;
    }
    return -1;
}

int main()
{
    Square square(3);
    Strip strip;
    int sum = 0;
    for (int round = 0; round < 30; round++) {
        sum += attempt(square, 2);
        sum += attempt(strip, 1);
        sum += attempt(strip, 5);
        sum += attempt(square, 7);
    }
    return sum == 0;
}
