/* Firmware for one hart of QEMU's virt machine, for tests/machine/coverage.py: decisions, traps, and a routine that is
 * patched between its calls. */
typedef unsigned long word;

#define FINISHER ((volatile unsigned *)0x100000UL)

static volatile int ticks, results[4];
extern char patched[];
int call_patched(int value), enter_patched(int value);

__attribute__((noinline)) static int valid(int speed, int gear, int brake) {
    if ((speed > 10 && gear != 0) || brake) return 1;
    return 0;
}

__attribute__((noinline)) static int limits(int low, int value, int high) {
    while (value > low && value < high && ticks < 1000) value++;
    return value >= high && low < high;
}

void on_trap(void) {
    ticks++;
}

/* Replaces the first instruction by addi a0, a0, `amount` (16 bits each). */
static void patch(int amount) {
    *(volatile unsigned short *)patched = (unsigned short)(0x0501 | (unsigned)amount << 2);
    __asm__ volatile("fence.i" ::: "memory");
}

__attribute__((noinline)) static int never(int value) {
    return value > 3 ? value : -value;
}

/* On a page of which nothing is executed. */
__attribute__((noinline, section(".text.apart"), aligned(4096))) int apart(int value) {
    return value > 3 ? value : -value;
}

int main(void) {
    for (int i = 0; i < 12; i++) {
        results[0] += valid(i * 3, i % 3, i == 1);
        results[1] += limits(2, i, 9);
        __asm__ volatile("ecall" ::: "memory");
    }
    patch(1);
    results[2] = call_patched(1);
    patch(2);
    results[2] += call_patched(1);
    results[2] += enter_patched(1);
    if (results[2] == 100) results[3] = never(results[2]);
    *FINISHER = 0x5555;
    for (;;) {}
}
