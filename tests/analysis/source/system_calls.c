long w(long n) {
    register long a7 asm("a7") = 172;
    register long a0 asm("a0") = n;
    asm volatile("ecall" : "+r"(a0) : "r"(a7));
    return a0;
}
int main(void) {
    long s = 0;
    for (int i = 0; i < 3; i++) s += w(i);
    return s == 0;
}
