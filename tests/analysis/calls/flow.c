/* Every way in C to get into a function and out of it. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define FUNCTION __attribute__((noinline, noclone))

static volatile int sink;

/* ---- recursion */

FUNCTION static int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    int inner = n ? ackermann(m, n - 1) : 1;
    int outer = ackermann(m - 1, inner);
    sink = outer;
    return outer;
}

FUNCTION static int odd(int n);
FUNCTION static int even(int n) {
    int result = n == 0 ? 1 : odd(n - 1);
    sink = result;
    return result;
}
static int odd(int n) {
    int result = n == 0 ? 0 : even(n - 1);
    sink = result;
    return result;
}

/* ---- tail calls: optimized, hop's frame becomes skip's, and skip's becomes land's */

FUNCTION static int land(int n) {
    sink = n;
    return n * 3;
}
FUNCTION static int skip(int n) {
    sink++;
    return land(n + 1);
}
FUNCTION static int hop(int n) {
    sink = n;
    return skip(n + 1);
}
FUNCTION static int (*choose(int n))(int) {
    static int (*const table[])(int) = {hop, skip, land};
    return table[n % 3];
}
FUNCTION static int indirect(int n) {
    int (*chosen)(int) = choose(n);
    sink = n;
    return chosen(n);
}

/* ---- longjmp: over one frame, over many, to the outer of two */

static jmp_buf outer_place, inner_place;

FUNCTION static void leap(int n) {
    sink = n;
    if (n % 3 == 0) longjmp(inner_place, 1);
    if (n % 3 == 1) longjmp(outer_place, 1);
}
FUNCTION static void sink_deep(int depth, int n) {
    if (depth) sink_deep(depth - 1, n);
    if (!depth) leap(n);
    sink = depth;
}
FUNCTION static void inner_catch(int n) {
    if (setjmp(inner_place) == 0) sink_deep(4, n);
    sink = n;
}
FUNCTION static void after_jump(int n) {
    sink = n;
}
FUNCTION static void outer_catch(int n) {
    if (setjmp(outer_place) == 0) inner_catch(n);
    after_jump(n);
}

/* ---- signals: a handler that returns, one that calls, one that jumps away, one that is interrupted itself */

static sigjmp_buf home;
static volatile int *volatile nowhere = (int *)8;

FUNCTION static void count_it(int n) {
    sink += n;
}
FUNCTION static void on_user1(int number) {
    count_it(number);
}
FUNCTION static void on_user2(int number) {
    raise(SIGUSR1);
    count_it(number);
}
FUNCTION static void on_fault(int number) {
    count_it(number);
    siglongjmp(home, 1);
}
FUNCTION static void on_illegal(int number, siginfo_t *info, void *context) {
    (void)info;
    count_it(number);
    ((ucontext_t *)context)->uc_mcontext.__gregs[0] += 4; /* step over it */
}
FUNCTION static void touch(volatile int *where) {
    count_it(1);
    *where = 1;
    sink = 2;
}
FUNCTION static void guarded(int n) {
    if (sigsetjmp(home, 1) == 0) touch(n % 2 ? nowhere : &sink);
    count_it(n);
}
FUNCTION static void step_over(void) {
    __asm__ volatile(".word 0x0000000b"); /* custom-0 */
    count_it(1);
}

/* The store is done again after the handler, which stores somewhere itself. */
static char *page;
FUNCTION static void store(char *where) {
    *(volatile char *)where = 1;
    count_it(4);
}
FUNCTION static void on_protected(int number) {
    char other;

    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    store(&other);
    count_it(number);
}
FUNCTION static void mended(void) {
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, on_protected);
    store(page);
    count_it(5);
}
FUNCTION static void signals(void) {
    struct sigaction action = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO};

    signal(SIGUSR1, on_user1);
    signal(SIGUSR2, on_user2);
    signal(SIGSEGV, on_fault);
    sigaction(SIGILL, &action, NULL);
    for (int i = 0; i < 5; i++) guarded(i);
    for (int i = 0; i < 3; i++) step_over();
    mended();
    raise(SIGUSR1);
    raise(SIGUSR2);
    count_it(0);
}

/* ---- callbacks out of a library */

FUNCTION static int by_value(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}
FUNCTION static void sort(void) {
    int values[40];

    for (int i = 0; i < 40; i++) values[i] = i * 7919 % 101;
    qsort(values, 40, sizeof values[0], by_value);
    int key = values[7];
    sink = *(int *)bsearch(&key, values, 40, sizeof values[0], by_value);
}

/* ---- threads: at the same time, one after the other (which takes up the same hart again), left half-way */

FUNCTION static int work(int n) {
    int sum = 0;

    for (int i = 0; i < n; i++) sum += even(i % 4);
    return sum;
}
FUNCTION static void leave_thread(int n) {
    if (n % 2) pthread_exit(NULL);
    sink = n;
}
FUNCTION static void *thread(void *argument) {
    int n = (int)(long)argument;

    sink = work(n);
    leave_thread(n);
    sink = n;
    return NULL;
}
FUNCTION static void threads(void) {
    pthread_t ids[3];

    for (long i = 0; i < 3; i++) pthread_create(&ids[i], NULL, thread, (void *)(i + 2));
    for (int i = 0; i < 3; i++) pthread_join(ids[i], NULL);
    for (long i = 0; i < 3; i++) {
        pthread_create(&ids[0], NULL, thread, (void *)(i + 5));
        pthread_join(ids[0], NULL);
    }
}

/* ---- before and after main */

FUNCTION static void late(void) {
    count_it(2);
}
__attribute__((constructor)) static void early(void) {
    count_it(1);
    atexit(late);
}

int main(void) {
    sink = ackermann(2, 3);
    sink = even(9);
    for (int i = 0; i < 6; i++) sink = indirect(i);
    for (int i = 0; i < 6; i++) outer_catch(i);
    signals();
    sort();
    threads();
    puts("done");
    return 0;
}
