#include <stdarg.h>
#include <stdio.h>
#include <string.h>
static int sum(int n, ...) {
    va_list ap;
    int s = 0;
    va_start(ap, n);
    while (n-- > 0) s += va_arg(ap, int);
    va_end(ap);
    return s;
}
static void clean(int *p) {
    *p = 0;
}
static int scoped(int n) {
    int __attribute__((cleanup(clean))) k = n;
    if (k > 2) return k;
    for (;;) {
        int __attribute__((cleanup(clean))) q = n++;
        if (q > 5) break;
        if (q == 3) continue;
        k += q;
    }
    return k;
}
static int vla(int n) {
    int a[n];
    for (int i = 0; i < n; i++) a[i] = i;
    struct {
        int x;
        char c[n];
    } v;
    memset(&v, 0, sizeof v);
    v.x = a[n - 1];
    return v.x;
}
static _Complex double cplx(double a) {
    _Complex double z = a + 2.0i;
    z = z * z / (1.0 - 1.0i);
    return z;
}
static __int128 wide(long a) {
    __int128 w = a;
    w = w * w * 12345;
    return w / 7;
}
static int sat(int a, int b) {
    int r;
    if (__builtin_add_overflow(a, b, &r)) return 0x7fffffff;
    return r;
}
static int str(const char *a) {
    if (!strcmp(a, "x") || !strncmp(a, "yy", 2)) return 1;
    return a[0] ? 2 : 3;
}
static int atom(_Atomic int *p) {
    int e = 3;
    while (!__atomic_compare_exchange_n(p, &e, e + 1, 0, 5, 5));
    return *p;
}
int main(void) {
    int s = 0;
    _Atomic int at = 9;
    s += sum(3, 1, 2, 3) + sum(0);
    for (int i = 1; i < 5; i++)
        s += scoped(i) + vla(i) + (int)__real__ cplx(i) + (int)wide(i) + sat(i, 0x7ffffffe) +
             str(i % 2    ? "x"
                 : i == 2 ? ""
                          : "yyz") +
             atom(&at);
    printf("%d\n", s);
    return 0;
}
