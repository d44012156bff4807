/* Loads and stores of all sizes, atomic ones, floating point, vectors (with -march=rv64gcv), around system calls.
 * Without libc for RV32, which has none for Linux here. */
#include <stdint.h>
#if __riscv_xlen == 64
#include <stdio.h>
#endif

uint64_t table[64];
static volatile double d[4];
static volatile float f;
static volatile uint8_t b[8];
static volatile uint16_t h[4];
static volatile int32_t w[4];
static _Atomic unsigned long counter;

__attribute__((noinline)) static uint64_t work(uint64_t seed) {
    for (int i = 0; i < 64; i++) table[i] = (table[i] ^ seed >> 3) * 31 + (uint64_t)i;
    b[seed & 7] = (uint8_t)seed;
    h[seed & 3] += b[1];
    w[seed & 3] -= h[1];
    d[seed & 3] = (double)w[0] * 1.5 + d[1];
    f += (float)d[0];
    counter += (unsigned long)seed;
    return table[seed & 63] + counter;
}

#ifdef __riscv_vector
static void copy(uint64_t *to, const uint64_t *from) {
    __asm__ volatile("li t0, 128\n vsetvli t0, t0, e8, m8, ta, ma\n vle8.v v0, (%0)\n vse8.v v0, (%1)\n"
                     "li t0, 8\n vsetvli t0, t0, e64, m4, ta, ma\n vle64.v v8, (%0)\n vs1r.v v8, (%1)\n"
                     "li t1, 24\n vsse64.v v8, (%1), t1\n" ::"r"(from),
                     "r"(to)
                     : "t0", "t1", "memory");
}
#else
static void copy(uint64_t *to, const uint64_t *from) {
    to[0] = from[0];
}
#endif

static void show(uint64_t value) {
#if __riscv_xlen == 64
    fprintf(stderr, "%lx\n", (unsigned long)value);
#else
    register long a0 __asm__("a0") = 2, a2 __asm__("a2") = sizeof value, a7 __asm__("a7") = 64; /* write */
    register const void *a1 __asm__("a1") = &value;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
#endif
}

int main(void) {
    uint64_t r = 0;
    for (uint64_t i = 0; i < 6; i++) {
        r += work(i * 7);
        copy(table, table + 32);
        if (i % 2) show(r); /* a system call each */
    }
    return 0;
}

#if __riscv_xlen == 32
__attribute__((noreturn, used)) void _start(void) {
    register long a0 __asm__("a0") = main(), a7 __asm__("a7") = 93; /* exit */
    __asm__ volatile("ecall" : : "r"(a0), "r"(a7));
    for (;;) {
    }
}
#endif
