#include "board/board.h"

#include <stdio.h>
#include <string.h>

static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool board_parse_value(const char *hex, uint64_t *value) {
    const size_t size = strlen(hex);
    *value = 0;
    if (!size || size % 2 || size > 2 * sizeof *value) return false;
    for (size_t i = size; i; i -= 2) {
        const int high = digit_of(hex[i - 2]), low = digit_of(hex[i - 1]);
        if (high < 0 || low < 0) return false;
        *value = *value << 8 | (unsigned)(high << 4 | low);
    }
    return true;
}

void board_print_value(char *hex, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++, value >>= 8) snprintf(hex + 2 * i, 3, "%02x", (unsigned)(value & 255));
}
