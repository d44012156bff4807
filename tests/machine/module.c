/* Code that is linked for address 0 and loaded somewhere else, for tests/machine/coverage.py. */
__attribute__((section(".text.first"))) int check(int value, int number) {
    if (value > 3 && number == 0) return 1;
    return 0;
}
