/* A second thread that begins late: the stream is written anew with SRC, and later once more, compressed. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static volatile uint32_t sums[2];

static void *work(void *argument) {
    uint32_t n = (uint32_t)(uintptr_t)argument, random = 1 + n, sum = 0;
    for (uint32_t i = 0; i < 1500000; i++) {
        random = random * 1664525 + 1013904223;
        if (random >> 31) sum += random >> 7;
        if (random >> 30 & 1) sum ^= i;
    }
    sums[n] = sum;
    return NULL;
}

int main(void) {
    pthread_t thread;
    work((void *)0);
    if (pthread_create(&thread, NULL, work, (void *)1)) return 1;
    pthread_join(thread, NULL);
    printf("%u %u\n", (unsigned)sums[0], (unsigned)sums[1]);
    return 0;
}
