/* One handler serves faults and signals from another thread, as in the runtime of Go. Prints how many of each came. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { SENT = 30, FAULTS = 20 };

static volatile int faults, sent, ready, stop;
static volatile pid_t worker;

static void handler(int signal, siginfo_t *info, void *context) {
    ucontext_t *u = context;
    (void)signal;
    if (info->si_code > 0) {
        faults++;
        u->uc_mcontext.__gregs[0] += 4; /* behind the load */
    } else {
        sent++;
    }
}

/* The load is the last instruction of a block every other time. */
static void fault(int i) {
    if (i & 1)
        __asm__ volatile(".option push\n.option norvc\nlw t0, 0(zero)\n.option pop\n" : : : "t0", "memory");
    else
        __asm__ volatile(".option push\n.option norvc\nlw t0, 0(zero)\nj 1f\n1:\n.option pop\n" : : : "t0", "memory");
}

static void *work(void *nothing) {
    volatile unsigned sum = 0;
    (void)nothing;
    worker = (pid_t)syscall(SYS_gettid);
    ready = 1;
    for (int i = 0; !stop; i++) {
        for (int k = 0; k < 500; k++) sum += (unsigned)k * 3 ^ sum;
        __atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
        if (i < FAULTS) fault(i);
    }
    return NULL;
}

int main(void) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    pthread_t thread;

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGURG, &action, NULL);
    if (pthread_create(&thread, NULL, work, NULL)) return 1;
    while (!ready) usleep(100);
    for (int i = 0; i < SENT; i++) {
        int before = sent;
        syscall(SYS_tgkill, getpid(), worker, SIGURG);
        while (sent == before) usleep(100);
    }
    while (faults < FAULTS) usleep(100);
    stop = 1;
    pthread_join(thread, NULL);
    printf("%d %d\n", faults, sent);
    return 0;
}
