/* Killed by a fault in the middle of straight code. */
#include <stdio.h>

static volatile int cells[4];
static volatile int *volatile nowhere = (int *)16;

int main(void) {
    puts("on the way");
    fflush(stdout);
    cells[0] = 1;
    cells[1] = cells[0] + 1;
    *nowhere = cells[1];
    cells[2] = 3;
    return 0;
}
