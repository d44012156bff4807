#include <stdint.h>
#ifndef ROUNDS
#define ROUNDS 30
#endif
static uint64_t table[64];
__attribute__((noinline)) static uint64_t mix(uint64_t x) { return (x ^ x >> 7) * 31; }
__attribute__((noinline)) static void fill(uint64_t seed) { for (int i = 0; i < 64; i++) table[i] = mix(seed + (uint64_t)i); }
__attribute__((noinline)) static uint64_t sum(int depth) {
    uint64_t all = 0;
    for (int i = 0; i < 64; i++) all += table[i];
    return depth ? all + sum(depth - 1) : all;
}
int main(void) { uint64_t r = 0; for (int i = 0; i < ROUNDS; i++) { fill((uint64_t)i); r += sum(i % 4); } return (int)(r & 1); }
