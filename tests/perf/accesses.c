/* Loads and stores of all sizes, atomic ones, floating point, vectors (with -march=rv64gcv), around system calls. */
#include <stdint.h>
#include <stdio.h>

uint64_t table[64];
static volatile double d[4];
static volatile float f;
static volatile uint8_t b[8];
static volatile uint16_t h[4];
static volatile int32_t w[4];
static _Atomic uint64_t counter;

__attribute__((noinline)) static uint64_t work(uint64_t seed) {
    for (int i = 0; i < 64; i++) table[i] = (table[i] ^ seed >> 3) * 31 + (uint64_t)i;
    b[seed & 7] = (uint8_t)seed;
    h[seed & 3] += b[1];
    w[seed & 3] -= h[1];
    d[seed & 3] = (double)w[0] * 1.5 + d[1];
    f += (float)d[0];
    counter += seed;
    return table[seed & 63] + counter;
}

#ifdef __riscv_vector
static void copy(uint64_t *to, const uint64_t *from) {
    __asm__ volatile("li t0, 128\n vsetvli t0, t0, e8, m8, ta, ma\n vle8.v v0, (%0)\n vse8.v v0, (%1)\n"
                     "li t0, 8\n vsetvli t0, t0, e64, m4, ta, ma\n vle64.v v8, (%0)\n vs1r.v v8, (%1)\n"
                     "li t1, 24\n vsse64.v v8, (%1), t1\n" ::"r"(from), "r"(to) : "t0", "t1", "memory");
}
#else
static void copy(uint64_t *to, const uint64_t *from) { to[0] = from[0]; }
#endif

int main(void) {
    uint64_t r = 0;
    for (uint64_t i = 0; i < 6; i++) {
        r += work(i * 7);
        copy(table, table + 32);
        if (i % 2) fprintf(stderr, "%lx\n", (unsigned long)r); /* a system call each */
    }
    return 0;
}
