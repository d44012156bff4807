// clang-format off: several functions on one line
static int conv(int x) { return x + 1; }
static int conv(double x) { return (int)x + 2; }
namespace { int conv(char c) { return c; } struct A { int get() { return 1; } }; struct B { int get() { return 2; } }; }
int overload();
int overload() { int s = 0; for (int i = 0; i < 5; i++) s += conv(i); s += conv(2.0); s += conv('a') + A().get() + B().get() + B().get(); return s; }
