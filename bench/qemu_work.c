/* Compute-bound work of several kinds, for bench/qemu-overhead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned next_random(unsigned *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    return *seed ^= *seed << 5;
}

static int by_value(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static long sort(void) {
    enum { N = 200000 };
    static int numbers[N];
    unsigned seed = 1;
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < N; i++) numbers[i] = (int)(next_random(&seed) & 0xffffff);
        qsort(numbers, N, sizeof numbers[0], by_value);
    }
    return numbers[N / 2];
}

static long sieve(void) {
    enum { N = 6000000 };
    static char prime[N];
    long count = 0;
    for (int round = 0; round < 18; round++) {
        memset(prime, 1, N);
        count = 0;
        for (int i = 2; i < N; i++) {
            if (!prime[i]) continue;
            count++;
            for (long j = 2l * i; j < N; j += i) prime[j] = 0;
        }
    }
    return count;
}

static __attribute__((noinline)) int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static long calls(void) {
    long sum = 0;
    for (int i = 0; i < 32; i++) sum += ackermann(3, 8);
    return sum;
}

static long matrix(void) {
    enum { N = 400 };
    static double a[N][N], b[N][N], c[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = i % 7, b[i][j] = j % 5;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
    return (long)c[5][7];
}

static long crc(void) {
    unsigned table[256], value = ~0u;
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    for (unsigned i = 0; i < 300000000; i++) value = table[(value ^ i) & 255] ^ value >> 8;
    return value;
}

static long list(void) {
    enum { N = 1000000 };
    struct list_node {
        struct list_node *next;
        int value;
    } *nodes = malloc(N * sizeof *nodes), *head = NULL;
    long sum = 0;
    if (!nodes) return 0;
    for (int i = 0; i < N; i++) {
        nodes[i] = (struct list_node){head, i};
        head = &nodes[i];
    }
    for (int round = 0; round < 500; round++)
        for (struct list_node *n = head; n; n = n->next) sum += n->value ^ round;
    return sum;
}

static long compress(void) {
    enum { WORK_SIZE = 800000, WORK_WINDOW = 512 };
    static char text[WORK_SIZE + 20];
    unsigned seed = 3;
    long total = 0;
    for (int i = 0; i < WORK_SIZE; i++) text[i] = "etaoin shrdlu"[next_random(&seed) % 13];
    for (int at = WORK_WINDOW; at < WORK_SIZE; at += 2) {
        int best = 0;
        for (int i = at - WORK_WINDOW; i < at; i++) {
            int n = 0;
            while (n < 16 && text[i + n] == text[at + n]) n++;
            if (n > best) best = n;
        }
        total += best;
    }
    return total;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        long (*work)(void);
    } works[] = {{"sort", sort}, {"sieve", sieve}, {"calls", calls},      {"matrix", matrix},
                 {"crc", crc},   {"list", list},   {"compress", compress}};
    for (size_t i = 0; argc > 1 && i < sizeof works / sizeof works[0]; i++)
        if (strcmp(argv[1], works[i].name) == 0) return printf("%ld\n", works[i].work()) < 0;
    return 2;
}
