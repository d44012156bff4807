/* A scheduler with two tasks on one hart, for tests/machine/coverage.py. Each task yields inside of the conditions of a decision. A module that was linked for address 0 runs where it was loaded. */
typedef unsigned long word;

#define FINISHER ((volatile unsigned *)0x100000UL)
enum { TASKS = 2, WORDS = 512, FRAME = 32, ROUNDS = 9 };

static word stacks[TASKS][WORDS];
static word *waiting[TASKS];
static volatile int current, finished, results[TASKS];
extern char module_area[];

static void yield(void) {
    __asm__ volatile("ecall" ::: "memory");
}

__attribute__((noinline)) static int read_sensor(int value) {
    yield();
    return value;
}

__attribute__((noinline)) static int allowed(int door, int key, int guard) {
    if ((read_sensor(door) && read_sensor(key)) || read_sensor(guard)) return 1;
    return 0;
}

__attribute__((noinline)) static int refused(int door, int key, int guard) {
    if (read_sensor(door) && (read_sensor(key) || read_sensor(guard))) return 1;
    return 0;
}

/* Both tasks evaluate these at the same time. In the second one, tasks are switched in the function of the decision itself. */
__attribute__((noinline)) static int shared(int door, int key, int guard) {
    if ((read_sensor(door) && read_sensor(key)) || read_sensor(guard)) return 1;
    return 0;
}

#define PAUSED(value) ({ __asm__ volatile("ecall" ::: "memory"); (value); })
__attribute__((noinline)) static int paused(int door, int key, int guard) {
    if (PAUSED(door) && (PAUSED(key) || PAUSED(guard))) return 1;
    return 0;
}

__attribute__((noinline)) static int steady(int value, int number) {
    if (value > 2 && (value < 6 || number)) return 1;
    return 0;
}

static void task(int number) {
    int (*check)(int, int) = (int (*)(int, int))module_area;
    for (int i = 0; i < ROUNDS; i++) {
        int value = number ? ROUNDS - 1 - i : i;
        results[number] += number ? refused(value & 1, value & 2, value & 4) : allowed(value & 1, value & 2, value & 4);
        results[number] += shared(value & 4, value & 1, value & 2) + paused(value & 2, value & 4, value & 1);
        results[number] += steady(value, number);
        results[number] += check(value, number);
    }
    finished++;
    for (;;) {
        if (finished == TASKS) *FINISHER = 0x5555;
        yield();
    }
}

word *schedule(word *stack) {
    waiting[current] = stack;
    current = (current + 1) % TASKS;
    return waiting[current];
}

word *main(void) {
    for (int i = 0; i < TASKS; i++) {
        waiting[i] = &stacks[i][WORDS - FRAME];
        waiting[i][0] = (word)task;
        waiting[i][10] = (word)i;
    }
    return waiting[0];
}
