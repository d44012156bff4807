/* Where two sequences of steps agree.
 *
 * After a gap one sequence goes on somewhere in the other, perhaps in a loop whose iterations look alike: the right
 * place is the one from which most is equal. The lengths for all places are found together by the Z algorithm, which
 * compares each step of the text once.
 *
 * Example: pattern "abab|c", text "ababababc...": from place 0, 4 steps are equal; from place 4, all. */
#include "analysis/align.h"

#include <string.h>

static uint64_t at(ntr_hashes pattern, ntr_hashes text, size_t i) {
    return i < pattern.count ? pattern.hash[i] : text.hash[i - pattern.count];
}

/* z[i]: how many elements from the i-th of pattern and text together are equal to the beginning of the pattern. */
size_t ntr_align_longest(ntr_hashes pattern, ntr_hashes text, uint32_t *z, size_t *place) {
    const size_t all = pattern.count + text.count;
    size_t left = 0, right = 0, most = 0;
    *place = 0;
    for (size_t i = 1; i < all; i++) {
        size_t length = i < right ? z[i - left] : 0;
        if (i < right && length > right - i) length = right - i;
        while (length < pattern.count && i + length < all && pattern.hash[length] == at(pattern, text, i + length))
            length++;
        z[i] = (uint32_t)length;
        if (i + length > right) {
            left = i;
            right = i + length;
        }
        if (i < pattern.count || length <= most) continue;
        most = length;
        *place = i - pattern.count;
    }
    return most;
}

size_t ntr_align_table(size_t count) {
    size_t size = 16;
    while (size < 2 * count) size *= 2;
    return size;
}

static uint64_t hash_of(ntr_hashes list, size_t from, size_t count) {
    uint64_t hash = count;
    for (size_t k = 0; k < count; k++)
        hash = (hash ^ list.hash[from + k]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 31);
    return hash;
}

/* Returns the slot of the first place in `b` with the same steps, or a free one. */
static uint32_t *find(ntr_hashes a, size_t i, ntr_hashes b, size_t count, uint32_t *table, size_t size) {
    const size_t bytes = count * sizeof *a.hash;
    size_t slot = (size_t)(hash_of(a, i, count) >> 20) & (size - 1);
    while (table[slot] && memcmp(a.hash + i, b.hash + table[slot] - 1, bytes) != 0) slot = (slot + 1) & (size - 1);
    return &table[slot];
}

bool ntr_align_nearest(ntr_hashes a, ntr_hashes b, size_t count, uint32_t *table, size_t *best_i, size_t *best_j) {
    const size_t size = ntr_align_table(b.count);
    size_t best = SIZE_MAX;
    if (a.count < count || b.count < count) return false;
    memset(table, 0, size * sizeof *table);
    for (size_t j = 0; j + count <= b.count; j++) {
        uint32_t *slot = find(b, j, b, count, table, size);
        if (!*slot) *slot = (uint32_t)j + 1;
    }
    for (size_t i = 0; i + count <= a.count && i < best; i++) {
        const uint32_t found = *find(a, i, b, count, table, size);
        if (!found || i + found - 1 >= best) continue;
        best = i + found - 1;
        *best_i = i;
        *best_j = found - 1;
    }
    return best != SIZE_MAX;
}
