// clang-format off: loops without a condition, and loops inside of macros; the places of statements matter
static int taken;

#define TAKE(n) do { while (taken < (n)) taken++; } while (0)
#define SUM(to, from) for (int k = 0; k < (from); k++) (to) += k
#define FIRST(v, n) ({ int at_ = 0; while (at_ < (n) && (v)[at_]) at_++; at_; })

static int endless(int n) {
    int sum = 0;
    for (;;) {
        if (n-- == 0) break;
        if (n == 2) continue;
        sum += n;
    }
    while (1) {
        if (sum-- <= 0)
            break;
    }
    for (;;)
        if (sum++ > 3) break;
    while (1) { while (1) { if (sum-- < 3) break; } if (sum-- < -9) return n; }
}

static int nested(int n) {
    int sum = 0;
    for (;;) {
        for (;;) {
            if (sum++ > n) break;
        }
        while (1)
            if (sum++ > 2 * n)
                break;
        if (sum > 3 * n) return sum;
        n--;
    }
}

static int at_the_end(int n) {
    int sum = 0;
    do {
        sum += n;
    } while (n-- > 0);
    do sum--; while (sum > 3);
    if (sum) do {
        sum--;
    } while (sum > 0);
    if (n > 5) do {
        sum++;
    } while (sum < 3);
    return sum;
}

static int in_macros(int n) {
    int v[4] = {1, 2, 0, 3}, sum = 0;
    TAKE(5);
    TAKE(7); TAKE(n);
    SUM(sum, 4);
    if (n)
        SUM(sum, n);
    for (int i = 0; i < 3; i++) TAKE(5 * i);
    sum += FIRST(v, 4) + FIRST(v, 1);
    while (FIRST(v, 4) > 1) v[1] = 0;
    return sum;
}

static int on_several_lines(int n) {
    int sum = 0;
    for (int i = 0;
         i < n;
         i++)
        sum += i;
    while (
        sum > 3)
        sum--;
again:
    sum++;
    if (sum < 9)
        goto again;
    for (int i = 0;;
         i++) {
        if (i > n)
            return sum;
    }
}

static int labels(int *s, int n) {
    int k = 0;
    if (s == 0) return 1;
    if (*s != n) return 2;
again:
    switch (*s) {
    case 1: return k;
    case 2: *s = 1; k++; goto again;
    default: break;
    }
    *s = 2;
    k++;
    if (k) k++;
back:
    if (k < 4) { k++; goto back; }
    k = n;
more:
    k++; if (k < 8) goto more;
    if (n) { k = n; }
    else k = 0;
yet:
    if (k++ < 9) goto yet;
    do k++; while (k < 15);
    if (n) do { k--; } while (k > 3);
    return 0;
}

/* The constant of the first statement has line 0. */
static int constants(int n) {
    for (;;) {
        int k = 0;
        if (n++ > 9) return n + k;
    }
}

int main(void) {
    int sum = 0, s[2] = {2, 3};
    sum += constants(3) + labels(&s[0], 2) + labels(&s[1], 3);
    for (int i = 0; i < 3; i++) sum += endless(i) + nested(i) + at_the_end(i) + in_macros(i) + on_several_lines(i);
    return sum == 7777;
}
