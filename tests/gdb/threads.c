/* Two threads that run one after the other. */
#include <pthread.h>

volatile int sink;
#define NOINLINE __attribute__((noinline))

NOINLINE int work(int n)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += i + sink;
    return total;
}

NOINLINE static void *run(void *argument)
{
    int n = *(int *)argument;
    for (int round = 0; round < 30; round++) {
        sink += work(n);
        sink -= work(n + 1);
    }
    return argument;
}

int main(void)
{
    pthread_t thread;
    int n = 3;
    work(2);
    pthread_create(&thread, 0, run, &n);
    pthread_join(thread, 0);
    work(4);
    return 0;
}
