#include "base/choice.h"

#include <string.h>

int ntr_choice_find(const char *words, const char *text, size_t length) {
    for (int place = 0;; place++) {
        size_t size = strcspn(words, "|");
        if (size == length && memcmp(words, text, length) == 0) return place;
        if (!words[size]) return -1;
        words += size + 1;
    }
}

const char *ntr_choice_at(const char *words, unsigned place, size_t *length) {
    for (;; place--) {
        *length = strcspn(words, "|");
        if (place == 0) return words;
        if (!words[*length]) return NULL;
        words += *length + 1;
    }
}
