int a(int n) {
    int s = 0;
    for (int i = 0;; i++) {
        if (i >= n) break;
        s += i;
    }
    return s;
}
int b(int n) {
    int s = 0;
    for (;;) {
        if (s >= n) break;
        s++;
    }
    return s;
}
int c(int n) {
    int s = 0;
    while (1) {
        if (s >= n) break;
        s++;
    }
    return s;
}
int d(int n) {
    int s = 0;
    for (;;) {
        s++;
        if (s >= n) return s;
        if (s == 3) continue;
        n--;
    }
}
int e(int n) {
    int s = 0;
again:
    s++;
    if (s < n) {
        n--;
        goto again;
    }
    return s;
}
int f(int n) {
    int s = 0;
    for (;; s++)
        if (s >= n) break;
    return s;
}
int g(int n) {
    int s = 0;
    while (1)
        if (s++ >= n) return s;
}
int main(void) {
    return a(5) + b(5) + c(5) + d(9) + e(8) + f(4) + g(4) == 0;
}
