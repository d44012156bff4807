/* Code generated at run time, repeatedly at the same address; earlier code is generated again. With an argument, a second
 * thread executes the last code at the end. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void *execute(void *code) {
    ((long (*)(void))code)();
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
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
    (void)argv;
    if (argc > 1 && (pthread_create(&thread, NULL, execute, code) || pthread_join(thread, NULL))) return 1;
    printf("%ld\n", sum);
    return 0;
}
