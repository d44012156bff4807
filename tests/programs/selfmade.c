/* Code generated at run time, repeatedly at the same address; earlier code is generated again. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
    uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;
    if (code == MAP_FAILED) return 1;
    for (uint32_t round = 0; round < 24; round++) {
        uint32_t i = round % 8;
        code[0] = 0x00000513 | i << 20;                     /* li a0, i */
        code[1] = i & 1 ? 0x00008067 : 0x00a50533;          /* ret or add a0, a0, a0 */
        code[2] = 0x00008067;                               /* ret */
        __asm__ volatile("fence.i" ::: "memory");
        for (int n = 0; n < 4; n++) sum = sum * 3 + ((long (*)(void))(void *)code)();
    }
    printf("%ld\n", sum);
    return 0;
}
