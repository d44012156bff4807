/* The smallest program to trace: no C library, two system calls of Linux.
 *
 *   riscv64-linux-gnu-gcc -g -O1 -static -nostdlib -ffreestanding -o hello hello.c
 *   ntrace run -o hello.ntrace -- ./hello
 */
static long system_call(long number, long first, const void *second, long third) {
    register long a0 __asm__("a0") = first;
    register const void *a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

static __attribute__((noinline)) unsigned long fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) void print(unsigned long number) {
    char text[24];
    unsigned at = sizeof text;
    text[--at] = '\n';
    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    system_call(64, 1, text + at, (long)(sizeof text - at)); /* write */
}

void _start(void) {
    print(fibonacci(15));
    system_call(93, 0, 0, 0); /* exit */
    __builtin_unreachable();
}
