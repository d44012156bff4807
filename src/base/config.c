#include "base/config.h"

#include <stdbool.h>
#include <string.h>

static bool all_zero(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return false;
    return true;
}

ntr_status ntr_config_store(void *to, const void *from) {
    size_t given, size;
    memcpy(&given, to, sizeof given);
    memcpy(&size, from, sizeof size);
    size_t known = given < size ? given : size;
    if (!all_zero((const unsigned char *)from + known, size - known)) return NTR_E_UNSUPPORTED;
    memcpy((unsigned char *)to + sizeof given, (const unsigned char *)from + sizeof given, known - sizeof given);
    return NTR_OK;
}

ntr_status ntr_config_load(void *to, size_t size, const void *from) {
    size_t given;
    if (!from) return NTR_E_INVALID;
    memcpy(&given, from, sizeof given);
    if (given < sizeof given) return NTR_E_INVALID;
    size_t known = given < size ? given : size;
    memset(to, 0, size);
    memcpy(to, from, known);
    memcpy(to, &size, sizeof size);
    return NTR_OK;
}
