/* Signals of a timer arrive anywhere in the program; with an argument, after a fault ("fault") or after code that is
 * overwritten ("code"). */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

static void on_tick(int signal) {
    (void)signal;
    ticks++;
}

static volatile unsigned table[2] = {0, 0xedb88320u};

static __attribute__((noinline)) unsigned churn(unsigned seed) {
    for (int i = 0; i < 200; i++) seed = seed >> 1 ^ table[seed & 1];
    return seed;
}

static sigjmp_buf home;

static void on_fault(int signal) {
    (void)signal;
    siglongjmp(home, 1);
}

static void fault(void) {
    signal(SIGSEGV, on_fault);
    if (!sigsetjmp(home, 1)) *(volatile int *volatile)8 = 1;
}

static uint32_t *code;

static void write_code(void) {
    code[0] = 0x00008067; /* ret */
    __asm__ volatile("fence.i" ::: "memory");
    ((void (*)(void))(void *)code)();
}

int main(int argc, char **argv) {
    struct itimerval every = {{0, 2000}, {0, 2000}};
    unsigned seed = 1;
    if (argc > 1 && strcmp(argv[1], "fault") == 0) fault();
    if (argc > 1 && strcmp(argv[1], "code") == 0)
        code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &every, NULL);
    while (ticks < 20) {
        if (code) write_code();
        if (code) write_code();
        seed = churn(seed);
    }
    every = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    return seed == 0;
}
