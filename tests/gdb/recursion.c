/* Recursion 1,000 deep, and mutual recursion. */
volatile int sink;
#define NOINLINE __attribute__((noinline))

NOINLINE int sum(int n)
{
    sink++;
    if (n == 0)
        return 0;
    int rest = sum(n - 1);
    return rest + n + sink;
}

NOINLINE int odd(int n);

NOINLINE int even(int n)
{
    if (n == 0)
        return 1;
    sink--;
    return odd(n - 1) + sink;
}

NOINLINE int odd(int n)
{
    if (n == 0)
        return 0;
    sink++;
    return even(n - 1) + sink;
}

int main(void)
{
    int a = 0;
    for (int round = 0; round < 10; round++) {
        a += sum(1000);
        a += even(6);
    }
    return a == 0;
}
