/* Threads that run at the same time: none begins its work before all have started. usage: parallel [THREADS [shared]]
 * shared: there is memory that other processes may write, before the first thread starts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { THREADS = 4, THREADS_MAX = 100 };

static unsigned long thread_count = THREADS;

static pthread_barrier_t together;
static unsigned long results[THREADS_MAX];

static void *work(void *argument) {
    unsigned long n = (unsigned long)argument, value = n + 1;
    pthread_barrier_wait(&together);
    for (unsigned long i = 0; i < (2000 + 500 * n) * THREADS / thread_count; i++) value = value & 1 ? 3 * value + 1 : value >> 1;
    results[n] = value;
    pthread_barrier_wait(&together);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS_MAX];
    if (argc > 1) thread_count = strtoul(argv[1], NULL, 10);
    if (argc > 2 && mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 1;
    if (thread_count < 1 || thread_count > THREADS_MAX) return 1;
    pthread_barrier_init(&together, NULL, (unsigned)thread_count);
    for (unsigned long i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i)) return 1;
    for (unsigned long i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
    printf("%lu %lu %lu %lu\n", results[0], results[1], results[2], results[3]);
    return 0;
}
