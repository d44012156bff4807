#include <stdio.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
static volatile int sink, hits;
static jmp_buf env;
#define BOTH(a, b) ((a) && (b))
__attribute__((noinline)) static int get(int x) { return x & 1; }
__attribute__((noinline)) static int jump(int x) { if (x == 3) longjmp(env, 1); return x & 1; }
__attribute__((noinline)) int old(a, b) int a; int b; { if (a > 1 && b < 3) return 1; return 2; }
__attribute__((noinline)) static int vla(int a, int b) { char text[(a > 1 && b) ? 4 : 8]; memset(text, a, sizeof text); return text[0] + (int)sizeof text; }
__attribute__((noinline)) static int block(int a, int b) { if (({ int t = a + b; t > 2 && get(t); }) || b == 1) { sink = 3; return 1; } sink = 1; return 0; }
__attribute__((noinline)) static int nested(int a, int b, int c) { return a ? (b || c ? 1 : 2) : (b && c ? 3 : 4); }
__attribute__((noinline)) static int effects(int a, int b) { int n = a; if (n++ > 1 && --b > 0) sink = n; else sink = b; return n + b; }
__attribute__((noinline)) static int again(int n, int b) { if (n > 0 && (again(n - 1, b) > 1 || b)) { sink = n; return n; } sink = 0; return b; }
__attribute__((noinline)) static int leave(int a, int b) { if (setjmp(env)) return 9; if (a && (jump(b) || b > 1)) { sink = 1; return 1; } sink = 2; return 2; }
static void handler(int s) { if (s == SIGUSR1 && hits >= 0) hits++; }
__attribute__((noinline)) static int raised(int a, int b) { if (a > 1 && (raise(SIGUSR1), b) && BOTH(a > 2, b > 1)) { sink = 5; return 1; } sink = 6; return 2; }
int main(void) { int s = 0; signal(SIGUSR1, handler);
for (int i = 0; i < 64; i++) { int a = i & 3, b = i >> 2 & 3, c = i >> 4;
s += old(a, b); s += vla(a, b); s += block(a, b); s += nested(a, b, c); s += effects(a, b); s += again(a, b); s += leave(a, b); s += raised(a, b); }
printf("%d %d\n", s, hits); return 0; }
