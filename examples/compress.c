/* The demo's program: packs its own made-up text with a small LZ scheme, unpacks it again, sorts the words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 20000, MATCH_WINDOW = 1024, MATCH_MAX = 18 };

static unsigned seed = 7;
static char text[SIZE + 1], unpacked[SIZE + 1];
static unsigned char packed[2 * SIZE];

static unsigned next_random(void) {
    seed = seed * 1103515245 + 12345;
    return seed >> 16 & 0x7fff;
}

static __attribute__((noinline)) void write_text(void) {
    static const char *const words[] = {"trace ", "encoder ", "history ", "branch ", "returns ", "of ", "the ", "hart "};
    for (size_t at = 0; at < SIZE;) {
        const char *word = words[next_random() % 8];
        for (; *word && at < SIZE; word++) text[at++] = *word;
    }
}

static __attribute__((noinline)) int match_length(const char *a, const char *b, int most) {
    int n = 0;
    while (n < most && a[n] == b[n]) n++;
    return n;
}

static __attribute__((noinline)) int find_match(int at, int *distance) {
    int best = 0, from = at > MATCH_WINDOW ? at - MATCH_WINDOW : 0;
    for (int i = from; i < at; i++) {
        int most = SIZE - at < MATCH_MAX ? SIZE - at : MATCH_MAX, n = match_length(text + i, text + at, most);
        if (n > best) {
            best = n;
            *distance = at - i;
        }
    }
    return best;
}

static __attribute__((noinline)) size_t compress_text(void) {
    size_t out = 0;
    for (int at = 0; at < SIZE;) {
        int distance = 0, length = find_match(at, &distance);
        if (length < 4) length = 1;
        packed[out++] = (unsigned char)(length > 1 ? length : 0);
        packed[out++] = (unsigned char)(length > 1 ? distance >> 8 : text[at]);
        if (length > 1) packed[out++] = (unsigned char)distance;
        at += length;
    }
    return out;
}

static __attribute__((noinline)) void expand_text(size_t size) {
    size_t at = 0;
    for (size_t i = 0; i < size;) {
        int length = packed[i];
        if (!length) {
            unpacked[at++] = (char)packed[i + 1];
            i += 2;
            continue;
        }
        size_t distance = (size_t)packed[i + 1] << 8 | packed[i + 2];
        for (; length; length--, at++) unpacked[at] = unpacked[at - distance];
        i += 3;
    }
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static __attribute__((noinline)) size_t sort_words(void) {
    static char *words[SIZE];
    size_t count = 0;
    for (char *word = strtok(unpacked, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    qsort(words, count, sizeof words[0], by_text);
    return count;
}

int main(void) {
    write_text();
    size_t size = compress_text();
    expand_text(size);
    int same = memcmp(text, unpacked, SIZE) == 0;
    printf("packed %d bytes into %zu, unpacked %s, sorted %zu words\n", SIZE, size, same ? "the same" : "SOMETHING ELSE",
           sort_words());
    return !same;
}
