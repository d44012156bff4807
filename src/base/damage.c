#include "base/damage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ntr_damage_add(ntr_damage *damage, const char *format, ...) {
    char line[NTR_DAMAGE_LINE_MAX] = "";
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(line, sizeof line, format, arguments) < 0) line[0] = 0;
    va_end(arguments);
    for (size_t i = 0; i < damage->count; i++)
        if (strcmp(damage->lines[i], line) == 0) return;
    if (damage->count == NTR_DAMAGE_LINES) return;
    if (damage->count == NTR_DAMAGE_LINES - 1) snprintf(line, sizeof line, "%s", "more damage, which is not listed");
    memcpy(damage->lines[damage->count++], line, sizeof line);
}

const char *ntr_damage_line(const ntr_damage *damage, size_t index) {
    return index < damage->count ? damage->lines[index] : NULL;
}
