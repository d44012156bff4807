/* Functions whose names the test replaces by markup. */
__attribute__((noinline, noclone)) int second(int value) {
    for (int i = 0; i < 2000; i++) value = value * 3 + i;
    return value;
}

__attribute__((noinline, noclone)) int first(int value) {
    for (int i = 0; i < 4000; i++) value = value * 5 + i;
    return second(value) + 1;
}

int main(void) {
    return first(1) == 0;
}
