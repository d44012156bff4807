#include <ntrace/version.h>

uint32_t ntr_version(void) {
    return NTR_VERSION;
}

const char *ntr_version_text(void) {
    return NTR_VERSION_TEXT;
}
