/* Threads one after the other and at the same time; indexes of vCPUs are used again. */
#include <pthread.h>
#include <stdio.h>

static long results[4];

static void *work(void *argument) {
    long n = (long)argument, sum = 0;
    for (long i = 0; i < 300 + n; i++) sum += i % 7 == 0 ? i : -1;
    results[n] = sum;
    return NULL;
}

int main(void) {
    for (long round = 0; round < 3; round++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)round)) return 1;
        pthread_join(thread, NULL);
    }
    printf("%ld %ld %ld\n", results[0], results[1], results[2]);
    return 0;
}
