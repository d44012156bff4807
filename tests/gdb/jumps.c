/* longjmp over several frames, twice through the same setjmp. */
#include <setjmp.h>

static jmp_buf place;
volatile int sink;
#define NOINLINE __attribute__((noinline))

NOINLINE void deep(int n)
{
    sink += n;
    if (n == 0)
        longjmp(place, sink);
    deep(n - 1);
    sink++;
}

NOINLINE int attempt(int n)
{
    int came = setjmp(place);
    if (came)
        return came;
    deep(n);
    return 0;
}

int main(void)
{
    int a = 0;
    for (int round = 0; round < 30; round++) {
        a += attempt(3);
        a -= attempt(5);
    }
    return a > 0;
}
