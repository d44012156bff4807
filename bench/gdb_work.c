/* A program that runs long: bench/gdb walks through its trace. MILLIONS is the number of instructions, roughly. */
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static uint32_t table[4096];
volatile uint32_t sink;

NOINLINE uint32_t mix(uint32_t x) {
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

NOINLINE uint32_t search(uint32_t wanted) {
    uint32_t at = 0;
    for (uint32_t step = 2048; step; step /= 2)
        if (table[at + step - 1] < wanted) at += step;
    return at;
}

NOINLINE void long_call(uint32_t millions) {
    uint32_t x = 1;
    for (uint32_t i = 0; i < millions; i++)
        for (uint32_t k = 0; k < 7800; k++) {
            x = mix(x);
            sink += search(x);
        }
}

NOINLINE void never(void) {
    sink = 0;
}

NOINLINE void once(void) {
    sink = 1;
}

int main(int argc, char **argv) {
    uint32_t millions = argc > 1 ? (uint32_t)atoi(argv[1]) : 10;
    for (uint32_t i = 0; i < 4096; i++) table[i] = i << 20;
    once();
    for (uint32_t i = 0; i < 9; i++) long_call(millions / 10);
    long_call(millions / 10);
    if (sink == 12345) never();
    return 0;
}
