/* A parent that translates new loops while its children start: behind each fork it executes some that are new, each a block that branches to
 * itself. A child executes what its parent has not, in _Fork, and sleeps. */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOP    "li t0, 2\n1: addi t0, t0, -1\nbnez t0, 1b\n"
#define LOOPS() __asm__ volatile(".rept 300\n" LOOP ".endr\n" : : : "t0")

static int child(void) {
    const struct timespec nap = {.tv_nsec = 10000000};
    for (int i = 0; i < 3; i++) nanosleep(&nap, NULL);
    return 0;
}

#define START() do { if (fork() == 0) _exit(child()); LOOPS(); } while (0)

int main(void) {
    int status, failed = 0;

    START(); START(); START(); START(); START(); START(); START(); START();
    while (wait(&status) > 0) failed |= status;
    return failed != 0;
}
