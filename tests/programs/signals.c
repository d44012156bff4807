/* Handlers that return, that jump elsewhere, that skip the faulting instruction; in the middle of straight code. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static sigjmp_buf home;
static volatile int faults, ills, users;
static volatile int *volatile nowhere = (int *)8;

static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    faults++;
    siglongjmp(home, 1);
}

/* Step over the instruction. */
static void on_illegal(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    ucontext_t *u = context;
    ills++;
    u->uc_mcontext.__gregs[0] += 4;
}

static void on_user(int signal) {
    (void)signal;
    users++;
}

static __attribute__((noinline)) void touch(volatile int *a, volatile int *b, volatile int *c) {
    a[0] = 1;
    a[1] = 2;
    *b = 3;
    *c = 4;
    a[2] = 5;
}

static __attribute__((noinline)) int peek(volatile int *a) { return *a; }

static __attribute__((noinline)) int add(volatile int *a, volatile int *b) { return *a + *b; }

int main(void) {
    int buffer[4] = {0};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    action.sa_sigaction = on_illegal;
    sigaction(SIGILL, &action, NULL);
    signal(SIGUSR1, on_user);
    for (volatile int i = 0; i < 6; i++) {
        if (sigsetjmp(home, 1)) continue;
        touch(buffer, i & 1 ? nowhere : buffer, i & 2 ? nowhere : buffer);
    }
    for (volatile int i = 0; i < 12; i++) {
        if (sigsetjmp(home, 1)) continue;
        peek(i % 3 ? buffer : nowhere);
        add(i % 2 ? nowhere : buffer, i % 4 ? buffer : nowhere);
    }
    for (int i = 0; i < 3; i++) {
        __asm__ volatile(".word 0x0000000b"); /* custom-0 */
        __asm__ volatile("mv a5, a5\n .word 0" : : : "a5"); /* two words of zeros, of which the first one is not defined */
        __asm__ volatile("mv a5, a5\n .word 0xfe000033" : : : "a5"); /* not defined, in the middle of defined ones (OP) */
        raise(SIGUSR1);
    }
    on_user(0);
    printf("%d %d %d\n", faults, ills, users);
    return 0;
}
