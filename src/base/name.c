#include "base/name.h"

static bool is_control(char c) {
    return (unsigned char)c < 0x20 || c == 0x7f;
}

bool ntr_name_is_clean(const char *name) {
    for (unsigned i = 0; i <= NTR_NAME_MAX; i++) {
        if (!name[i]) return true;
        if (is_control(name[i])) return false;
    }
    return false;
}

unsigned ntr_name_clean(const char *name, char cleaned[NTR_NAME_CLEANED_MAX + 1]) {
    unsigned size = 0;
    for (; size < NTR_NAME_CLEANED_MAX && name[size]; size++) cleaned[size] = is_control(name[size]) ? '?' : name[size];
    cleaned[size] = '\0';
    return size;
}
