/* Faults, traps and timers of several threads inside of decisions. Valid C and C++. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <pthread.h>
#include <sys/time.h>
#include <ucontext.h>
static sigjmp_buf home;
static volatile int hits, faults, traps, alarms;
static volatile int one = 1;
static volatile int *volatile bad = (volatile int *)8;
static void on_fault(int s) {
    faults++;
    siglongjmp(home, 1);
}
static void on_trap(int s, siginfo_t *i, void *c) {
    traps++;
    ((ucontext_t *)c)->uc_mcontext.__gregs[0] += 4;
}
static void on_alarm(int s) {
    __atomic_add_fetch(&alarms, 1, __ATOMIC_RELAXED);
}
__attribute__((noinline)) static void load(int i) {
    if (sigsetjmp(home, 1)) return;
    if (i & 1 || *(i & 2 ? bad : &one)) hits++;
}
static inline int trap(int b) {
    __asm__ volatile(".option push\n.option norvc\nebreak\n.option pop" ::: "memory");
    return b;
}
__attribute__((noinline)) static void stop(int a, int b, int c) {
    if (a && trap(b) && c) hits++;
    while (trap(b) && a) {
        b = 0;
    }
}
__attribute__((noinline)) static void step(int a, int b, int c) {
    if (a && (b || c)) __atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED);
    if (!a || b) __atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED);
}
static void *work(void *p) {
    for (int i = 0; i < 40000; i++) step(i % 2, 0, i % 4 == 3);
    return p;
}
int main(void) {
    signal(SIGSEGV, on_fault);
    struct sigaction t = {};
    t.sa_sigaction = on_trap;
    t.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &t, 0);
    for (int i = 0; i < 400; i++) load(i);
    for (int i = 0; i < 400; i++) stop(i & 1, i >> 1 & 1, i >> 2 & 1);
    struct itimerval it = {{0, 100}, {0, 100}};
    struct sigaction one_ = {};
    one_.sa_handler = on_alarm;
    one_.sa_flags = SA_NODEFER | SA_RESTART;
    sigaction(SIGALRM, &one_, 0);
    sigaction(SIGVTALRM, &one_, 0);
    setitimer(ITIMER_REAL, &it, 0);
    pthread_t p[3];
    for (int i = 0; i < 3; i++) pthread_create(&p[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(p[i], 0);
    it = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &it, 0);
    printf("%d %d %d %d\n", faults, traps, alarms, hits);
    return 0;
}
