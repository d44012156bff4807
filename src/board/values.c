#include "board/board.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

bool board_parse_value(const char *hex, uint64_t *value) {
    const size_t size = strlen(hex);
    *value = 0;
    if (!size || size % 2 || size > 2 * sizeof *value) return false;
    for (size_t i = size; i; i -= 2) {
        const unsigned high = ntr_digit(hex[i - 2]), low = ntr_digit(hex[i - 1]);
        if (high > 15 || low > 15) return false;
        *value = *value << 8 | (high << 4 | low);
    }
    return true;
}

void board_print_value(char *hex, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++, value >>= 8) snprintf(hex + 2 * i, 3, "%02x", (unsigned)(value & 255));
}
