/* Threads that run at the same time: none begins its work before all have started. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4 };

static pthread_barrier_t together;
static unsigned long results[THREADS];

static void *work(void *argument) {
    unsigned long n = (unsigned long)argument, value = n + 1;
    pthread_barrier_wait(&together);
    for (unsigned long i = 0; i < 2000 + 500 * n; i++) value = value & 1 ? 3 * value + 1 : value >> 1;
    results[n] = value;
    pthread_barrier_wait(&together);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (unsigned long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i)) return 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%lu %lu %lu %lu\n", results[0], results[1], results[2], results[3]);
    return 0;
}
