/* Jumps that ways of other statements go past: the code of `break` is only on some of the ways that come to it. */
static int odd(int n) {
    return n & 1;
}

static int cases(int n) {
    int s = 0;
    while (n-- > 0) {
        switch (n % 4) {
        case 0:
            if (n & 8) {
                s += 1;
            } else {
                s += 2;
            }
            break;
        case 1:
            if (n & 4) {
                s += 3;
            }
            break;
        case 2:
            if (n == 2) s--;
            if (s > 1000) {
                s = 0;
                break;
            }
            odd(n) && odd(s);
            break;
        default:
            switch (s) {
            case 3:
                if (n > 100) s++;
                break;
            }
            s += 5;
            break;
        }
    }
    return s;
}

static int loops(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (i & 1) {
            if (odd(i) && s > 3)
                s += 3;
            else if (s)
                s--;
            continue;
        }
        if (i & 2) {
            for (int k = 0; k < 3; k++) s += k;
            continue;
        }
        if (i & 4) {
            while (s > 5) s -= 3;
            if (s == 4) {
                s++;
                if (n == 3)
                    s++;
                else
                    continue;
                s++;
            }
            if (s == 7) {
                do {
                    s++;
                } while (s < 3);
                break;
            }
            continue;
        }
        if (s > 9) {
            if (n & 1) s--;
            break;
        }
        if ((n & 1) && (s > 3 || odd(n) == 2)) continue;
        s++;
    }
    return s;
}

static int endless(int n) {
    int s = 0;
    for (;;) {
        while (1) {
            if (s++ > n) break;
            if (n & 2) s++;
        }
        if (n-- < 0) {
            if (s > 4) s--;
            break;
        }
        if (s > 5) {
            if (n & 1) s--;
            goto out;
        }
        if (n & 4) s -= 2;
    }
out:
    return s;
}

static inline __attribute__((always_inline)) unsigned choose(const int *n, int how, int where) {
    if (where == 1)
        return how == 1 ? (unsigned)odd(*n) : odd(odd(*n)) + 1u;
    else
        return how == 1 ? (unsigned)*n : odd(*n) + 1u;
}

static inline __attribute__((always_inline)) unsigned choice(const int *n, int how) {
    return choose(n, how, 1);
}

/* What begins and ends an inlined copy has no place. */
static int copies(int n, int how) {
    int s = 0;
    int k = n & 3;
    do {
        s += odd(choice(&k, how));
    } while (k-- > 0);
    return s;
}

static int last;

static void returns(int n) {
    if (n & 1) {
        if (n & 2) last++;
        return;
    }
    if (n & 2) {
        if (n & 4)
            last++;
        else
            return;
        last--;
    }
    last++;
}

int main(void) {
    int s = 0;
    for (int i = 0; i < 23; i++) {
        s += cases(i) + loops(i) + endless(i) + copies(i, 1);
        returns(i);
    }
    return s == 0;
}
