/* Parts of statements that llvm-cov counts as a whole, and what it counts after statements that control may leave. */
// clang-format off: the rules are about where lines end
static int global;
#define SET(value)       \
    {                    \
        if (global) {    \
            global = 1;  \
        }                \
        global = value;  \
    }
#define EACH(item) for (int item = 0; item < 3; item++)
#if defined(WIDE)
static long sum(long a) {
#else
static int sum(int a) {
#endif
    int result = 0;
#ifdef WIDE
    if (a > 1) {
#else
    if (a > 2) {
#endif
        result = a;
    } else {
        result = -a;
    }
    return result;
}
static int chosen(int n) {
    if (n < 3) {
        global++;
        return 1;
    } else {
        global--;
    }
    if (n == 4) {
        return 2;
    } else if (n == 5) {
        global++;
    } else {
        return 3;
    }
    return 4;
}
static int conditions(int a, int b) {
    int result = a > 2 &&
                 b > 2 &&
                 a + b > 9;
    if (a < 2 || (b > 3 &&
                  b != 4) ||
        b == 7) {
        result += 2;
    }
    result += a > 4 ?
                  b :
                  a > 3
                      ? a
                      : 5;
    return result +
           (a ? 1
              : 2);
}
static void leaves(int n) {
    for (int i = 0; i < 5; i++) {
        if (i == n) {
            global++;
            return;
        }
    }
}
static int stops(int n) {
    while (n > 0) {
        if (n == 4) break;
        if (n == 6) {
            n--;
            continue;
        }
        n -= 2;
    }
    do {
        if (n > 100) break;
        global++;
    } while (n++ < 3);
    for (;;) {
        if (n++ > 5) {
            break;
        }
    }
    for (int i = 0;
         i < n;
         i++)
        global++;
    return n;
}
static int early(int n) {
    if (n == 1)
        { SET(2); return 1; };

    if (n == 2 &&
        global)
        { SET(3); return 2; };
    if (n < 5)
        return 3;
    else
        global++;
    EACH(i) {
        if (i == n) global++;
        else {
            global--;
        }
    }
    return 5;
}
static int cases(int n) {
    switch (n) {
    case 0:
    case 1: {
        global++;
        break;
    }
    case 2: global--; /* FALLTHROUGH */
    case 3:
        if (global > 1000) {
            return 1;
        }
        break;
    case 4: return 7;
    default:
        global += 2;
    }
    if (n == 6) goto out;
    global++;
again:
    if (n-- > 7) goto again;
    return 2;
out:
    return 3;
}
static void nested(int n) {
    {
        if (n > 3) {
            if (n > 5) return;
        }
    }
    struct {
        int first;
        int second;
    } pair = {1,
              2};
    if (pair.first) {
        while (n > 0) {
            if (n == 2) {
                return;
            }
            n--;
        }
    }
}
__attribute__((always_inline)) static inline int inner(int n) {
    if (n == 2)
        return 1;
    return n;
}
__attribute__((always_inline)) static inline int outer(int n) {
    int sum = inner(n) + inner(n + 1);
    while (sum > 9) {
        sum -= inner(n);
    }
    return sum;
}
static int copies(int n) {
    return inner(n) +
           outer(n) + outer(n - 1);
}
static int constants(int n) {
    int first = (n & 1) == 0 ? 1 :
                (n & 2) == 2 ? 2 :
                (n & 4) == 4 ? 3 : 0;
    return n >= 0 ? first :
           n == -2 ? 8 :
           n;
}
#define PAIR(name) static int last_##name(int n) { return n + global; } static int name(int n)
PAIR(of_macro) {
    global += n;
    return 1;
}
static int defined(int n) {
    return of_macro(n) + last_of_macro(n) + last_of_macro(2);
}
static int each(int n) {
    EACH(i) global += i;
    if (n == 3)
        return 2;
    EACH(i) {
        if (i == n) break;
    }
    return n;
}
static int rests(int n) {
    if (n > 30) {
        if (n > 40) {
            global++;
        } else {
        }
    } else if (n > 20) {
        global--;
    } else {
        if (n > 10) {
            n -= 10;
        } else {
        }
        global++;
    }
    while (n-- > 0) {
        if (n == 2)
            { SET(3); return 1; };
    }
    return 0;
}
#define CASE(value) \
    case value:     \
        global++;   \
        break;
#define CASES(value, other) \
    case value:             \
        global++;           \
        break;              \
    case other:             \
        global--;           \
        break;
#define COUNT global++;
static int labels(int n) {
    switch (n) {
        CASE(11)
        CASE(12)
    case 5:
        n *= 2;
        break;
        CASES(13, 3)
    case 6:
        COUNT
        break;
        CASE(14)
    default:
        n += 2;
        break;
    }
    return n;
}
int main(void) {
    for (int i = 0; i < 10; i++) {
        global += each(i) + rests(i * 5) + copies(i) + constants(i) + defined(i) + labels(i);
        global += sum(i);
        leaves(i);
        nested(i);
        global += chosen(i) + conditions(i, 9 - i) + stops(i) + early(i) + cases(i);
    }
    return 0;
}
