/* Makes code at run time, in two places, one after the other; prints where. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int main(void) {
    uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;

    if (code == MAP_FAILED) return 1;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t *at = code + 64 * i;
        at[0] = 0x00150513; /* addi a0, a0, 1 */
        at[1] = 0x00008067; /* ret */
        __asm__ volatile("fence.i" ::: "memory");
        for (int n = 0; n < 10; n++) sum += ((long (*)(long))(void *)at)(n);
    }
    printf("%lx %ld\n", (long)(uintptr_t)code, sum);
    return 0;
}
