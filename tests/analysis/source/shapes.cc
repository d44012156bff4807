// Names to demangle, a function that is inlined twice over, one that never runs, one that is only declared inline.
#include <cstdio>

namespace shapes {
template <typename T> struct Box {
    T side;
    __attribute__((noinline)) T area(int times) const;
};

template <typename T> T Box<T>::area(int times) const {
    T sum = 0;
    for (int i = 0; i < times; i++) sum += side * side;
    return sum;
}

inline __attribute__((always_inline)) int innermost(int n) {
    return n % 7 == 0 ? n * 3 : n + 1; // seven
}

inline __attribute__((always_inline)) int middle(int n) {
    return innermost(n) ^ 0x55;
}
} // namespace shapes

extern "C" __attribute__((noinline)) int outermost(int n) {
    return shapes::middle(n) + 1;
}

extern "C" __attribute__((noinline, used)) int never(int n) {
    return n > 3 ? n : 7;
}

int main(int argc, char **) {
    shapes::Box<int> box{argc + 2};
    int sum = box.area(20);
    for (int i = 0; i < 70; i++) sum += outermost(i);
    std::printf("%d\n", sum);
    return 0;
}
