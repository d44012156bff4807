/* A timer of RV32, without a C library. */
typedef struct {
    void (*handler)(int);
    unsigned long flags;
    unsigned long mask[2];
} action;
static long call(long n, long a, long b, long c, long d) {
    register long a7 __asm__("a7") = n, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c,
                     a3 __asm__("a3") = d;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory");
    return a0;
}
static volatile int alarms, hits;
static void on_alarm(int s) {
    alarms++;
}
__attribute__((noinline)) static void step(int a, int b, int c) {
    if (a && (b || c)) hits++;
    if (!a || b) hits++;
}
void _start(void) {
    __asm__ volatile(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop");
    action one = {on_alarm, 0x40000000, {0, 0}};
    long it[4] = {0, 100, 0, 100}, off[4] = {0, 0, 0, 0};
    long e = call(134, 14, (long)&one, 0, 8);
    e |= call(103, 0, (long)it, 0, 0);
    for (int i = 0; i < 200000; i++) step(i & 1, 0, (i & 3) == 3);
    call(103, 0, (long)off, 0, 0);
    call(93, e ? 1 : alarms > 50 ? 0 : 2, 0, 0, 0);
}
