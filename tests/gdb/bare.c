/* RV32 without an operating system: no start files, a frame pointer, a stack of its own. */
#define NOINLINE __attribute__((noinline))

volatile int sink;
char stack[4096] __attribute__((aligned(16)));

NOINLINE int leaf(int x)
{
    return x + sink;
}

NOINLINE int sum(const int *values, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += leaf(values[i]);
    return total;
}

NOINLINE int run(void)
{
    static const int values[] = {3, 1, 4, 1, 5};
    int a = 0;
    for (int round = 0; round < 30; round++) {
        a += sum(values, 5);
        a -= sum(values, 2);
    }
    return a;
}

__attribute__((used)) int program(void)
{
    int result = run();
    sink = result;
    return 0;
}

__asm__(".globl _start\n"
        "_start:\n"
        "  la sp, stack + 4096\n"
        "  li ra, 0\n"
        "  li s0, 0\n"
        "  call program\n"
        "  li a7, 93\n"
        "  ecall\n");
