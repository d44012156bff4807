/* Lines and branches of every kind for tests/analysis/gcov.py: switch, short circuits, loops, recursion,
 * function pointers, longjmp, code that never runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>

typedef int (*op)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b)
{
    int r = 0;
    while (b-- > 0) r += a;
    return r;
}

static int dispatch(int which, int a, int b)
{
    switch (which) {
    case 0: return add(a, b);
    case 1: return sub(a, b);
    case 2: return mul(a, b);
    case 3:
        if (a > b && b > 0)
            return a;
        else if (a == b || a < 0)
            return b;
        break;
    default:
        return -1;
    }
    return a ? b : 0;
}

/* Statements of several lines return to their first one. */
static int spread(int a, int b)
{
    int sum = add(
        a + 1,
        sub(b,
            a));
    sum += mul(sum & 3,
               2) +
           add(b,
               sum);
    return sum;
}

static int compare(const void *x, const void *y)
{
    const int *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

static int ack(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ack(m - 1, 1);
    return ack(m - 1, ack(m, n - 1));
}

static jmp_buf back;
static void thrower(int n)
{
    if (n == 0)
        longjmp(back, 7);
    thrower(n - 1);
}

int never(int x)
{
    if (x)
        return 1;
    return 2;
}

int main(int argc, char **argv)
{
    int values[50], total = 0;
    op table[] = { add, sub, mul };
    (void)argv;
    for (int i = 0; i < 50; i++)
        values[i] = (i * 37) % 50;
    qsort(values, 50, sizeof values[0], compare);
    for (int i = 0; i < 20; i++)
        total += dispatch(i % 5, i, 20 - i);
    for (int i = 0; i < 3; i++) total += table[i](i, 5);
    for (int i = 0; i < 4; i++)
        total += spread(i,
                        total);
    do {
        total -= 3;
        if (total % 7 == 0)
            continue;
        total--;
    } while (total > 0);
    int code = setjmp(back);
    if (code == 0)
        thrower(5);
    else
        total += code;
    char buffer[40];
    memset(buffer, 0, sizeof buffer);
    for (char *p = buffer; p < buffer + 39; *p++ = 'x');
    printf("%d %d %d %zu\n", total, ack(2, 3), argc > 1 ? 1 : 2, strlen(buffer));
    return 0;
}
