/* Counts the kinds of words in a text. It has a common path and much more code that is rarely executed. */
#include <stdio.h>
#include <stdlib.h>

enum char_kind { SPACE, LETTER, DIGIT, QUOTE, ESCAPE, COMMENT, OTHER };

struct counts {
    unsigned long words, numbers, strings, comments, others, escapes, hash;
};

static unsigned long seed = 1;

/* Returns character `n` of the text: mostly letters and blanks, rarely another character. */
static int next_char(void) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    unsigned long n = seed >> 33;
    if (n % 1009 == 0) return '"';
    if (n % 997 == 0) return '#';
    if (n % 211 == 0) return '\\';
    if (n % 61 == 0) return '0' + (int)(n % 10);
    if (n % 7 == 0) return ' ';
    return 'a' + (int)(n % 26);
}

static enum char_kind kind_of(int c) {
    if (c == '"') return QUOTE;
    if (c == '#') return COMMENT;
    if (c == '\\') return ESCAPE;
    if (c >= '0' && c <= '9') return DIGIT;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return SPACE;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return LETTER;
    return OTHER;
}

/* Rarely called, but as large as the common handlers: without a profile the compiler cannot distinguish them. */
static void mix(struct counts *t, unsigned long value, int rounds) {
    for (int i = 0; i < rounds; i++) {
        t->hash ^= value + (t->hash << 6) + (t->hash >> 2);
        t->hash *= 0x9e3779b97f4a7c15ul;
        if (t->hash & 1) t->hash ^= value << (i & 7);
        if (t->hash % 3 == 0) t->hash += (unsigned long)i;
    }
}

static void on_letter(struct counts *t, int c) {
    t->hash = t->hash * 31 + (unsigned long)c;
    if (t->hash % 65521 == 0) mix(t, t->hash, 5);
}
static void on_space(struct counts *t, int c) {
    t->words++;
    if (c != ' ') mix(t, t->words, 3);
}
static void on_digit(struct counts *t, int c) {
    t->numbers++;
    mix(t, (unsigned long)c, 4);
}
static void on_quote(struct counts *t, int c) {
    t->strings++;
    mix(t, (unsigned long)c, 9);
}
static void on_comment(struct counts *t, int c) {
    t->comments++;
    mix(t, (unsigned long)c, 12);
}
static void on_escape(struct counts *t, int c) {
    t->escapes++;
    mix(t, (unsigned long)c, 2);
}
static void on_other(struct counts *t, int c) {
    t->others++;
    mix(t, (unsigned long)c, 1);
}

typedef void (*char_handler)(struct counts *t, int c);
static char_handler handlers[] = {on_space, on_letter, on_digit, on_quote, on_escape, on_comment, on_other};

int main(int argc, char **argv) {
    struct counts t = {0};
    long size = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;

    if (argc > 2) handlers[LETTER] = on_other; /* prevents the compiler from resolving the handlers at compile time */
    for (long i = 0; i < size; i++) {
        int c = next_char();
        handlers[kind_of(c)](&t, c);
    }
    printf("%lu words, %lu numbers, %lu strings, %lu comments, %lu escapes, %lu others, %016lx\n", t.words, t.numbers,
           t.strings, t.comments, t.escapes, t.others, t.hash);
    return 0;
}
