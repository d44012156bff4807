#include "options/words.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool cli_parse_number(const char *text, uint64_t *value) {
    unsigned base = 10;
    uint64_t number = 0;

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    if (!*text) return false;
    for (; *text; text++) {
        unsigned digit = *text >= '0' && *text <= '9'   ? (unsigned)(*text - '0')
                         : *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10
                         : *text >= 'A' && *text <= 'F' ? (unsigned)(*text - 'A') + 10
                                                        : 99;
        if (digit >= base || number > (UINT64_MAX - digit) / base) return false;
        number = number * base + digit;
    }
    *value = number;
    return true;
}

int cli_choice_find(const char *choices, const char *text, size_t length) {
    for (int index = 0;; index++) {
        size_t size = strcspn(choices, "|");
        if (size == length && memcmp(choices, text, length) == 0) return index;
        if (!choices[size]) return -1;
        choices += size + 1;
    }
}

/* Returns the number of single-character edits that turn `a` into `b`, or a value above `limit` if more are needed. */
static unsigned distance(const char *a, const char *b, unsigned limit) {
    if (!*a || !*b) return (unsigned)(strlen(a) + strlen(b));
    if (*a == *b) return distance(a + 1, b + 1, limit);
    if (limit == 0) return 1;
    unsigned best = distance(a + 1, b + 1, limit - 1);
    unsigned insert = distance(a, b + 1, limit - 1), delete = distance(a + 1, b, limit - 1);
    if (insert < best) best = insert;
    if (delete < best) best = delete;
    return best + 1;
}

bool cli_looks_like(const char *word, const char *meant) {
    unsigned limit = strlen(meant) > 4 ? 2 : 1;

    return distance(word, meant, limit) <= limit;
}

const char *cli_choice_near(const char *choices, const char *text) {
    const char *best = NULL;
    unsigned least = UINT_MAX;
    char word[64];

    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
        const unsigned limit = strlen(word) > 4 ? 2 : 1, far = distance(text, word, limit);
        if (far > limit || far >= least) continue;
        best = at;
        least = far;
    }
    return best;
}
