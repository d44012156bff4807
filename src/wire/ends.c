#include "wire/ends.h"

size_t ntr_find_end(const uint8_t *data, size_t size) {
    size_t i = 0;
    for (; size - i >= 8; i += 8) {
        uint64_t ends = ntr_word_ends(ntr_load8(data + i));
        if (ends) return i + ntr_word_size(ends) - 1;
    }
    while (i < size && !ntr_ends_message(data[i])) i++;
    return i;
}
